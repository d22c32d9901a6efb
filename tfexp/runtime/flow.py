"""The rest of a step after a node had to wait: everything that can run does, the thread sleeps only when nothing can.

Steps run in the plan's order, those left out that cannot run without a node that still waits. What settles is taken in
the step's own thread, so that a step has one thread, however many of its nodes wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from tfexp.core.errors import CancelledError, OpError
from tfexp.core.waiting import Waiting
from tfexp.plan.plan import Plan
from tfexp.runtime.step import StepState
from tfexp.runtime.waiting import log_hint, sleep_until, wait_without_end


@dataclass(frozen=True)
class Started:
    """A node that was started and has to wait."""

    position: int
    waiting: Waiting
    inputs: list[Any]
    began: float


class Runner(Protocol):
    """Runs single nodes of a plan (`executor.Interpreter`, with the values so far)."""

    @property
    def plan(self) -> Plan: ...

    def start(self, position: int) -> Started | None:
        """Run a node; returns what it waits for if it has to."""
        ...

    def resume(self, started: Started) -> Started | None:
        """Go on with a node whose waiting has settled."""
        ...


class Flow:
    """`positions`: the steps that have not run, in order; `started` is one of them."""

    def __init__(self, runner: Runner, positions: Iterable[int], state: StepState | None):
        self._runner = runner
        self._steps = runner.plan.steps
        self._inter_op = runner.plan.inter_op
        self._left = list(positions)
        self._unfinished = {position for position in self._left if self._steps[position].waits}
        self._parked: dict[int, Started] = {}
        self._settled: SimpleQueue[int] = SimpleQueue()
        self._state = state
        self._own_threads = 0  # steps that run in a thread of their own now

    def run(self, started: Started) -> None:
        """Run everything that is left. The first error ends it; nodes that still wait then give up."""
        self._left.remove(started.position)
        self._park(started)
        forget = None if self._state is None else self._state.on_cancel(self._cancel, keeps_time=True)
        try:
            self._run_what_can()
            while self._parked:
                self._take(self._next_settled())
                self._run_what_can()
        except BaseException as error:
            self._give_up(error)
            raise
        finally:
            if forget is not None:
                forget()

    def _run_what_can(self) -> None:
        left = self._left
        self._left = []
        for number, position in enumerate(left):
            step = self._steps[position]
            crowded = step.own_thread and self._own_threads >= self._inter_op
            if crowded or not self._unfinished.isdisjoint(step.behind):
                self._left.append(position)
                continue
            try:
                if self._state is not None:
                    self._state.check()
                started = self._runner.start(position)
            except BaseException:
                self._left.extend(left[number:])
                raise
            if started is not None:
                self._park(started)
            else:
                self._unfinished.discard(position)

    def _park(self, started: Started) -> None:
        position = started.position
        self._parked[position] = started
        self._own_threads += self._steps[position].own_thread
        started.waiting.on_settled(lambda: self._settled.put(position))
        if self._state is not None and self._state.reason is not None:  # cancelled while this one was not among the parked
            started.waiting.give_up(self._state.reason)

    def _next_settled(self) -> int:
        found: list[int] = []

        def arrived(seconds: float) -> bool:
            try:
                found.append(self._settled.get(timeout=seconds))
            except Empty:
                return False
            return True

        first = next(iter(self._parked.values()))
        sleep_until(arrived, self._state, lambda: log_hint(self._steps[first.position], first.waiting))
        return found[0]

    def _take(self, position: int) -> None:
        self._own_threads -= self._steps[position].own_thread
        started = self._runner.resume(self._parked.pop(position))
        if started is not None:
            self._park(started)
        else:
            self._unfinished.discard(position)

    def _cancel(self) -> None:
        assert self._state is not None and self._state.reason is not None
        for started in list(self._parked.values()):
            started.waiting.give_up(self._state.reason)

    def _give_up(self, error: BaseException) -> None:
        reason = error if isinstance(error, OpError) else CancelledError(None, None, f"The step failed: {error!r}")
        while self._parked:
            for started in list(self._parked.values()):
                started.waiting.give_up(reason)
            _, started = self._parked.popitem()
            # Whether it was heard that this one settled is not known after a Ctrl-C: so it is asked once more.
            wait_without_end(started.waiting)
            try:
                following = started.waiting.result()
            except OpError:
                continue  # the step has its error
            if isinstance(following, Waiting):
                self._park(Started(started.position, following, started.inputs, started.began))
