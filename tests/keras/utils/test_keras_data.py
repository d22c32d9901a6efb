"""Batches made ahead of time by threads and processes."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

from tfexp.keras.utils.data import (
    GeneratorEnqueuer,
    OrderedEnqueuer,
    Sequence,
    SequenceEnqueuer,
    terminate_keras_multiprocessing_pools,
)


class Tens(Sequence):
    """0 to 9, ten times as large after each epoch."""

    def __init__(self) -> None:
        self.factor = 1
        self.ended: list[int] = []

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> int:
        return index * self.factor

    def on_epoch_end(self) -> None:
        self.factor *= 10


class Faulty(Tens):
    def __getitem__(self, index: int) -> int:
        if index == 3:
            raise IndexError(f"{index} is not there")
        return index


class Locked:
    """A generator that takes calls from several threads."""

    def __init__(self, made: Iterator[Any]):
        self._made, self._lock = made, threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._lock:
            return next(self._made)


def _taken(enqueuer: SequenceEnqueuer, number: int, workers: int = 3, room: int = 4) -> list[Any]:
    with enqueuer:
        enqueuer.start(workers, room)
        return list(islice(enqueuer.get(), number))


def test_a_sequence_iterates_once() -> None:
    assert list(Tens()) == list(range(10))
    for call in (lambda: Sequence()[0], lambda: len(Sequence())):
        with pytest.raises(NotImplementedError):
            call()


@pytest.mark.parametrize("workers", [1, 3])
def test_order_is_kept_and_epochs_end(workers: int) -> None:
    expected = [*range(10), *range(0, 100, 10), 0, 100]
    assert _taken(OrderedEnqueuer(Tens()), 22, workers) == expected


def test_an_epoch_ends_when_its_batches_are_taken() -> None:
    sequence, enqueuer = Tens(), OrderedEnqueuer(Tens())
    enqueuer.sequence = sequence
    with enqueuer:
        enqueuer.start(2, 20)
        made = enqueuer.get()
        assert list(islice(made, 9)) == list(range(9))
        assert sequence.factor == 1  # although the last batch may be made by now
        assert list(islice(made, 2)) == [9, 0]
        assert sequence.factor == 10


def test_another_order_for_each_epoch() -> None:
    found = _taken(OrderedEnqueuer(Tens(), shuffle=True), 20)
    assert sorted(found[:10]) == list(range(10))
    assert sorted(found[10:]) == list(range(0, 100, 10))
    assert found[:10] != list(range(10)) or found[10:] != list(range(0, 100, 10))


def test_processes_have_the_sequence_as_it_is_in_each_epoch() -> None:
    assert _taken(OrderedEnqueuer(Tens(), use_multiprocessing=True), 12, workers=2) == [*range(10), 0, 10]


@pytest.mark.parametrize("processes", [False, True])
def test_what_a_worker_raises(processes: bool) -> None:
    enqueuer = OrderedEnqueuer(Faulty(), use_multiprocessing=processes)
    enqueuer.start(2, 10)
    made = enqueuer.get()
    assert list(islice(made, 3)) == [0, 1, 2]
    with pytest.raises(IndexError, match="3 is not there"):
        next(made)
    assert not enqueuer.is_running()


def test_what_the_enqueuers_own_thread_raises() -> None:
    class Endless(Tens):
        def on_epoch_end(self) -> None:
            raise RuntimeError("no more epochs")

    with pytest.raises(RuntimeError, match="no more epochs"):
        _taken(OrderedEnqueuer(Endless()), 11)


def test_a_generator_by_threads() -> None:
    assert sorted(_taken(GeneratorEnqueuer(Locked(count())), 50)) == pytest.approx(range(50), abs=4)
    assert _taken(GeneratorEnqueuer(count()), 50, workers=1) == list(range(50))


def test_a_generator_that_ends() -> None:
    assert sorted(_taken(GeneratorEnqueuer(Locked(iter(range(7)))), 100)) == list(range(7))
    assert _taken(GeneratorEnqueuer(x for x in [1, None, 2]), 100, workers=1) == [1, 2]


def test_a_generator_by_processes() -> None:
    found = _taken(GeneratorEnqueuer(iter(range(5)), use_multiprocessing=True), 100, workers=2)
    assert set(found) == set(range(5))  # each process has a copy


def _drawn() -> Iterator[float]:
    while True:
        yield np.random.rand()


def test_processes_with_random_numbers_of_their_own() -> None:
    found = _taken(GeneratorEnqueuer(_drawn(), use_multiprocessing=True, random_seed=4), 20, workers=2)
    assert len(set(found)) == 20


def test_a_generator_that_takes_no_calls_from_several_threads() -> None:
    go_on = threading.Event()

    def generate() -> Iterator[int]:
        go_on.wait(60)
        yield from range(10)

    class Busy:
        """A call of another thread is refused while one is under way, which then goes on."""

        def __init__(self) -> None:
            self._generator = generate()

        def __next__(self) -> int:
            try:
                return next(self._generator)
            except ValueError:
                go_on.set()
                raise

    enqueuer = GeneratorEnqueuer(Busy())
    enqueuer.start(2, 10)
    with pytest.raises(RuntimeError, match="NOT thread-safe"):
        list(enqueuer.get())


def test_stopping_with_nobody_taking() -> None:
    enqueuer = OrderedEnqueuer(Tens())
    enqueuer.start(2, 3)
    assert enqueuer.is_running()
    made = enqueuer.get()
    assert next(made) == 0
    enqueuer.stop()
    assert not enqueuer.is_running()
    assert set(made) <= set(range(10))  # it ends


@pytest.fixture
def exits_when_terminated() -> Iterator[None]:
    """What Ray makes of SIGTERM in its processes, and in those that are forked from them."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("exits_when_terminated")
@pytest.mark.parametrize("grace_period", [0.1, 0.0])
def test_pools_of_processes_end_when_they_are_told_to(grace_period: float) -> None:
    enqueuer = OrderedEnqueuer(Tens(), use_multiprocessing=True)
    enqueuer.start(2, 3)
    made = enqueuer.get()
    assert next(made) == 0
    assert terminate_keras_multiprocessing_pools(grace_period) == []
    with pytest.raises((BrokenExecutor, RuntimeError)):
        for _ in made:
            pass
    assert not enqueuer.is_running()


def test_batches_that_are_cancelled_with_their_pool_are_an_error() -> None:
    class Cancelled(SequenceEnqueuer):
        def _hand_out(self) -> None:
            task: Future[int] = Future()
            task.cancel()
            self._results.put(task)

    enqueuer = Cancelled(None)
    enqueuer.start()
    with pytest.raises(RuntimeError, match="told to end before all batches were made"):
        list(enqueuer.get())
    assert not enqueuer.is_running()
