"""What loops in the graph go through besides tensors: classes of objects, and how a loop over them is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

State = Sequence[Any]  # tensors
Step = Callable[..., list[Any]]
Test = Callable[..., Any]


@dataclass(frozen=True)
class Iteration:
    """Loops in the graph over objects of a class.

    `loop(object, state, step, going_on)` is the state after a loop: `step(item, *state)` gives the state after an iteration,
    the scalar bool `going_on(*state)` whether there is another one (None: all have one). `item(object)` is like an item.
    """

    kind: type
    loop: Callable[[Any, State, Step, Test | None], State]
    item: Callable[[Any], Any]


_iterations: list[Iteration] = []


def register_iteration(kind: type, loop: Callable[..., State], item: Callable[[Any], Any]) -> None:
    """Loops in the graph can go through objects of that class; see `Iteration`."""
    _iterations.append(Iteration(kind, loop, item))


def iteration_over(value: Any) -> Iteration | None:
    """How a loop in the graph goes through `value`; None: it is Python's to iterate over."""
    return next((iteration for iteration in _iterations if isinstance(value, iteration.kind)), None)
