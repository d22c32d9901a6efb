"""Queues by themselves, without threads: who is served when, and that nothing is lost, doubled or out of order.

Whoever has to wait holds a promise, so that every schedule of givers and takers can be played one call after another.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfexp as tf
from tfexp.core.errors import CancelledError, DeadlineExceededError, OpError, OutOfRangeError
from tfexp.core.waiting import Promise
from tfexp.ops.queue_resource import PriorityQueue, Queue, ShuffleQueue

SCALAR = [tf.TensorShape([])]
GONE = DeadlineExceededError(None, None, "too late")


def fifo(capacity: int = 3) -> Queue:
    return Queue("q", [tf.int64], SCALAR, capacity)


def element(number: int) -> tuple[Any, ...]:
    return (np.int64(number),)


def numbers(elements: list[Any]) -> list[int]:
    return [int(e[0]) for e in elements]


def take(queue: Queue, count: int, small: bool = False) -> Any:
    return queue.dequeue_many(count, small, numbers)


def is_settled(promise: Any) -> bool:
    return not isinstance(promise, Promise) or promise._settled


# --- rules -------------------------------------------------------------------------------------------------------------


def test_givers_wait_for_room_in_the_order_in_which_they_came() -> None:
    queue = fifo(1)
    assert queue.enqueue(element(1)) is None
    first, second = queue.enqueue(element(2)), queue.enqueue(element(3))
    assert not is_settled(first)
    assert int(queue.dequeue()[0]) == 1
    assert is_settled(first) and not is_settled(second)
    assert numbers([queue.dequeue(), queue.dequeue()]) == [2, 3]
    assert is_settled(second)


def test_takers_are_served_in_the_order_in_which_they_came() -> None:
    queue = fifo()
    first, second = queue.dequeue(), take(queue, 2)
    third = queue.dequeue()
    for number in range(4):
        queue.enqueue(element(number))
    assert int(first.result()[0]) == 0
    assert second.result() == [1, 2]
    assert int(third.result()[0]) == 3


def test_more_may_be_given_and_taken_at_once_than_there_is_room_for() -> None:
    queue = fifo(2)
    giver = queue.enqueue_many([element(n) for n in range(5)])
    assert queue.size() == 2 and not is_settled(giver)
    assert take(queue, 5) == list(range(5))
    assert is_settled(giver)


def test_whoever_gives_up_leaves_things_as_they_were() -> None:
    queue = fifo(2)
    taker = take(queue, 3)
    queue.enqueue_many([element(1), element(2)])
    assert queue.size() == 0  # it holds them
    taker.give_up(GONE)
    with pytest.raises(DeadlineExceededError, match=r"too late; it waited for 3 elements of FIFOQueue 'q'"):
        taker.result()
    assert numbers([queue.dequeue(), queue.dequeue()]) == [1, 2]


def test_giving_up_lets_those_go_on_that_stood_behind() -> None:
    queue = fifo()
    greedy, modest = take(queue, 3), queue.dequeue()
    queue.enqueue_many([element(1), element(2)])
    assert not is_settled(modest)
    greedy.give_up(CancelledError(None, None, "no more"))
    assert int(modest.result()[0]) == 1
    with pytest.raises(CancelledError, match=r"Dequeue operation was cancelled. no more"):
        greedy.result()
    assert queue.size() == 1


def test_giving_up_too_late_changes_nothing() -> None:
    queue = fifo()
    taker = queue.dequeue()
    queue.enqueue(element(1))
    taker.give_up(GONE)
    assert int(taker.result()[0]) == 1


def test_closing_waits_for_those_before_it() -> None:
    queue = fifo(1)
    queue.enqueue(element(1))
    before, closing, after = queue.enqueue(element(2)), queue.close(False), queue.enqueue(element(3))
    assert not queue.closed and not is_settled(closing)
    queue.dequeue()
    assert queue.closed and is_settled(before) and is_settled(closing)
    with pytest.raises(CancelledError, match=r"FIFOQueue 'q' is closed\."):
        after.result()  # type: ignore[union-attr]
    with pytest.raises(CancelledError, match=r"Queue 'q' is already closed\."):
        queue.close(False)


def test_closing_may_cancel_those_before_it() -> None:
    queue = fifo(1)
    queue.enqueue(element(1))
    before, closing = queue.enqueue(element(2)), queue.close(False)
    assert queue.close(True) is None
    for promise in (before, closing):
        with pytest.raises(CancelledError, match="Enqueue operation was cancelled"):
            promise.result()  # type: ignore[union-attr]
    assert int(queue.dequeue()[0]) == 1
    with pytest.raises(OutOfRangeError, match=r"is closed and has insufficient elements \(requested 1, current size 0\)"):
        queue.dequeue()


def test_what_is_left_when_a_queue_is_closed() -> None:
    queue = fifo(5)
    waiting = take(queue, 3)
    queue.enqueue_many([element(1), element(2)])
    queue.close(False)
    with pytest.raises(OutOfRangeError, match=r"requested 3, current size 2"):
        waiting.result()
    assert take(queue, 3, small=True) == [1, 2]
    with pytest.raises(OutOfRangeError, match=r"requested 3, current size 0"):
        take(queue, 3, small=True)


def test_a_shuffling_queue_keeps_some_until_it_is_closed() -> None:
    queue = ShuffleQueue("q", [tf.int64], SCALAR, 10, 2, 3, 5)
    queue.enqueue_many([element(n) for n in range(4)])
    taker = take(queue, 3)
    assert queue.size() == 2 and not is_settled(taker)
    queue.close(False)
    assert sorted([*taker.result(), int(queue.dequeue()[0])]) == [0, 1, 2, 3]


def test_priorities_come_before_arrival() -> None:
    queue = PriorityQueue("q", [tf.int64, tf.int64], SCALAR * 2, 20)
    for number, priority in enumerate([2, 1, 2, 1, 3]):
        queue.enqueue((np.int64(priority), np.int64(number)))
    late = queue.dequeue_many(6, False, lambda elements: [int(e[1]) for e in elements])
    assert queue.size() == 5  # all at once, or a later one could not come first
    queue.enqueue((np.int64(0), np.int64(9)))
    assert late.result() == [9, 1, 3, 0, 2, 4]


def test_what_is_put_back_goes_before_what_came_later() -> None:
    queue = PriorityQueue("q", [tf.int64], SCALAR, 20)
    queue.enqueue_many([element(1), element(1)])
    first = queue.dequeue()
    queue._put_back([first])  # type: ignore[list-item]
    assert queue.dequeue() is first


# --- any schedule against a model --------------------------------------------------------------------------------------

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("enqueue"), st.just(1)),
        st.tuples(st.just("enqueue_many"), st.integers(0, 4)),
        st.tuples(st.just("dequeue"), st.just(1)),
        st.tuples(st.just("dequeue_many"), st.integers(1, 4)),
        st.tuples(st.just("dequeue_up_to"), st.integers(1, 4)),
        st.tuples(st.just("give_up"), st.integers(0, 9)),
        st.tuples(st.just("close"), st.booleans()),
    ),
    max_size=25,
)


class Entry(dict[str, Any]):
    """Somebody who gives or takes."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]


class Model:
    """What a first-in-first-out queue should do, written down naively: all that happened, and who waits."""

    def __init__(self, capacity: int):
        self.capacity = capacity
        self.held: deque[int] = deque()
        self.closed = False
        self.givers: list[Entry] = []
        self.takers: list[Entry] = []

    def settle(self) -> None:
        while self._one():
            pass

    def _one(self) -> bool:
        if self.givers:
            giver = self.givers[0]
            if self.closed:
                return self._end(self.givers, "cancelled")
            if not giver["left"]:
                self.closed |= giver["closes"]
                return self._end(self.givers, "done")
            if len(self.held) < self.capacity:
                self.held.append(giver["left"].pop(0))
                return True
        if self.takers:
            taker = self.takers[0]
            missing = taker["wanted"] - len(taker["got"])
            if not missing:
                return self._end(self.takers, "done")
            if self.closed and len(self.held) < missing:
                self.held.extendleft(reversed(taker["got"]))
                taker["got"] = []
                if len(self.held) >= taker["wanted"] or (taker["small"] and self.held):
                    taker["wanted"] = min(len(self.held), taker["wanted"])
                    return True
                return self._end(self.takers, "ended")
            if self.held:
                taker["got"].append(self.held.popleft())
                return True
        return False

    @staticmethod
    def _end(line: list[Entry], how: str) -> bool:
        line.pop(0)["outcome"] = how
        return True


def attempt(call: Any) -> Any:
    try:
        return call()
    except OpError as error:
        return error


def outcome(promise: Any) -> tuple[str, Any]:
    """How it stands with a giver or taker."""
    if isinstance(promise, Promise) and not promise._settled:
        return "waits", None
    value = attempt(promise.result) if isinstance(promise, Promise) else promise
    if isinstance(value, OutOfRangeError):
        return "ended", None
    if isinstance(value, OpError):
        return "cancelled", None
    return "done", value


@settings(max_examples=400, deadline=None)
@given(capacity=st.integers(1, 3), actions=ACTIONS)
def test_any_schedule(capacity: int, actions: list[tuple[str, Any]]) -> None:
    queue, model = fifo(capacity), Model(capacity)
    following = 0
    everybody: list[tuple[Any, Entry]] = []
    for kind, argument in actions:
        entry = Entry(outcome="waits", closes=False, got=[], left=[], small=kind == "dequeue_up_to")
        promise: Any = None
        if kind == "give_up":
            waiting = [(p, e) for p, e in everybody if e["outcome"] == "waits"]
            if waiting:
                promise, entry = waiting[argument % len(waiting)]
                promise.give_up(GONE)
                model.held.extendleft(reversed(entry["got"]))
                line = model.givers if entry in model.givers else model.takers
                line.remove(entry)
                entry["got"], entry["outcome"] = [], "cancelled"
                model.settle()
            continue
        if kind.startswith("enqueue"):
            given = list(range(following, following + argument))
            following += argument
            entry["left"], entry["given"] = list(given), given
            if given:
                model.givers.append(entry)
            else:
                entry["outcome"] = "done"
            elements = [element(n) for n in given]
            promise = attempt(lambda e=elements, k=kind: queue.enqueue(e[0]) if k == "enqueue" else queue.enqueue_many(e))
        elif kind == "close":
            entry["closes"] = True
            if argument:
                model.closed, entry["outcome"] = True, "done"
                for giver in model.givers:
                    giver["outcome"] = "cancelled"
                model.givers.clear()
            else:
                model.givers.append(entry)
            promise = attempt(lambda a=argument: queue.close(a))
        else:
            entry["wanted"] = argument
            model.takers.append(entry)
            if kind == "dequeue":
                promise = attempt(queue.dequeue)
            else:
                promise = attempt(lambda n=argument, k=kind: take(queue, n, k == "dequeue_up_to"))
        model.settle()
        everybody.append((promise, entry))
        assert queue.size() == len(model.held)
        assert queue.closed == model.closed

    taken: list[int] = []
    for promise, entry in everybody:
        how, value = outcome(promise)
        assert how == entry["outcome"], (how, entry)
        if how == "done" and "wanted" in entry:
            found = value if isinstance(value, list) else numbers([value])
            assert found == entry["got"]
            taken.extend(found)
    # Nothing is lost and nothing there twice.
    inside = [int(e[0]) for e in queue._store] + [n for _, e in everybody if e["outcome"] == "waits" for n in e["got"]]
    given = [n for _, e in everybody for n in e.get("given", ())]
    never_in = [n for _, e in everybody for n in e["left"]]
    assert Counter(taken + inside + never_in) == Counter(given)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.integers(0, 5), st.none()), max_size=30), st.integers(0, 3))
def test_a_shuffling_queue_gives_every_element_once(actions: list[int | None], min_after: int) -> None:
    queue = ShuffleQueue("q", [tf.int64], SCALAR, 100, min_after, 7, 7)
    given = 0
    takers: list[Any] = []
    for count in actions:
        if count is None:
            takers.append(queue.dequeue())
        else:
            queue.enqueue_many([element(n) for n in range(given, given + count)])
            given += count
    queue.close(False)
    taken = [int(value[0]) for how, value in map(outcome, takers) if how == "done"]
    left = [int(e[0]) for e in queue._store]
    assert sorted(taken + left) == list(range(given))
