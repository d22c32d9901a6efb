"""A step that runs bit by bit: a worker computes each part of a graph when what that part needs has arrived."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.plan import Plan
from tfexp.plan.prune import PLACEHOLDERS
from tfexp.runtime.executor import Interpreter, Trace
from tfexp.runtime.step import current


class PartialStep:
    """A step under way. Every node runs at most once; a node runs when something that is asked for needs it.

    Calls may go on at once; for nodes that two of them need, the later one waits.
    """

    def __init__(self, interpreter: Interpreter, fetches: Sequence[Tensor], feeds: Sequence[Tensor]):
        self._changed = threading.Condition()
        self._running: set[int] = set()
        self._interpreter = interpreter
        self._plan: Plan = interpreter.plan
        self._fetches = {tensor: i for i, tensor in enumerate(fetches)}
        self._feeds = dict(zip(feeds, self._plan.feeds, strict=True))
        self._progress = interpreter.begin(self._changed)
        self._fed_placeholders = {t.op for t in feeds if t.op.type in PLACEHOLDERS}
        self._position = {step.origin: n for n, step in enumerate(self._plan.steps)}
        self._made_by = {slot: step.origin for step in self._plan.steps for slot in step.outputs}

    def feed(self, fed: dict[Tensor, Any]) -> None:
        """Take these feeds, each of which comes once."""
        with self._changed:
            for tensor, value in fed.items():
                self._progress.values[self._feeds[tensor]] = value

    def compute(self, elements: Sequence[Tensor | Operation], trace: Trace | None = None) -> list[Any]:
        """These elements (None for operations), of feeds that have come."""
        needed = self._claim(elements)
        try:
            self._interpreter.advance(self._progress, sorted(needed), current.step, trace)
        finally:
            with self._changed:
                self._running -= needed
                self._changed.notify_all()
        return [
            None if isinstance(element, Operation) else self._interpreter.fetched(self._progress, self._fetches[element])
            for element in elements
        ]

    def _claim(self, elements: Sequence[Tensor | Operation]) -> set[int]:
        """The steps that have to run, once nobody else is about to run one of them."""
        with self._changed:
            needed = self._needed(elements)
            while not self._running.isdisjoint(needed):
                self._changed.wait()
                needed -= self._progress.done
            self._running |= needed
        return needed

    def _needed(self, elements: Sequence[Tensor | Operation]) -> set[int]:
        """The steps that have to run now."""
        pending = [e if isinstance(e, Operation) else e.op for e in elements if e not in self._feeds]
        needed: set[int] = set()
        seen: set[Operation] = set()
        while pending:
            op = pending.pop()
            # Of a constant there is no step, but there may be something that has to run before it.
            number = self._position.get(op)
            if op in seen or number in self._progress.done or op in self._fed_placeholders:
                continue
            seen.add(op)
            if number is not None:
                needed.add(number)
                # A loop is one step, which takes in more than leads to the result that is asked for.
                pending.extend(self._made_by[slot] for slot in self._plan.steps[number].inputs if slot in self._made_by)
            pending.extend(tensor.op for tensor in op._inputs if tensor not in self._feeds)
            pending.extend(op._control_inputs)
        return needed
