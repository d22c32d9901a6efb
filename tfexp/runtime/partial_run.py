"""`Session.partial_run`: one step whose feeds arrive, and whose fetches are asked for, bit by bit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.plan import Plan
from tfexp.plan.prune import PLACEHOLDERS
from tfexp.runtime.executor import Interpreter, Trace
from tfexp.runtime.step import current


class PartialStep:
    """A step under way. Every node runs at most once; a node runs when something asks for it that may.

    Calls may go on at once, one waiting for what another does; for nodes that both need, the later one waits.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        guarded: Callable[[Callable[..., Sequence[Any]]], Callable[..., Sequence[Any]]],
    ):
        """`guarded`: what makes a function end with the session, or when the time that the session gives is over."""
        self._changed = threading.Condition()
        self._running: set[int] = set()
        self._guarded = guarded
        self._interpreter = interpreter
        self._plan: Plan = interpreter.plan
        self._fetches = {tensor: i for i, tensor in enumerate(fetches)}
        self._targets = set(targets)
        self._feeds = dict(zip(feeds, self._plan.feeds, strict=True))
        self._progress = interpreter.begin(self._changed)
        self._fed: set[Tensor] = set()
        self._asked: set[Tensor | Operation] = set()
        self._fed_placeholders = {t.op for t in feeds if t.op.type in PLACEHOLDERS}
        self._position = {step.origin: n for n, step in enumerate(self._plan.steps)}
        self._made_by = {slot: step.origin for step in self._plan.steps for slot in step.outputs}

    def run(self, elements: Sequence[Tensor | Operation], fed: dict[Tensor, Any]) -> list[Any]:
        """Take these feeds and compute these elements (None for operations); each may come once in a partial run."""
        with self._changed:
            self._accept(elements, fed)
        return list(self._guarded(self.compute)(elements))

    def feed(self, fed: dict[Tensor, Any]) -> None:
        """Take these feeds, each of which may come once."""
        with self._changed:
            self._accept((), fed)

    def compute(self, elements: Sequence[Tensor | Operation], trace: Trace | None = None) -> list[Any]:
        """These elements, of feeds that have come."""
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
            needed = self._needed(elements, self._fed)
            while not self._running.isdisjoint(needed):
                self._changed.wait()
                needed -= self._progress.done
            self._running |= needed
        return needed

    @property
    def finished(self) -> bool:
        """Whether everything that was set up to be fetched has been."""
        return len(self._asked) == len(self._fetches) + len(self._targets)

    def _accept(self, elements: Sequence[Tensor | Operation], fed: dict[Tensor, Any]) -> None:
        """Take all of them, or, if one may not come or not be asked for, none."""
        for tensor in fed:
            if tensor not in self._feeds:
                raise _wrong(f"The feed {tensor.name} was not specified in partial_run_setup.")
            if tensor in self._fed:
                raise _wrong(f"The feed {tensor.name} has already been fed.")
        for element in elements:
            if element not in self._fetches and element not in self._targets:
                raise _wrong(f"The fetch {element.name} was not specified in partial_run_setup.")
            if element in self._asked:
                raise _wrong(f"The fetch {element.name} has already been fetched.")
        self._needed(elements, self._fed | fed.keys())
        for tensor, value in fed.items():
            self._progress.values[self._feeds[tensor]] = value
        self._fed.update(fed)
        self._asked.update(elements)

    def _needed(self, elements: Sequence[Tensor | Operation], fed: set[Tensor]) -> set[int]:
        """The steps that have to run now; InvalidArgumentError when one of them waits for a feed that did not come."""
        missing = self._feeds.keys() - fed
        awaited = {self._feeds[tensor]: tensor for tensor in missing}
        pending: list[Operation] = []
        for element in elements:
            if isinstance(element, Operation):
                pending.append(element)
            elif element in missing:
                raise _must_feed(element)
            elif element not in self._feeds:
                pending.append(element.op)
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
                for slot in self._plan.steps[number].inputs:
                    if slot in awaited:
                        raise _must_feed(awaited[slot])
                    if slot in self._made_by:
                        pending.append(self._made_by[slot])
            for tensor in op._inputs:
                if tensor in missing:
                    raise _must_feed(tensor)
                if tensor not in self._feeds:
                    pending.append(tensor.op)
            pending.extend(op._control_inputs)
        return needed


def _wrong(text: str) -> OpError:
    return InvalidArgumentError(None, None, text)


def _must_feed(tensor: Tensor) -> OpError:
    return _wrong(f"Fetch {tensor.name} can't be computed from the feeds that have been fed so far.")
