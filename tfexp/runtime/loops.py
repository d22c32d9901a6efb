"""Runs the loops of a plan: the condition's plan and the body's, in turn.

A loop in which nodes may have to wait keeps its thread while they do. Where other nodes of the step need not wait for the
loop, it gets a thread of its own (`runtime.own_thread`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.decision import truth
from tfexp.plan.plan import Loop, Plan
from tfexp.runtime.step import current

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
