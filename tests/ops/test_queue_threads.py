"""Queues between many threads: nothing is lost, nothing comes twice, and what is promised of the order holds.

Each schedule is drawn from its seed: who gives and takes how many at once, with which time-outs, and who closes the queue
when. How the threads meet is the machine's business; what is looked at has to hold however they do.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

GIVERS, TAKERS, EACH = 4, 4, 60
"""Threads, and elements that each giver has."""

TYPES = [tf.int64, tf.int64]
KINDS: dict[str, Callable[[int], Any]] = {
    "FIFOQueue": lambda capacity: tf.FIFOQueue(capacity, TYPES, [[], []]),
    "PaddingFIFOQueue": lambda capacity: tf.PaddingFIFOQueue(capacity, TYPES, [[], [None]]),
    "RandomShuffleQueue": lambda capacity: tf.RandomShuffleQueue(capacity, capacity // 2, TYPES, [[], []], seed=3),
    # Its elements are preceded by their priorities.
    "PriorityQueue": lambda capacity: tf.PriorityQueue(capacity, TYPES[1:], [[]]),
}


@dataclass
class Played:
    """What became of the elements, by number. An element is `giver * EACH` and the rest counts up."""

    given: list[int] = field(default_factory=list)
    perhaps: list[int] = field(default_factory=list)  # some of a group that was not given as a whole
    refused: list[int] = field(default_factory=list)
    taken: list[list[int]] = field(default_factory=lambda: [[] for _ in range(TAKERS)])
    left: list[int] = field(default_factory=list)
    left_whole: list[tuple[int, int]] = field(default_factory=list)  # (first component, number) of what was left, in order


class Schedule:
    """Threads at a queue of a kind, drawn from a seed."""

    def __init__(self, kind: str, seed: int):
        draw = random.Random(f"{kind} {seed}")
        self.kind, self.cancel, self.seed = kind, draw.random() < 0.5, seed
        self.close_after = draw.randrange(GIVERS * EACH // 2, GIVERS * EACH * 2)
        self.played, self.lock, self.progress = Played(), threading.Lock(), threading.Semaphore(0)
        with tf.Graph().as_default():
            queue = KINDS[kind](draw.randrange(4, 9))  # a priority queue gives all that are taken at once, or none
            shape = [None] if kind == "PaddingFIFOQueue" else []
            self.one = [tf.placeholder(tf.int64, []), tf.placeholder(tf.int64, shape)]
            self.many = [tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None, *shape])]
            self.enqueue, self.enqueue_many = queue.enqueue(self.one), queue.enqueue_many(self.many)
            self.dequeue, self.count = queue.dequeue(), tf.placeholder(tf.int32, [])
            self.dequeue_many, self.dequeue_up_to = queue.dequeue_many(self.count), queue.dequeue_up_to(self.count)
            self.close, self.size = queue.close(self.cancel), queue.size()
            self.session = tf.Session()

    def play(self) -> Played:
        threads = [threading.Thread(target=self._give, args=(number,)) for number in range(GIVERS)]
        threads += [threading.Thread(target=self._take, args=(number,)) for number in range(TAKERS)]
        threads.append(threading.Thread(target=self._close))
        with self.session:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
                assert not thread.is_alive(), "somebody waits for ever"
            while self.session.run(self.size):
                first, second = self.session.run(self.dequeue)
                self.played.left += self._numbers([first], [second])
                self.played.left_whole.append((int(first), int(np.ravel(second)[0])))
        return self.played

    # --- what the threads do ---------------------------------------------------------------------------------------

    def _give(self, giver: int) -> None:
        draw, following, end = random.Random(f"{self.seed} giver {giver}"), giver * EACH, (giver + 1) * EACH
        while following < end:
            count = min(draw.choice([1, 1, 2, 5]), end - following)
            numbers = list(range(following, following + count))
            following += count
            if draw.random() < 0.2:
                threading.Event().wait(0.002)  # a slow giver: takers give up, some with a part of what they want in hand
            try:
                self._enqueue(numbers, draw)
            except tf.errors.DeadlineExceededError:
                self._note(self.played.refused if count == 1 else self.played.perhaps, numbers)
            except tf.errors.CancelledError:  # the queue was closed
                self._note(self.played.perhaps if count > 1 else self.played.refused, numbers)
                self._note(self.played.refused, range(following, end))
                break
            else:
                self._note(self.played.given, numbers)
        self._went_on(GIVERS * EACH)

    def _enqueue(self, numbers: list[int], draw: random.Random) -> None:
        if len(numbers) == 1:
            values = [np.int64(numbers[0] % 7), self._value(numbers[0])]
            self._run(self.enqueue, dict(zip(self.one, values, strict=True)), draw)
        else:
            # of one shape, as a batch of a padding queue's elements is
            second = np.array([np.full_like(self._value(numbers[0]), number) for number in numbers])
            self._run(self.enqueue_many, {self.many[0]: np.array(numbers) % 7, self.many[1]: second}, draw)

    def _take(self, taker: int) -> None:
        draw = random.Random(f"{self.seed} taker {taker}")
        while True:
            count = draw.choice([1, 2, 4])
            what = self.dequeue if count == 1 else draw.choice([self.dequeue_many, self.dequeue_up_to])
            try:
                first, second = self._run(what, {} if count == 1 else {self.count: count}, draw)
            except tf.errors.DeadlineExceededError:
                continue
            except tf.errors.OutOfRangeError:
                return
            numbers = self._numbers(*(([first], [second]) if count == 1 else (first, second)))
            self._note(self.played.taken[taker], numbers)

    def _close(self) -> None:
        for _ in range(self.close_after):
            self.progress.acquire()
        self.session.run(self.close)

    def _run(self, what: Any, feeds: dict[Any, Any], draw: random.Random) -> Any:
        options = tf.RunOptions(timeout_in_ms=draw.choice([1, 3])) if draw.random() < 0.5 else None
        return self.session.run(what, feeds, options)

    def _note(self, where: list[int], numbers: Any) -> None:
        with self.lock:
            where.extend(numbers)
        self._went_on(len(numbers))

    def _went_on(self, count: int) -> None:
        for _ in range(count):
            self.progress.release()

    # --- elements ----------------------------------------------------------------------------------------------------

    def _value(self, number: int) -> Any:
        """The second component; a padding queue's differ in length."""
        return np.full(number % 3 + 1, number) if self.kind == "PaddingFIFOQueue" else np.int64(number)

    def _numbers(self, first: Any, second: Any) -> list[int]:
        """Which elements came, after a look at whether they are whole."""
        found = []
        for priority, value in zip(first, second, strict=True):
            number = int(np.ravel(value)[0])
            assert int(priority) == number % 7
            assert set(np.ravel(value).tolist()) <= {number, 0}
            found.append(number)
        return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_and_nothing_comes_twice(kind: str, seed: int) -> None:
    played = Schedule(kind, seed).play()
    came = Counter([*played.left, *(number for taken in played.taken for number in taken)])
    assert not [number for number, times in came.items() if times > 1], "twice"
    assert not set(played.given) - set(came), "lost"
    assert not set(came) & set(played.refused), "given, though it was said that it was not"
    assert set(came) <= {*played.given, *played.perhaps}
    everything = sorted([*played.given, *played.perhaps, *played.refused])
    assert everything == list(range(GIVERS * EACH))
    if kind in ("FIFOQueue", "PaddingFIFOQueue"):
        for taken in [*played.taken, played.left]:
            for giver in range(GIVERS):
                of_giver = [number for number in taken if number // EACH == giver]
                assert of_giver == sorted(of_giver), "each taker gets what a giver gave in its order"
    if kind == "PriorityQueue":
        priorities = [priority for priority, _ in played.left_whole]
        assert priorities == sorted(priorities)


def test_eager_ops_wait_in_their_thread():
    taken: list[int] = []

    def take() -> None:
        with eager_mode():
            taken.append(int(queue.dequeue()))

    with eager_mode():
        queue = tf.FIFOQueue(3, [tf.int32], shapes=[[]])
        taking = threading.Thread(target=take)
        taking.start()
        queue.enqueue(5)
        taking.join(60)
        assert taken == [5]
        queue.close()
        with pytest.raises(tf.errors.OutOfRangeError):
            queue.dequeue()
