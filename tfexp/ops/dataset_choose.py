"""Data sets that choose which of others' elements come, and how often: repeat, take, skip, shard, concatenate, zip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
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

# --- how many, which -------------------------------------------------------------------------------------------------

repeat_dataset = define_dataset(f"RepeatDataset(input_dataset: variant, count: int64) -> (handle: variant) {{{COMMON}}}")
take_dataset = define_dataset(f"TakeDataset(input_dataset: variant, count: int64) -> (handle: variant) {{{COMMON}}}")
skip_dataset = define_dataset(f"SkipDataset(input_dataset: variant, count: int64) -> (handle: variant) {{{COMMON}}}")
shard_dataset = define_dataset(
    "ShardDataset(input_dataset: variant, num_shards: int64, index: int64) -> (handle: variant) {require_non_empty: bool = "
    f"false; {COMMON}}}"
)


class _Repeat(DatasetIterator):
    def __init__(self, dataset: Dataset, count: int):
        self._dataset, self._count = dataset, count
        self._round = 0
        self._fresh = True  # nothing has come in this round
        self._source: DatasetIterator | None = None if count == 0 else dataset.iterator()
        self.blocks = self._source is None or self._source.blocks
        self.ahead = self._source is None or self._source.ahead

    def next(self) -> Element | None:
        return self._from_rounds(lambda source: source.next())

    def block(self, count: int) -> list[np.ndarray] | None:
        found: list[np.ndarray] | None = self._from_rounds(lambda source: source.block(count))
        return found

    def _from_rounds(self, get: Callable[[DatasetIterator], Any]) -> Any:
        while self._source is not None:
            found = get(self._source)
            if found is not None:
                self._fresh = False
                return found
            self._round += 1
            # An empty data set, repeated for ever, is empty.
            ended = self._round == self._count or (self._count < 0 and self._fresh)
            self._source.close()
            self._source = None if ended else self._dataset.iterator()
            self._fresh = True
        return None

    def save(self) -> State:
        source = None if self._source is None else self._source.save()
        return {"round": self._round, "fresh": self._fresh, "source": source}

    def restore(self, state: State) -> None:
        self._round, self._fresh = state["round"], state["fresh"]
        if state["source"] is None:
            self.close()
            self._source = None
        elif self._source is not None:
            self._source.restore(state["source"])

    def close(self) -> None:
        if self._source is not None:
            self._source.close()


@repeat_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, count: Any) -> Dataset:
    return repeated(dataset, as_count(count))


def repeated(dataset: Dataset, number: int) -> Dataset:
    """The elements so many times; for ever with a number below 0."""
    return FromRecipe(lambda source: _Repeat(source, number), dataset)


class _Counted(Chain):
    """Counts down the elements of the source, from `count`; below 0, all of them."""

    def __init__(self, source: DatasetIterator, count: int):
        super().__init__(source)
        self._left = count

    def save(self) -> State:
        return {"left": self._left, "source": self.source.save()}

    def restore(self, state: State) -> None:
        self._left = state["left"]
        self.source.restore(state["source"])


class _Take(_Counted):
    """Its source ends when more is asked for than is taken of it: what that holds is let go, a generator, say."""

    def next(self) -> Element | None:
        if self._left == 0:
            self.source.close()
            return None
        found = self.source.next()
        self._left -= 1  # an element that fails is none of those that are taken
        return found

    def block(self, count: int) -> list[np.ndarray] | None:
        if self._left == 0:
            self.source.close()
            return None
        found = self.source.block(count if self._left < 0 else min(count, self._left))
        if found is not None and self._left > 0:
            self._left -= len(found[0])
        return found

    def save(self) -> State:
        return super().save() if self._left else {"left": 0, "source": None}

    def restore(self, state: State) -> None:
        self._left = state["left"]
        if self._left:
            self.source.restore(state["source"])


@take_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, count: Any) -> Dataset:
    number = max(as_count(count), -1)
    return FromRecipe(lambda source: _Take(source.iterator(), number), dataset)


class _Skip(_Counted):
    def _skip(self) -> bool:
        """Pass over what is to be skipped; whether anything is left."""
        while self._left != 0:
            if self.blocks:
                found = self.source.block(self._left if self._left > 0 else 4096)
                passed = 0 if found is None else len(found[0])
            else:
                passed = 0 if self.source.next() is None else 1
            if passed == 0:
                return False
            self._left -= passed if self._left > 0 else 0
        return True

    def next(self) -> Element | None:
        return self.source.next() if self._left == 0 or self._skip() else None

    def block(self, count: int) -> list[np.ndarray] | None:
        return self.source.block(count) if self._left == 0 or self._skip() else None


@skip_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, count: Any) -> Dataset:
    number = max(as_count(count), -1)
    return FromRecipe(lambda source: _Skip(source.iterator(), number), dataset)


class _Shard(Chain):
    """Every `shards`-th element, from number `index` on."""

    def __init__(self, source: DatasetIterator, shards: int, index: int):
        super().__init__(source)
        self.blocks = source.blocks and source.ahead
        self._shards, self._index = shards, index
        self._seen = 0

    def next(self) -> Element | None:
        while (element := self.source.next()) is not None:
            self._seen += 1
            if (self._seen - 1) % self._shards == self._index:
                return element
        return None

    def block(self, count: int) -> list[np.ndarray] | None:
        while (found := self.source.block(count * self._shards)) is not None:
            first = (self._index - self._seen) % self._shards
            self._seen += len(found[0])
            mine = [array[first :: self._shards] for array in found]
            if len(mine[0]):
                return mine
        return None

    def save(self) -> State:
        return {"seen": self._seen, "source": self.source.save()}

    def restore(self, state: State) -> None:
        self._seen = state["seen"]
        self.source.restore(state["source"])


@shard_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, num_shards: Any, index: Any) -> Dataset:
    shards, number = as_count(num_shards), as_count(index)
    if shards <= 0:
        raise InvalidArgumentError(
            None, None, f"Number of shards must be greater than zero (currently num_shards = {shards})."
        )
    if not 0 <= number < shards:
        raise InvalidArgumentError(None, None, f"Index must be between 0 and {shards - 1} (currently index = {number}).")
    return FromRecipe(lambda source: _Shard(source.iterator(), shards, number), dataset)


# --- several data sets -------------------------------------------------------------------------------------------------

concatenate_dataset = define_dataset(
    f"ConcatenateDataset(input_dataset: variant, another_dataset: variant) -> (handle: variant) {{{COMMON}}}"
)
zip_dataset = define_dataset(
    "ZipDataset(input_datasets: N * variant) -> (handle: variant) {output_types: list(type) >= 1; output_shapes: "
    "list(shape) >= 1; N: int >= 1; metadata: string = ''}"
)


class _Concatenate(DatasetIterator):
    def __init__(self, datasets: Sequence[Dataset]):
        self._sources = [dataset.iterator() for dataset in datasets]
        self._current = 0
        self.blocks = all(source.blocks and source.ahead for source in self._sources)

    def next(self) -> Element | None:
        while self._current < len(self._sources):
            if (element := self._sources[self._current].next()) is not None:
                return element
            self._current += 1
        return None

    def block(self, count: int) -> list[np.ndarray] | None:
        while self._current < len(self._sources):
            if (found := self._sources[self._current].block(count)) is not None:
                return found
            self._current += 1
        return None

    def save(self) -> State:
        return {"current": self._current, "sources": [source.save() for source in self._sources]}

    def restore(self, state: State) -> None:
        self._current = state["current"]
        for source, saved in zip(self._sources, state["sources"], strict=True):
            source.restore(saved)

    def close(self) -> None:
        for source in self._sources:
            source.close()


@concatenate_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, another: Dataset) -> Dataset:
    return FromRecipe(lambda *sources: _Concatenate(sources), dataset, another)


class _Zip(DatasetIterator):
    def __init__(self, sources: Sequence[DatasetIterator]):
        self._sources = sources
        self.blocks = all(source.blocks and source.ahead for source in sources)
        # What a source gave beyond what the others had to go with it.
        self._rest: list[list[np.ndarray] | None] = [None] * len(sources)

    def next(self) -> Element | None:
        if self.blocks:
            found = self.block(1)
            return None if found is None else [row(array, 0) for array in found]
        element: list[Any] = []
        for source in self._sources:
            part = source.next()
            if part is None:
                return None
            element.extend(part)
        return element

    def block(self, count: int) -> list[np.ndarray] | None:
        for i, source in enumerate(self._sources):
            if self._rest[i] is None:
                self._rest[i] = source.block(count)
        parts = [part for part in self._rest if part is not None]
        if len(parts) < len(self._sources):
            return None
        size = min(count, *(len(part[0]) for part in parts))
        self._rest = [[array[size:] for array in part] if len(part[0]) > size else None for part in parts]
        return [array[:size] for part in parts for array in part]

    def save(self) -> State:
        return {"sources": [source.save() for source in self._sources], "rest": self._rest}

    def restore(self, state: State) -> None:
        self._rest = list(state["rest"])
        for source, saved in zip(self._sources, state["sources"], strict=True):
            source.restore(saved)

    def close(self) -> None:
        for source in self._sources:
            source.close()


@zip_dataset.kernel("CPU")
def _(ctx: Any, datasets: Sequence[Dataset]) -> Dataset:
    return FromRecipe(lambda *sources: _Zip([source.iterator() for source in sources]), *datasets)
