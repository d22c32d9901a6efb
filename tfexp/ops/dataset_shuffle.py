"""Shuffling: elements drawn at random from a buffer that is filled up again, in TensorFlow's order for TensorFlow's seeds.

The order, found by experiment and pinned in the golden tests: the buffer is a ring; before each draw it is filled up; the
draw takes word w of the stream of Philox(seed, seed2), picks the (w modulo size)-th of the ring from its start, hands that
out and moves the first one into its place. With `reshuffle_each_iteration` each run through the data takes the next two
words of that stream as the seeds of its own.
"""

from __future__ import annotations

import threading
from typing import Any, Self

import numpy as np

from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.ops.dataset import (
    COMMON,
    Chain,
    Dataset,
    DatasetIterator,
    Element,
    FromRecipe,
    State,
    as_count,
    define_dataset,
    row,
)
from tfexp.ops.dataset_choose import repeated
from tfexp.ops.philox import Philox, drawn_seeds

shuffle_dataset = define_dataset(
    "ShuffleDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64) -> (handle: variant) "
    f"{{reshuffle_each_iteration: bool = true; {COMMON}}}"
)
shuffle_and_repeat_dataset = define_dataset(
    "ShuffleAndRepeatDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64) -> "
    "(handle: variant) {output_types: list(type) >= 1; output_shapes: list(shape) >= 1; reshuffle_each_iteration: bool = "
    "true; metadata: string = ''}"
)

# Words of a stream that are computed at once.
_WORDS = 1024


class Stream:
    """The words of Philox(seed, seed2), one after another."""

    def __init__(self, seed: int, seed2: int):
        self.seeds = seed, seed2
        self.taken = 0
        self._lock = threading.Lock()
        self._words: list[int] = []
        self._begin = 0

    @classmethod
    def from_seeds(cls, seed: int, seed2: int) -> Self:
        """Where both are zero, the system draws them."""
        return cls(*drawn_seeds(seed, seed2))

    def fresh(self) -> Stream:
        return Stream(*self.seeds)

    def go_to(self, taken: int) -> None:
        """Be where `taken` words have been taken."""
        self.taken, self._words = taken, []

    def word(self) -> int:
        position = self.taken - self._begin
        if not 0 <= position < len(self._words):
            self._begin = self.taken - self.taken % _WORDS
            self._words = Philox.from_seeds(*self.seeds).skip(self._begin // 4).words(_WORDS).tolist()
            position = self.taken - self._begin
        self.taken += 1
        return self._words[position]

    def pair(self) -> tuple[int, int]:
        """The next two words, for one of several threads."""
        with self._lock:
            return self.word(), self.word()


class _Ring:
    """Places of waiting elements, at most `size`: filled at one end, drawn from at random."""

    def __init__(self, size: int, stream: Stream):
        self._size, self._stream = size, stream
        self._places: list[int] = []
        self._first = self._end = 0  # how many have gone out, how many have come in

    def __len__(self) -> int:
        return self._end - self._first

    @property
    def room(self) -> int:
        return self._size - len(self)

    def push(self, place: int) -> None:
        index = self._end % self._size
        if index == len(self._places):
            self._places.append(place)
        else:
            self._places[index] = place
        self._end += 1

    def draw(self) -> int:
        places, first = self._places, self._first
        index = (first + self._stream.word() % (self._end - first)) % self._size
        place = places[index]
        places[index] = places[first % self._size]
        self._first = first + 1
        return place

    def save(self) -> State:
        return {"places": self._places, "first": self._first, "end": self._end}

    def restore(self, state: State) -> None:
        self._places, self._first, self._end = list(state["places"]), state["first"], state["end"]


class _Shuffle(Chain):
    """The elements wait in `_store`, a row of arrays (of blocks) or a list (of elements) for each place.

    `_failure`: an error that came for an element which is not asked for before the next draw.
    """

    def __init__(self, source: DatasetIterator, size: int, parent: Stream, seeds: tuple[int, int]):
        super().__init__(source)
        self._stream = Stream(*seeds)
        self._ring = _Ring(size, self._stream)
        self._parent = parent
        self._ended = False
        self._store: list[Any] = []
        self._stored = 0  # rows of the arrays that are in use, with blocks
        self._failure: OpError | None = None

    def next(self) -> Element | None:
        if self.blocks:
            found = self.block(1)
            return None if found is None else [row(array, 0) for array in found]
        self._fail()
        while self._ring.room and not self._ended:
            element = self.source.next()
            if element is None:
                self._ended = True
            else:
                self._ring.push(len(self._store))
                self._store.append(element)
        if not len(self._ring):
            return None
        place = self._ring.draw()
        drawn: Element = self._store[place]
        self._store[place] = None
        if not self._ended:
            try:
                following = self.source.next()
            except OpError as error:
                self._failure = error
                return drawn
            if following is None:
                self._ended = True
            else:
                self._store[place] = following
                self._ring.push(place)
        return drawn

    def _fail(self) -> None:
        """Raise the error that has been waiting."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def block(self, count: int) -> list[np.ndarray] | None:
        self._fail()
        self._fill()
        if not len(self._ring):
            return None
        coming = self._up_to(count)
        size = len(coming[0]) if coming is not None else 0
        if self._failure is not None:
            count = size + 1  # the draws before the one that would ask for the element that failed
        ring, used = self._ring, 0
        drawn: list[int] = []  # places, or ~i for the i-th that came in just now
        fresh: dict[int, int] = {}  # place -> which of those belongs there
        for _ in range(min(count, len(ring) + size)):
            place = ring.draw()
            i = fresh.pop(place, -1)
            drawn.append(place if i < 0 else ~i)
            if used < size:
                fresh[place] = used
                ring.push(place)
                used += 1
        return self._gather(np.array(drawn), coming, fresh)

    def _gather(self, drawn: np.ndarray, coming: list[np.ndarray] | None, fresh: dict[int, int]) -> list[np.ndarray]:
        at_once = drawn < 0
        if coming is None or not at_once.any():
            result = [array.take(drawn, 0) for array in self._store]
        else:
            result = [array.take(np.maximum(drawn, 0), 0) for array in self._store]
            for array, new in zip(result, coming, strict=True):
                array[at_once] = new[~drawn[at_once]]
        if coming is not None and fresh:
            places, which = np.array(list(fresh)), np.array(list(fresh.values()))
            for array, new in zip(self._store, coming, strict=True):
                array[places] = new[which]
        return result

    def _up_to(self, count: int) -> list[np.ndarray] | None:
        """`count` further elements of the source, less only at its end and before one that fails."""
        parts: list[list[np.ndarray]] = []
        missing = 0 if self._ended else count
        while missing:
            try:
                part = self.source.block(missing)
            except OpError as error:
                self._failure = error
                break
            if part is None:
                self._ended = True
                break
            parts.append(part)
            missing -= len(part[0])
        if len(parts) > 1:
            return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        return parts[0] if parts else None

    def _fill(self) -> None:
        while self._ring.room and not self._ended:
            part = self.source.block(self._ring.room)
            if part is None:
                self._ended = True
                return
            start, stop = self._stored, self._stored + len(part[0])
            if not self._store:
                self._store = [np.empty((0, *array.shape[1:]), array.dtype) for array in part]
            for i, array in enumerate(part):
                if stop > len(self._store[i]):
                    grown = np.empty((max(stop, 2 * len(self._store[i])), *array.shape[1:]), array.dtype)
                    grown[:start] = self._store[i][:start]
                    self._store[i] = grown
                self._store[i][start:stop] = array
            for place in range(start, stop):
                self._ring.push(place)
            self._stored = stop

    def save(self) -> State:
        return {
            "source": self.source.save(),
            "ring": self._ring.save(),
            "store": [array[: self._stored] for array in self._store] if self.blocks else self._store,
            "ended": self._ended,
            "seeds": list(self._stream.seeds),
            "taken": self._stream.taken,
            "runs": self._parent.taken,
        }

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._stream.seeds = (state["seeds"][0], state["seeds"][1])
        self._stream.go_to(state["taken"])
        self._parent.go_to(state["runs"])
        self._ring.restore(state["ring"])
        self._ended = state["ended"]
        self._store = [np.array(array) for array in state["store"]] if self.blocks else list(state["store"])
        self._stored = len(self._store[0]) if self.blocks and self._store else 0


@shuffle_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, buffer_size: Any, seed: Any, seed2: Any, *, reshuffle_each_iteration: bool) -> Dataset:
    return shuffled(dataset, buffer_size, Stream.from_seeds(int(seed), int(seed2)), reshuffle_each_iteration)


@shuffle_and_repeat_dataset.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    buffer_size: Any,
    seed: Any,
    seed2: Any,
    count: Any,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    times = as_count(count)
    if times < -1 or times == 0:
        raise InvalidArgumentError(None, None, f"count must be greater than zero or equal to -1, not {times}.")
    stream = Stream.from_seeds(int(seed), int(seed2))
    return repeated(shuffled(dataset, buffer_size, stream, reshuffle_each_iteration), times)


def shuffled(dataset: Dataset, buffer_size: Any, stream: Stream, anew: bool) -> Dataset:
    """The data set in an order by the stream's seeds; by its next two words for each run where runs are shuffled anew."""
    size = as_count(buffer_size)
    if size <= 0:
        raise InvalidArgumentError(None, None, "buffer_size must be greater than zero or UNKNOWN_CARDINALITY")

    def iterator(source: Dataset, runs: Stream) -> DatasetIterator:
        return _Shuffle(source.iterator(), size, runs, runs.pair() if anew else runs.seeds)

    return FromRecipe(iterator, dataset, stream)
