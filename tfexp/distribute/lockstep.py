"""A function called once for each replica, the calls waiting for one another where they merge.

Each call has a thread, so that `merge_call` can stop in the middle of it, but only one of them runs at a time: a graph is
built by one thread, and always in the same order. What surrounds new nodes (scopes, devices, dependencies) goes with the
call when another has its turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.graph.graph import Graph


@dataclass(frozen=True)
class Merge:
    """What a replica asks to be done once for all: `function(strategy, *args, **kwargs)`, and where it asks."""

    function: Callable[..., Any]
    args: Any
    kwargs: Any
    variable_scope: Any


class _AbandonedError(BaseException):
    """Another replica has failed: this one's call comes to an end."""


class ReplicaCall:
    """One replica's call. `advance` runs it until it merges (`merge` says with what) or returns (`result`)."""

    def __init__(self, graph: Graph, call: Callable[[], Any]):
        self._graph, self._call = graph, call
        around = graph._surroundings()
        self._surroundings = {key: list(own) if isinstance(own, list) else own for key, own in around.items()}
        self._turn, self._pause = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._main, name="replica", daemon=True)
        self._answer: Any = None
        self._error: BaseException | None = None
        self._abandoned = False
        self.merge: Merge | None = None
        self.result: Any = None

    @property
    def name_scope(self) -> str:
        """Where it names its nodes now, without trailing slash."""
        return str(self._surroundings["_name_stack"])

    @property
    def control_inputs(self) -> list[Any]:
        """What its new nodes wait for now."""
        return [op for block in self._surroundings["_control_stack"] for op in block.ops]

    def advance(self, answer: Any = None) -> None:
        """Let it run; `answer` is what its `merge_call` returns. Raises what the function raises."""
        self._answer, self.merge = answer, None
        around = self._graph._surroundings()
        self._graph._surround(self._surroundings)
        try:
            if self._thread.ident is None:
                self._thread.start()
            else:
                self._turn.release()
            self._pause.acquire()
        finally:
            self._surroundings = self._graph._surroundings()
            self._graph._surround(around)
        if self._error is not None:
            raise self._error

    def stop(self, merge: Merge) -> Any:
        """In its own thread: wait until the others are here as well and the merge is done; returns its result."""
        self.merge = merge
        self._pause.release()
        self._turn.acquire()
        if self._abandoned:
            raise _AbandonedError
        return self._answer

    def abandon(self) -> None:
        """End a call that waits, if it does."""
        if self.merge is not None:
            self._abandoned = True
            self.advance()
        if self._thread.ident is not None:
            self._thread.join()

    def _main(self) -> None:
        try:
            with self._graph.as_default():
                self.result = self._call()
        except _AbandonedError:
            pass
        except BaseException as error:  # it is raised where the call was made
            self._error = error
        finally:
            self._pause.release()


def run_together(calls: Sequence[ReplicaCall], merged: Callable[[Sequence[ReplicaCall]], Sequence[Any]]) -> list[Any]:
    """The results of the calls. Where all of them stop, `merged` does what they ask, and says what each gets.

    RuntimeError where some merge and others have returned.
    """
    try:
        for call in calls:
            call.advance()
        while any(call.merge is not None for call in calls):
            if not all(call.merge is not None for call in calls):
                numbers = [number for number, call in enumerate(calls) if call.merge is None]
                raise RuntimeError(
                    f"Some replicas called `merge_call`, and replicas {numbers} returned without it: every replica has to "
                    "build the same program (optimizers, metrics and assignments to variables merge)."
                )
            for call, answer in zip(calls, merged(calls), strict=True):
                call.advance(answer)
        return [call.result for call in calls]
    finally:
        for call in calls:
            call.abandon()
