"""Threads for what may keep one for long: loops whose nodes wait, and functions of the user's that may block."""

from __future__ import annotations

import contextvars
import functools
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np

from tfexp.core.errors import CancelledError
from tfexp.core.waiting import Promise
from tfexp.plan.plan import Step
from tfexp.runtime.cpu import flush_denormals
from tfexp.runtime.failures import as_op_error
from tfexp.runtime.step import StepState, current

_MOST_IDLE = 32
_idle: list[SimpleQueue[Callable[[], None]]] = []  # one for each thread that has nothing to do; the last one goes first


def _run_in_thread(work: Callable[[], None]) -> None:
    """Run `work`, which raises nothing, in a thread at once: in one that is idle, or in a new one."""
    try:
        queue = _idle.pop()
    except IndexError:
        queue = SimpleQueue()
        threading.Thread(target=_serve, args=[queue], name="tfexp-inter-op", daemon=True).start()
    queue.put(work)


def _serve(queue: SimpleQueue[Callable[[], None]]) -> None:
    flush_denormals()
    while True:
        queue.get()()
        if len(_idle) >= _MOST_IDLE:
            return
        _idle.append(queue)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # a forked process has none of its parent's threads


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
            forget = None if outer is None else outer.on_cancel(cancel, keeps_time=True)
            try:
                promise.keep(kernel(*arguments))
            except Exception as error:
                promise.fail(as_op_error(error, step.name, step.origin))
            except BaseException as error:  # SystemExit: the step's thread raises it
                promise.fail(error)
            finally:
                current.step = None
                if forget is not None:
                    forget()

        _run_in_thread(functools.partial(contextvars.copy_context().run, work))  # NumPy's error state is the context's
        return promise

    return start


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value.copy() if isinstance(value, np.ndarray) else value
