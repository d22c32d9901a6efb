"""Steps take turns at an iterator; one that is cancelled ends alone, and what it waited for is for the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import pytest

from tfexp.core.errors import CancelledError
from tfexp.ops.dataset import Dataset, DatasetIterator, Element, State
from tfexp.ops.dataset_prefetch import _Prefetch
from tfexp.ops.iterator import IteratorResource
from tfexp.runtime.step import StepState


class Given(DatasetIterator):
    """Elements come when they are given."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.given: SimpleQueue[Element | None] = SimpleQueue()  # None: somebody is to look again
        self.closed = 0
        self._interrupted = False

    def next(self) -> Element | None:
        self.asked.release()
        while (element := None if self._interrupted else self.given.get()) is None:
            if self._interrupted:
                raise CancelledError(None, None, "interrupted")
        return element

    def save(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError

    def interrupt(self, on: bool = True) -> None:
        self._interrupted = on
        if on:
            self.given.put(None)

    def close(self) -> None:
        self.closed += 1


class Of(Dataset):
    def __init__(self, iterator: DatasetIterator):
        self._iterator = iterator

    def iterator(self) -> DatasetIterator:
        return self._iterator

    def fresh(self) -> Dataset:
        return self


class Asking:
    """A step, in a thread of its own, that asks for an element; it is what a kernel sees of it, too.

    There is no `cancelled` to ask: to ask may end the step, for all that it waits for, which is nothing to do under a lock.
    """

    def __init__(self, resource: IteratorResource, state: StepState | None = None):
        self.state = state or StepState()
        self.ready_to_wait = threading.Event()
        self.late: list[Callable[[], None]] = []
        self._found: list[Any] = []
        self._thread = threading.Thread(target=self._ask, args=[resource], daemon=True)
        self._thread.start()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        self.late.append(callback)
        undo = self.state.on_cancel(callback)
        self.ready_to_wait.set()
        return undo

    def _ask(self, resource: IteratorResource) -> None:
        try:
            self._found.append(resource.next(self))
        except CancelledError as error:
            self._found.append(error)

    def cancel(self) -> None:
        self.state.cancel(CancelledError(None, None, "not wanted"))

    def result(self) -> Any:
        self._thread.join(30)
        (found,) = self._found
        return found


@pytest.fixture(params=[False, True], ids=["plain", "prefetched"])
def source(request: pytest.FixtureRequest) -> tuple[Given, IteratorResource]:
    given = Given()
    resource = IteratorResource("r", [], [])
    resource.initialize(Of(_Prefetch(given, 1) if request.param else given))
    return given, resource


def test_a_step_that_is_cancelled_before_its_turn_disturbs_no_other(source: tuple[Given, IteratorResource]) -> None:
    given, resource = source
    first = Asking(resource)
    assert given.asked.acquire(timeout=30)
    second = Asking(resource)
    assert second.ready_to_wait.wait(30)
    second.cancel()
    assert isinstance(second.result(), CancelledError)
    given.given.put([1])
    assert first.result() == [1]
    resource.dispose()


def test_the_element_of_a_cancelled_step_is_the_next_ones(source: tuple[Given, IteratorResource]) -> None:
    given, resource = source
    first = Asking(resource)
    assert given.asked.acquire(timeout=30)
    first.cancel()
    assert isinstance(first.result(), CancelledError)
    second = Asking(resource)
    given.given.put([1])
    assert second.result() == [1]
    resource.dispose()


def test_a_step_that_is_cancelled_after_its_end_disturbs_no_other(source: tuple[Given, IteratorResource]) -> None:
    given, resource = source
    for number in range(3):
        step = Asking(resource)
        given.given.put([number])
        assert step.result() == [number]
        for cancel in step.late:
            cancel()
    resource.dispose()


def test_a_step_that_waits_for_an_iterator_that_is_closed_ends() -> None:
    given = Given()
    resource = IteratorResource("r", [], [])
    resource.initialize(Of(_Prefetch(given, 1)))
    step = Asking(resource)
    assert given.asked.acquire(timeout=30)
    resource.dispose()
    assert isinstance(step.result(), CancelledError)


def test_to_begin_anew_waits_for_no_step(source: tuple[Given, IteratorResource]) -> None:
    given, resource = source
    first = Asking(resource)
    assert given.asked.acquire(timeout=30)
    again = Given()
    beginning = threading.Thread(target=resource.initialize, args=[Of(again)], daemon=True)
    beginning.start()
    beginning.join(30)
    assert not beginning.is_alive()
    second = Asking(resource)
    again.given.put([2])
    assert second.result() == [2]
    assert given.closed == 0
    given.given.put([1])
    assert first.result() == [1]
    assert given.closed == 1
    resource.dispose()


def test_a_step_whose_time_is_over_before_its_turn_ends(source: tuple[Given, IteratorResource]) -> None:
    given, resource = source
    first = Asking(resource)
    assert given.asked.acquire(timeout=30)
    assert isinstance(Asking(resource, StepState(1)).result(), CancelledError)
    given.given.put([1])
    assert first.result() == [1]
    resource.dispose()
