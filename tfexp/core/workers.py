"""The intra-op threads: kernels that are worth it split their work over them, one owner for the cores at a time.

`share(work, count)` cuts range(count) into one contiguous part for each thread and calls `work(part, start, stop)` for
each. While it runs, BLAS keeps to the thread that calls it, since pools that compete for cores cost more than they
bring. If the threads are busy with another step's kernel, the caller does all parts itself. The parts depend on the
number of threads alone, so that sums over parts are the same in every run.

The runtime says how many threads there are, and how BLAS is told (`install`); until then there is one: the caller.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

Work = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Team:
    """How many threads, what sets the number of BLAS's threads, and what a new thread does first."""

    threads: int = 1
    limit_blas: Callable[[int], None] = lambda number: None
    prepare_thread: Callable[[], Any] = lambda: None


_team = Team()
_owner = threading.Lock()
_counting = threading.Lock()
_steps_alone = 0
_pool: ThreadPoolExecutor | None = None


def install(team: Team) -> None:
    """Let kernels use this team from now on."""
    global _team, _pool
    with _owner:
        if _pool is not None:
            _pool.shutdown()
            _pool = None
        _team = team


def threads() -> int:
    """The number of parts that `share` makes of enough work."""
    return _team.threads


def share(work: Work, count: int) -> int:
    """Call `work(part, start, stop)` for the parts of range(count), on all threads; returns the number of parts.

    The first exception of any part is raised once all have ended.
    """
    team = _team
    parts = max(1, min(team.threads, count))
    bounds = [part * count // parts for part in range(parts + 1)]
    if parts == 1 or not _owner.acquire(blocking=False):
        for part in range(parts):
            work(part, bounds[part], bounds[part + 1])
        return parts
    try:
        with alone():
            _run(work, bounds, team)
    finally:
        _owner.release()
    return parts


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """A block in which BLAS keeps to the thread that calls it, and products are shared out as other work is.

    For whole steps: BLAS's threads look for work for some 25 ms after each product, on the cores that the team needs.
    """
    global _steps_alone
    with _counting:
        _steps_alone += 1
        if _steps_alone == 1:
            _team.limit_blas(1)
    try:
        yield
    finally:
        with _counting:
            _steps_alone -= 1
            if _steps_alone == 0:
                _team.limit_blas(_team.threads)


def are_alone() -> bool:
    """Whether BLAS keeps to one thread for now, so that whoever has a large product should share it."""
    return _steps_alone > 0


def _run(work: Work, bounds: list[int], team: Team) -> None:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(team.threads - 1, "tfexp-intra-op", team.prepare_thread)
    # NumPy's error state belongs to the context.
    others: list[Future[None]] = [
        _pool.submit(contextvars.copy_context().run, work, part, bounds[part], bounds[part + 1])
        for part in range(1, len(bounds) - 1)
    ]
    failures: list[BaseException | None] = []
    try:
        work(0, bounds[0], bounds[1])
    except BaseException as error:
        failures.append(error)
    failures.extend(future.exception() for future in others)
    for failure in failures:
        if failure is not None:
            raise failure


def _forget() -> None:
    """A forked process has none of its parent's threads."""
    global _pool, _owner, _counting
    _pool, _owner, _counting = None, threading.Lock(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# --- work arrays -------------------------------------------------------------------------------------------------

# Fresh memory costs a page fault for every 4 KiB; what a thread keeps is bounded by the kernels' block sizes.
_MAX_KEPT_BYTES = 1 << 24


class _Arena(threading.local):
    def __init__(self) -> None:
        self.memory: dict[str, np.ndarray] = {}


_arena = _Arena()


def scratch(name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A work array of the calling thread, of any content; valid until the thread asks for this `name` again."""
    kind = np.dtype(dtype)
    size = kind.itemsize
    for dim in shape:
        size *= dim
    if size > _MAX_KEPT_BYTES:
        return np.empty(shape, kind)
    memory = _arena.memory.get(name)
    if memory is None or memory.size < size:
        memory = _arena.memory[name] = np.empty(size, np.uint8)
    return memory[:size].view(kind).reshape(shape)


# --- NumPy's own work arrays -------------------------------------------------------------------------------------

_BUFFER = 1 << 10  # elements


@contextlib.contextmanager
def short_buffers() -> Iterator[None]:
    """A block in which NumPy's loops work on rows of hundreds of elements where these lie.

    Operands that are not one piece of memory are copied to buffers (`numpy.setbufsize`), as many rows at a time as these
    hold. For rows of some ten elements that is quicker; of hundreds, it takes up to three times as long as to do without.
    """
    before = np.setbufsize(_BUFFER)
    try:
        yield
    finally:
        np.setbufsize(before)
