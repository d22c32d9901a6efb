"""Work shared out to the intra-op threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from tfexp.core import workers


@pytest.fixture
def limits() -> Iterator[list[int]]:
    """A team of three; the numbers of threads that BLAS was given."""
    before = workers._team
    seen: list[int] = []
    workers.install(workers.Team(3, seen.append, lambda: None))
    yield seen
    workers.install(before)


def test_every_index_once(limits: list[int]) -> None:
    done: list[tuple[int, int, int]] = []
    assert workers.share(lambda *part: done.append(part), 7) == 3
    assert sorted(done) == [(0, 0, 2), (1, 2, 4), (2, 4, 7)]
    assert limits == [1, 3]


def test_parts_run_at_the_same_time(limits: list[int]) -> None:
    barrier = threading.Barrier(3, timeout=60)
    workers.share(lambda part, start, stop: barrier.wait() and None, 3)


def test_little_work_has_few_parts(limits: list[int]) -> None:
    assert workers.share(lambda part, start, stop: None, 2) == 2
    assert workers.share(lambda part, start, stop: None, 0) == 1


def test_the_first_failure_is_raised_when_all_have_ended(limits: list[int]) -> None:
    ended = []

    def work(part: int, start: int, stop: int) -> None:
        if part == 1:
            raise ValueError("part 1")
        ended.append(part)

    with pytest.raises(ValueError, match="part 1"):
        workers.share(work, 3)
    assert sorted(ended) == [0, 2] and limits[-1] == 3


def test_who_comes_while_the_team_works_does_it_alone(limits: list[int]) -> None:
    inner: list[tuple[int, str]] = []

    def work(part: int, start: int, stop: int) -> None:
        if part == 0:
            workers.share(lambda p, a, b: inner.append((p, threading.current_thread().name)), 3)

    workers.share(work, 3)
    assert inner == [(p, threading.current_thread().name) for p in range(3)]


def test_blas_is_limited_for_as_long_as_anybody_wants_it(limits: list[int]) -> None:
    with workers.alone():
        assert workers.are_alone()
        workers.share(lambda part, start, stop: None, 3)
        assert limits == [1]
    assert limits == [1, 3] and not workers.are_alone()


def test_numpy_keeps_its_error_state(limits: list[int]) -> None:
    with np.errstate(all="ignore"):
        workers.share(lambda part, start, stop: np.float32(1) / np.zeros(1, np.float32) and None, 3)


def test_scratch_is_kept_by_name_and_thread(limits: list[int]) -> None:
    first = workers.scratch("test", (3, 5), np.float32)
    again = workers.scratch("test", (2, 2), np.float64)
    assert again.shape == (2, 2) and np.shares_memory(first, again)
    assert not np.shares_memory(first, workers.scratch("other", (3, 5), np.float32))
    others: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: others.append(workers.scratch("test", (3, 5), np.float32)))
    thread.start()
    thread.join()
    assert not np.shares_memory(first, others[0])
    assert not np.shares_memory(first, workers.scratch("test", (1 << 25,), np.uint8))


def test_a_forked_process_waits_for_no_thread_that_it_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_pool", None)
    for name in ("_owner", "_counting"):
        monkeypatch.setattr(workers, name, threading.Lock())
    with workers._owner, workers._counting:  # by threads that the child has not
        workers._forget()
        with workers.alone():
            assert workers.are_alone()


def test_buffers_are_short_on_all_threads_of_a_block_and_as_before_after_it(limits: list[int]) -> None:
    before, seen = np.getbufsize(), []

    def work(part: int, start: int, stop: int) -> None:
        seen.append(np.getbufsize())
        raise ValueError("part")

    with pytest.raises(ValueError, match="part"), workers.short_buffers():
        workers.share(work, 3)
    assert len(seen) == 3 and len(set(seen)) == 1 and seen[0] < before == np.getbufsize()
