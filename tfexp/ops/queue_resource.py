"""The queues themselves, as steps and sessions share them: storage, and who waits for what.

Elements are tuples of arrays that belong to the queue, then to whoever takes them. Whoever cannot be served at once gets a
`core.waiting.Promise`; those who wait to give and those who wait to take are served in the order in which they came. What
several elements are given or taken for goes bit by bit, as room or elements come. Source: `tf.QueueBase`, TF 1.15.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import CancelledError, InvalidArgumentError, OpError, OutOfRangeError
from tfexp.core.shape import TensorShape, dims_text
from tfexp.core.waiting import Promise
from tfexp.ops.philox import PhiloxState

Element = tuple[Any, ...]
# What settles a promise may wake others: it is called once the queue's lock is free again.
_Settling = Callable[[], None]


def _settle(settled: list[_Settling]) -> None:
    for settle in settled:
        settle()


class _Giver(Promise):
    """Waits for room for `elements`; one that `closes` has none, and waits until all before it have given theirs."""

    __slots__ = ("closes", "elements")

    def __init__(self, queue: Queue, elements: Iterable[Element], closes: bool = False):
        super().__init__(lambda: f"room in {queue.text()}", queue._withdraw_giver)
        self.elements = deque(elements)
        self.closes = closes


class _Taker(Promise):
    """Waits for `missing` more elements; `small`: fewer will do when the queue is closed."""

    __slots__ = ("missing", "small", "taken", "wanted")

    def __init__(self, queue: Queue, count: int, small: bool, then: Callable[[Any], Any]):
        what = "an element" if count == 1 else f"{count} elements"
        super().__init__(lambda: f"{what} of {queue.text()}", queue._withdraw_taker, then)
        self.wanted = self.missing = count
        self.small = small
        self.taken: list[Element] = []


class Queue:
    """First in, first out. `shapes` are empty where elements may have any; a `capacity` below 0 is no bound."""

    kind: ClassVar[str] = "FIFOQueue"
    # The op that makes such a queue, as errors about a shared one name it.
    op_type: ClassVar[str] = "FIFOQueueV2"
    # Whether several elements are taken at once or not at all, because later ones may go before them.
    takes_at_once: ClassVar[bool] = False

    def __init__(self, name: str, types: Sequence[DType], shapes: Sequence[TensorShape], capacity: int):
        self.name = name
        self.dims = tuple(s.known_dims for s in shapes)
        self.types = tuple(types)
        self.shapes = tuple(shapes)
        self.capacity = capacity if capacity >= 0 else (1 << 31) - 1
        self.closed = False
        self.enqueued = 0
        self._lock = threading.Lock()
        self._givers: deque[_Giver] = deque()
        self._takers: deque[_Taker] = deque()
        self._store: Any = self._empty_store()

    def text(self) -> str:
        """For people: which queue this is, and how it stands."""
        state = "closed" if self.closed else f"{len(self._store)} of {self.capacity} elements"
        return f"{self.kind} '{self.name}' ({state}, {self.enqueued} enqueued so far)"

    # --- storage, the lock being held --------------------------------------------------------------------------------

    def _empty_store(self) -> Any:
        return deque()

    def _put(self, element: Element) -> None:
        self._store.append(element)

    def _pop(self) -> Element:
        element: Element = self._store.popleft()
        return element

    def _put_back(self, elements: list[Element]) -> None:
        """Take back what somebody has taken and gives up."""
        self._store.extendleft(reversed(elements))

    def _available(self) -> int:
        """How many elements may be taken now."""
        return len(self._store)

    # --- giving ------------------------------------------------------------------------------------------------------

    def enqueue(self, element: Element) -> Promise | None:
        """Put one element in; CancelledError when the queue is closed. Returns a promise if it has to wait."""
        with self._lock:
            if not self._givers and not self._takers and not self.closed and len(self._store) < self.capacity:
                self._put(element)
                self.enqueued += 1
                return None
        return self._give(_Giver(self, (element,)))

    def enqueue_many(self, elements: Sequence[Element]) -> Promise | None:
        """Put them in one by one; those that fit first, the others as there is room."""
        return self._give(_Giver(self, elements)) if elements else None

    def close(self, cancel_pending: bool) -> Promise | None:
        """Take no more elements. What waits to give still does before that, unless `cancel_pending`: then it fails."""
        if not cancel_pending:
            return self._give(_Giver(self, (), closes=True))
        with self._lock:
            self.closed = True
            given_up, self._givers = self._givers, deque()
            settled = self._serve()
        for giver in given_up:
            giver.fail(CancelledError(None, None, "Enqueue operation was cancelled"))
        _settle(settled)
        return None

    def _give(self, giver: _Giver) -> Promise | None:
        with self._lock:
            self._givers.append(giver)
            settled = self._serve()
        _settle(settled)
        return giver.now()

    # --- taking ------------------------------------------------------------------------------------------------------

    def dequeue(self) -> Element | Promise:
        """The next element; OutOfRangeError when the queue is closed and empty. A promise if it has to be waited for."""
        with self._lock:
            if not self._takers and not self._givers and self._available() > 0:
                return self._pop()
        return self._take(_Taker(self, 1, False, lambda elements: elements[0]))

    def dequeue_many(self, count: int, small: bool, then: Callable[[list[Element]], Any]) -> Any:
        """What `then` makes of the next `count` elements, or with `small` of what is left when the queue is closed."""
        return self._take(_Taker(self, count, small, then))

    def _take(self, taker: _Taker) -> Any:
        with self._lock:
            self._takers.append(taker)
            settled = self._serve()
        _settle(settled)
        return taker.now()

    # --- who is served -----------------------------------------------------------------------------------------------

    def _serve(self) -> list[_Settling]:
        """Serve those at the heads of both lines for as long as that brings anything. Returns what is to be settled."""
        settled: list[_Settling] = []
        progress = True
        while progress:
            progress = False
            while self._givers and self._serve_giver(self._givers[0], settled):
                progress = True
            while self._takers and self._serve_taker(self._takers[0], settled):
                progress = True
        return settled

    def _serve_giver(self, giver: _Giver, settled: list[_Settling]) -> bool:
        """Whether anything came of it."""
        if self.closed:
            self._givers.popleft()
            error = (
                CancelledError(None, None, f"Queue '{self.name}' is already closed.") if giver.closes else self._is_closed()
            )
            settled.append(lambda: giver.fail(error))
            return True
        moved = 0
        while giver.elements and len(self._store) < self.capacity:
            self._put(giver.elements.popleft())
            moved += 1
        self.enqueued += moved
        if giver.elements:
            return moved > 0
        self.closed = self.closed or giver.closes
        self._givers.popleft()
        settled.append(lambda: giver.keep(None))
        return True

    def _serve_taker(self, taker: _Taker, settled: list[_Settling]) -> bool:
        if self.closed and len(self._store) < taker.missing:
            self._put_back(taker.taken)
            taker.taken, taker.missing = [], taker.wanted
            left = len(self._store)
            if left >= taker.missing or (taker.small and left > 0):
                taker.missing = min(left, taker.missing)
            else:
                self._takers.popleft()
                error = OutOfRangeError(
                    None,
                    None,
                    f"{self.kind} '{self.name}' is closed and has insufficient elements (requested {taker.wanted}, current "
                    f"size {left})",
                )
                settled.append(lambda: taker.fail(error))
                return True
        moved = min(taker.missing, self._available())
        if moved < taker.missing and self.takes_at_once:
            return False
        taker.taken.extend(self._pop() for _ in range(moved))
        taker.missing -= moved
        if taker.missing:
            return moved > 0
        self._takers.popleft()
        settled.append(lambda: taker.keep(taker.taken))
        return True

    def _is_closed(self) -> OpError:
        return CancelledError(None, None, f"{self.kind} '{self.name}' is closed.")

    # --- giving up ---------------------------------------------------------------------------------------------------

    def _withdraw_giver(self, giver: Any, reason: OpError) -> None:
        self._withdraw(self._givers, giver, "Enqueue", reason)

    def _withdraw_taker(self, taker: Any, reason: OpError) -> None:
        self._withdraw(self._takers, taker, "Dequeue", reason)

    def _withdraw(self, line: deque[Any], promise: Any, what: str, reason: OpError) -> None:
        """Let somebody go who waits, unless being served was quicker; what a taker holds goes back to where it was."""
        waited_for = promise.what
        with self._lock:
            if promise not in line:
                return
            line.remove(promise)
            if isinstance(promise, _Taker):
                self._put_back(promise.taken)
                promise.taken = []
            settled = self._serve()
        # Those that it stood in the way of first.
        _settle(settled)
        if isinstance(reason, CancelledError):
            text = f"{what} operation was cancelled. {reason.message}"
        else:
            text = f"{reason.message}; it waited for {waited_for}"
        promise.fail(type(reason)(None, None, text))

    # --- questions ---------------------------------------------------------------------------------------------------

    def size(self) -> int:
        return len(self._store)

    def check_same(self, other: Queue) -> None:
        """InvalidArgumentError when this shared queue is not what a node, which would make `other`, takes it for."""
        if type(self) is not type(other):
            raise InvalidArgumentError(None, None, f"Expected {self.kind}, found {other.op_type}")
        if self.capacity != other.capacity:
            self._differs(f"capacity {self.capacity} but requested capacity was {other.capacity}")
        if self.types != other.types:
            mine, theirs = (", ".join(t.name.replace("float32", "float") for t in q.types) for q in (self, other))
            self._differs(f"component types {mine} but requested component types were {theirs}")
        if [s.known_dims for s in self.shapes] != [s.known_dims for s in other.shapes]:
            mine, theirs = (shapes_text(q.shapes) for q in (self, other))
            self._differs(f"component shapes {mine} but requested component shapes were {theirs}")

    def _differs(self, how: str) -> None:
        raise InvalidArgumentError(None, None, f"Shared queue '{self.name}' has {how}")


class PaddingQueue(Queue):
    """First in, first out; elements differ in the dimensions that `shapes` leave open, and are padded when batched."""

    kind = "PaddingFIFOQueue"
    op_type = "PaddingFIFOQueueV2"


class ShuffleQueue(Queue):
    """Gives elements at random, as long as more than `min_after` are there or the queue is closed.

    The same seeds give the same order as TensorFlow, as long as elements come and go in the same order.
    """

    kind = "RandomShuffleQueue"
    op_type = "RandomShuffleQueueV2"

    def __init__(
        self,
        name: str,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        capacity: int,
        min_after: int,
        seed: int,
        seed2: int,
    ):
        super().__init__(name, types, shapes, capacity)
        if min_after < 0:
            raise InvalidArgumentError(None, None, f"min_after_dequeue {min_after} must be >= 0")
        if min_after >= self.capacity:
            raise InvalidArgumentError(None, None, f"min_after_dequeue {min_after} must be < capacity {self.capacity}")
        self._min_after = min_after
        self._seeds = (seed, seed2)
        self._random = PhiloxState(seed, seed2)
        self._words: list[int] = []

    def _empty_store(self) -> Any:
        return []

    def _pop(self) -> Element:
        if not self._words:
            self._words = self._random.take(_BLOCKS).words(4 * _BLOCKS).tolist()[::-1]
        store = self._store
        chosen = self._words.pop() % len(store)
        # The last element takes the place of the one that goes.
        store[chosen], store[-1] = store[-1], store[chosen]
        element: Element = store.pop()
        return element

    def _put_back(self, elements: list[Element]) -> None:
        self._store.extend(elements)

    def _available(self) -> int:
        return len(self._store) if self.closed else max(0, len(self._store) - self._min_after)

    def check_same(self, other: Queue) -> None:
        super().check_same(other)
        assert isinstance(other, ShuffleQueue)
        if self._min_after != other._min_after:
            self._differs(f"min_after_dequeue {self._min_after} but requested min_after_dequeue was {other._min_after}.")
        if self._seeds != other._seeds:
            self._differs(f"random seeds {self._seeds} but requested seeds are {other._seeds}.")


# Random words are drawn so many blocks (of four) at a time.
_BLOCKS = 16


class PriorityQueue(Queue):
    """The element with the least first component first; among equal ones the one that came first."""

    kind = "PriorityQueue"
    op_type = "PriorityQueueV2"
    takes_at_once = True

    def __init__(self, name: str, types: Sequence[DType], shapes: Sequence[TensorShape], capacity: int):
        super().__init__(name, types, shapes, capacity)
        self._later = itertools.count()
        self._sooner = itertools.count(-1, -1)

    def _empty_store(self) -> Any:
        return []

    def _put(self, element: Element) -> None:
        heapq.heappush(self._store, (int(element[0]), next(self._later), element))

    def _pop(self) -> Element:
        element: Element = heapq.heappop(self._store)[2]
        return element

    def _put_back(self, elements: list[Element]) -> None:
        # Before those of the same priority that came later.
        for element in reversed(elements):
            heapq.heappush(self._store, (int(element[0]), next(self._sooner), element))


def shapes_text(shapes: Iterable[TensorShape]) -> str:
    """Shapes as TensorFlow's run-time errors write them: `[[2],[?,3]]`."""
    return "[" + ",".join(dims_text(s.as_list()) for s in shapes) + "]"


def batched(elements: list[Element], component: int, padded: bool) -> np.ndarray:
    """One component of several elements, along a new first dimension; `padded`: shapes are made equal first."""
    arrays = [element[component] for element in elements]
    if padded:
        shape = np.max([a.shape for a in arrays], axis=0, initial=0).astype(int)
        arrays = [_padded(a, tuple(shape)) for a in arrays]
    return np.stack(arrays)


def _padded(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if array.shape == shape:
        return array
    out: np.ndarray = np.full(shape, b"", object) if array.dtype == object else np.zeros(shape, array.dtype)
    out[tuple(slice(0, n) for n in array.shape)] = array
    return out
