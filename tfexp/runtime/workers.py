"""The threads that share the cores with the one that runs a step: large nodes are computed in parts, side by side.

There is one set of helpers in a process, and they are the only pool: BLAS is kept at one thread (`cpu`), so that no two
pools wait for each other's cores. Whoever is free takes the next part, the running thread first of all: when the machine
is busy with something else, it computes all parts itself. What the parts are is fixed, so the numbers do not depend on
who computes them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

import numpy as np

from tfexp.runtime import cpu

Part = Callable[..., Any]


class _Job:
    """Parts of one node, its arguments, and the parts that helpers have finished (None, or what they raised)."""

    __slots__ = ("arguments", "finished", "keywords", "parts")

    def __init__(self, parts: Iterator[Part], arguments: tuple[Any, ...], keywords: dict[str, Any]):
        self.parts = parts
        self.arguments = arguments
        self.keywords = keywords
        self.finished: SimpleQueue[BaseException | None] = SimpleQueue()


class Workers:
    """Helper threads, started when first needed. `run` computes all parts of a node and returns when they are done."""

    def __init__(self) -> None:
        self._owner = threading.Lock()
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._helpers = 0

    def run(self, parts: Sequence[Part], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Call every part with these arguments; raises what the first failing one raised, after all have ended."""
        if not self._owner.acquire(blocking=False):
            # Another step has the helpers.
            for part in parts:
                part(*arguments, **keywords)
            return
        try:
            self._share(parts, arguments, keywords)
        finally:
            self._owner.release()

    def _share(self, parts: Sequence[Part], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        while self._helpers < len(parts) - 1:
            threading.Thread(target=_help, args=(self._jobs,), name="tfexp-worker", daemon=True).start()
            self._helpers += 1
        job = _Job(iter(parts), arguments, keywords)
        for _ in range(len(parts) - 1):
            self._jobs.put(job)
        failure: BaseException | None = None
        own = 0
        for part in job.parts:
            own += 1
            try:
                part(*arguments, **keywords)
            except Exception as error:
                failure = failure or error
        for _ in range(len(parts) - own):
            failure = job.finished.get() or failure
        if failure is not None:
            raise failure


def _help(jobs: SimpleQueue[_Job]) -> None:
    # The thread does nothing else, so that both settings stay.
    cpu.flush_denormals()
    np.seterr(all="ignore")
    while True:
        job = jobs.get()
        for part in job.parts:
            try:
                part(*job.arguments, **job.keywords)
            except Exception as error:
                job.finished.put(error)
            else:
                job.finished.put(None)
        del job


_workers = Workers()


def _forget() -> None:
    """In a forked child: threads are not inherited."""
    global _workers
    _workers = Workers()


os.register_at_fork(after_in_child=_forget)


def sharded(shard: Callable[[int, int], Part], count: int, shape: tuple[int, ...] | None, dtype: Any) -> Part:
    """A callable that computes `count` shards side by side; the result is `out`, a new array, or (no shape) the first input."""
    parts = [shard(k, count) for k in range(count)]

    def in_place(*arguments: Any) -> Any:
        _workers.run(parts, arguments, {})
        return arguments[0]

    def into_out(*arguments: Any, out: Any = None) -> Any:
        if out is None:
            out = np.empty(shape, dtype)  # type: ignore[arg-type]
        _workers.run(parts, arguments, {"out": out})
        return out

    return in_place if shape is None else into_out
