"""Runs the loops of a plan: the condition's plan and the body's, in turn.

A loop in which nodes may have to wait keeps its thread while they do. Where other nodes of the step need not wait for the
loop, it gets a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.decision import truth
from tfexp.core.errors import CancelledError
from tfexp.core.waiting import Promise
from tfexp.plan.plan import Loop, Plan, Step
from tfexp.runtime.failures import as_op_error
from tfexp.runtime.step import StepState, current

# Runs a part of a loop: the fed values in, the fetched ones out.
PartRunner = Callable[[Sequence[Any]], Sequence[Any]]


def bind_loop(loop: Loop, bind: Callable[[Plan], PartRunner]) -> Callable[..., Any]:
    """`f(*variables, *constants)`, which gives what leaves the loop: one value, or several."""
    run_condition, run_body = bind(loop.condition), bind(loop.body)
    count, results = loop.variables, loop.results

    def run(*inputs: Any) -> Any:
        variables, constants = inputs[:count], inputs[count:]
        while True:
            step = current.step
            if step is not None:
                step.check()
            decided = run_condition((*variables, *constants))
            if not truth(decided[0]):
                break
            variables = tuple(run_body((*variables, *constants, *decided[1:])))
        left = [variables[position] for position in results]
        return left[0] if len(left) == 1 else left

    return run


def in_own_thread(loop: Callable[..., Any], step: Step) -> Callable[..., Promise]:
    """`loop`, started in a thread; what it gives is a promise."""

    def start(*inputs: Any) -> Promise:
        outer, inner = current.step, StepState()
        promise = Promise(lambda: f"the loop {step.name}", lambda _, reason: inner.cancel(reason))

        def cancel() -> None:
            reason = None if outer is None else outer.reason
            inner.cancel(reason or CancelledError(None, None, "The step around the loop was cancelled"))

        def work() -> None:
            current.step = inner
            forget = None if outer is None else outer.on_cancel(cancel, keeps_time=True)
            try:
                promise.keep(loop(*inputs))
            except Exception as error:
                promise.fail(as_op_error(error, step.name, step.origin))
            finally:
                if forget is not None:
                    forget()

        threading.Thread(target=work, name=f"tfexp-loop-{step.name}", daemon=True).start()
        return promise

    return start
