"""Data sets that draw from several others as another one says, and random numbers to draw by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.dataset import (
    COMMON,
    INFINITE,
    Dataset,
    DatasetIterator,
    Element,
    FromRecipe,
    State,
    define_dataset,
)
from tfexp.ops.dataset_shuffle import Stream
from tfexp.ops.philox import drawn_seeds

directed_interleave_dataset = define_dataset(
    "DirectedInterleaveDataset(selector_input_dataset: variant, data_input_datasets: N * variant) -> (handle: variant) "
    "{output_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1; stop_on_empty_dataset: bool = false}"
)
random_dataset = define_dataset(f"RandomDataset(seed: int64, seed2: int64) -> (handle: variant) {{{COMMON}}} #stateful")


class _Directed(DatasetIterator):
    """The selector's next number says which data set gives the next element; numbers of those that ended are passed over."""

    def __init__(self, selector: DatasetIterator, sources: Sequence[DatasetIterator], stop: bool):
        self._selector, self._sources, self._stop = selector, sources, stop
        self._ended = [False] * len(sources)

    def next(self) -> Element | None:
        while not all(self._ended):
            chosen = self._selector.next()
            if chosen is None:
                break
            number = int(chosen[0])
            if not 0 <= number < len(self._sources):
                raise InvalidArgumentError(None, None, f"Selector index out of range: {number} >= {len(self._sources)}")
            if self._ended[number]:
                continue
            element = self._sources[number].next()
            if element is not None:
                return element
            self._ended[number] = True
            if self._stop:
                break
        self._ended = [True] * len(self._sources)
        return None

    def save(self) -> State:
        sources = [source.save() for source in self._sources]
        return {"selector": self._selector.save(), "sources": sources, "ended": self._ended}

    def restore(self, state: State) -> None:
        self._selector.restore(state["selector"])
        self._ended = list(state["ended"])
        for source, saved in zip(self._sources, state["sources"], strict=True):
            source.restore(saved)

    def interrupt(self, on: bool = True) -> None:
        for source in (self._selector, *self._sources):
            source.interrupt(on)

    def close(self) -> None:
        for source in (self._selector, *self._sources):
            source.close()


@directed_interleave_dataset.kernel("CPU")
def _(ctx: Any, selector: Dataset, datasets: Sequence[Dataset], *, stop_on_empty_dataset: bool) -> Dataset:
    return FromRecipe(
        lambda first, *rest: _Directed(first.iterator(), [data.iterator() for data in rest], stop_on_empty_dataset),
        selector,
        *datasets,
    )


class _Random(DatasetIterator):
    """The words of a stream of random bits, as TensorFlow's RandomDataset gives them for these seeds."""

    blocks = True

    def __init__(self, seeds: tuple[int, int]):
        self._stream = Stream(*seeds)

    def next(self) -> Element | None:
        return [np.int64(self._stream.word())]

    def block(self, count: int) -> list[np.ndarray] | None:
        return [np.array([self._stream.word() for _ in range(count)], np.int64)]

    def save(self) -> State:
        return {"taken": self._stream.taken, "seeds": list(self._stream.seeds)}

    def restore(self, state: State) -> None:
        self._stream.seeds = (state["seeds"][0], state["seeds"][1])
        self._stream.go_to(state["taken"])


@random_dataset.kernel("CPU")
def _(ctx: Any, seed: Any, seed2: Any) -> Dataset:
    seeds = drawn_seeds(int(seed), int(seed2))
    return FromRecipe(lambda: _Random(seeds), cardinality=INFINITE)
