"""Threads for what may keep one for long: loops whose nodes wait, and functions of the user's that may block."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.errors import CancelledError
from tfexp.core.waiting import Promise
from tfexp.plan.plan import Step
from tfexp.runtime.cpu import flush_denormals
from tfexp.runtime.failures import as_op_error
from tfexp.runtime.step import StepState, current


def in_own_thread(kernel: Callable[..., Any], step: Step, what: str) -> Callable[..., Promise]:
    """`kernel`, started in a thread; the result is a promise.

    What a function of the user's is given is copied first: the step goes on, and may write to that memory. When the step is
    cancelled, so are the steps that `kernel` runs. A function that does not return then goes on, and its result is dropped.
    """

    def start(*inputs: Any) -> Promise:
        outer, inner = current.step, StepState()
        arguments = inputs if step.loop is not None else [_copied(value) for value in inputs]

        def withdraw(promise: Promise, reason: Any) -> None:
            inner.cancel(reason)
            if step.own_thread:  # others end by themselves
                promise.fail(reason)

        promise = Promise(lambda: f"{what} {step.name}", withdraw)

        def cancel() -> None:
            reason = None if outer is None else outer.reason
            inner.cancel(reason or CancelledError(None, None, f"The step around {what} {step.name} was cancelled"))

        def work() -> None:
            current.step = inner
            flush_denormals()
            forget = None if outer is None else outer.on_cancel(cancel, keeps_time=True)
            try:
                promise.keep(kernel(*arguments))
            except Exception as error:
                promise.fail(as_op_error(error, step.name, step.origin))
            except BaseException as error:  # SystemExit: the step's thread raises it
                promise.fail(error)
            finally:
                if forget is not None:
                    forget()

        context = contextvars.copy_context()  # NumPy's error state belongs to it
        threading.Thread(target=context.run, args=(work,), name=f"tfexp-{step.name}", daemon=True).start()
        return promise

    return start


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value.copy() if isinstance(value, np.ndarray) else value
