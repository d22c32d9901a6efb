"""Data sets of the elements of data sets that functions make: one after another (flat_map), or in turn (interleave)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
    kept,
    row,
)
from tfexp.ops.dataset_batch import stack
from tfexp.ops.dataset_functions import Function, with_arguments
from tfexp.ops.dataset_map import ARGUMENTS, AUTOTUNED_CALLS, MAP
from tfexp.ops.dataset_prefetch import prefetched

flat_map_dataset = define_dataset(
    "FlatMapDataset(input_dataset: variant, other_arguments: Targuments) -> (handle: variant) {f: func; "
    f"{ARGUMENTS}; {COMMON}}}"
)
_INTERLEAVE = "(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64"
interleave_dataset = define_dataset(
    f"InterleaveDataset{_INTERLEAVE}) -> (handle: variant) {{f: func; {ARGUMENTS}; {COMMON}}}"
)
parallel_interleave_dataset_v2 = define_dataset(
    f"ParallelInterleaveDatasetV2{_INTERLEAVE}, num_parallel_calls: int64) -> (handle: variant) {{{MAP}"
    "sloppy: bool = false; metadata: string = ''}"
)
parallel_interleave_dataset_v4 = define_dataset(
    f"ParallelInterleaveDatasetV4{_INTERLEAVE}, buffer_output_elements: int64, prefetch_input_elements: int64, "
    "num_parallel_calls: int64) -> (handle: variant) {f: func; deterministic: string = 'default'; "
    f"{ARGUMENTS}; {COMMON}}}"
)
legacy_parallel_interleave_dataset_v2 = define_dataset(
    f"LegacyParallelInterleaveDatasetV2{_INTERLEAVE}, buffer_output_elements: int64, prefetch_input_elements: int64) -> "
    f"(handle: variant) {{f: func; deterministic: string = 'default'; {ARGUMENTS}; {COMMON}}}"
)


# Nodes whose data sets give blocks of elements: those of files, and those that leave the elements as they are.
_GIVE_BLOCKS = ("TextLineDataset", "TFRecordDataset", "FixedLengthRecordDatasetV2", "CSVDatasetV2")
_LEAVE_BLOCKS = ("Identity", "SkipDataset", "TakeDataset", "RepeatDataset")
_JOIN_BLOCKS = ("FlatMapDataset", "InterleaveDataset")


def _gives_blocks(function: Any) -> bool:
    """Whether the data sets that a graph function makes are known to give blocks, all with elements of the same shapes."""
    op = function.outputs[0].op
    while op.type in _LEAVE_BLOCKS:
        op = op.inputs[0].op
    if op.type in _JOIN_BLOCKS:
        return _gives_blocks(op.graph._functions[op.attrs["f"].name])
    return op.type in _GIVE_BLOCKS


class _FlatMap(Chain):
    def __init__(self, source: DatasetIterator, function: Function, blocks: bool):
        super().__init__(source)
        self.blocks = blocks
        self._function = function
        self._element: Element | None = None
        self._inner: DatasetIterator | None = None

    def _enter(self, element: Element) -> DatasetIterator:
        self._element = [kept(v) for v in element]
        self._inner = self._function(element)[0].iterator()
        return self._inner

    def next(self) -> Element | None:
        return self._from_each(lambda inner: inner.next())

    def block(self, count: int) -> list[np.ndarray] | None:
        found: list[np.ndarray] | None = self._from_each(lambda inner: inner.block(count))
        return found

    def _from_each(self, get: Callable[[DatasetIterator], Any]) -> Any:
        while True:
            inner = self._inner
            if inner is not None:
                found = get(inner)
                if found is not None:
                    return found
                inner.close()
                self._inner = None
            element = self.source.next()
            if element is None:
                return None
            self._enter(element)

    def save(self) -> State:
        inner = None if self._inner is None else {"element": list(self._element or ()), "at": self._inner.save()}
        return {"source": self.source.save(), "inner": inner}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        if state["inner"] is not None:
            self._enter(state["inner"]["element"]).restore(state["inner"]["at"])

    def close(self) -> None:
        super().close()
        if self._inner is not None:
            self._inner.close()


@flat_map_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], *, f: Any) -> Dataset:
    function = with_arguments(ctx, f, arguments)
    blocks = _gives_blocks(function.graph_function)
    return FromRecipe(lambda source, call: _FlatMap(source.iterator(), call, blocks), dataset, function)


class _Open:
    """A data set that elements are taken of in turn: what it was made of, its iterator, and its place.

    `left`: elements of a block that was taken of it, which have not been given; `failure`: the error that comes after them.
    """

    def __init__(self, element: Element, iterator: DatasetIterator):
        self.element, self.iterator = element, iterator
        self.left: list[np.ndarray] | None = None
        self.failure: Exception | None = None

    def has(self, count: int, most: int) -> int:
        """How many elements are there to be given, after taking up to `most` if there are less than `count`."""
        there = 0 if self.left is None else len(self.left[0])
        if there >= count or self.failure is not None:
            return there
        try:
            block = self.iterator.block(most)
        except OpError as error:
            self.failure = error
            return there
        if block is not None:
            self.left = block if self.left is None else [np.concatenate(pair) for pair in zip(self.left, block, strict=True)]
        return 0 if self.left is None else len(self.left[0])

    def give(self, count: int) -> list[np.ndarray]:
        """So many elements of those that are there."""
        arrays = self.left
        assert arrays is not None
        self.left = [array[count:] for array in arrays] if count < len(arrays[0]) else None
        return [array[:count] for array in arrays]

    def next(self) -> Element | None:
        if self.left is not None:
            return [row(array, 0) for array in self.give(1)]
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        return self.iterator.next()

    def save(self) -> State:
        return {"element": list(self.element), "at": self.iterator.save(), "left": self.left}

    def restore(self, state: State) -> None:
        self.iterator.restore(state["at"])
        self.left = state["left"]


class _Interleave(Chain):
    """Turns through `cycle` open data sets, `length` elements at a time; the place of one that ends is taken by the next.

    `blocks`: the data sets give blocks.
    """

    def __init__(self, source: DatasetIterator, function: Function, cycle: int, length: int, blocks: bool):
        super().__init__(source)
        self.blocks = blocks
        self._function, self._cycle, self._length = function, cycle, length
        self._open: list[_Open | None] = [None] * cycle
        self._turn = self._given = 0
        self._ended = False

    def _enter(self, element: Element) -> _Open:
        return _Open([kept(v) for v in element], self._function(element)[0].iterator())

    def _pass_on(self) -> None:
        self._turn, self._given = (self._turn + 1) % self._cycle, 0

    def next(self) -> Element | None:
        while not self._ended or any(slot is not None for slot in self._open):
            slot = self._open[self._turn]
            if slot is None:
                element = None if self._ended else self.source.next()
                if element is None:
                    self._ended = True
                    self._pass_on()
                    continue
                slot = self._open[self._turn] = self._enter(element)
            found = slot.next()
            if found is None:
                slot.iterator.close()
                self._open[self._turn] = None
                self._pass_on()
                continue
            self._given += 1
            if self._given == self._length:
                self._pass_on()
            return found
        return None

    def block(self, count: int) -> list[np.ndarray] | None:
        """Whole rounds through the open data sets, where all have elements for them."""
        slots = [slot for slot in (*self._open[self._turn :], *self._open[: self._turn]) if slot is not None]
        if slots and not self._given and (self._ended or len(slots) == self._cycle):
            rounds = count // (len(slots) * self._length)
            have = [slot.has(self._length, rounds * self._length) for slot in slots] if rounds else [0]
            rounds = min(rounds, min(have) // self._length)
            if rounds:
                parts = [slot.give(rounds * self._length) for slot in slots]
                return [self._in_turn(arrays, rounds) for arrays in zip(*parts, strict=True)]
        element = self.next()
        return None if element is None else [stack([value]) for value in element]

    def _in_turn(self, arrays: Sequence[np.ndarray], rounds: int) -> np.ndarray:
        """`length` rows of each array after the other, so many times."""
        shape = arrays[0].shape[1:]
        turns = [array.reshape(rounds, self._length, *shape) for array in arrays]
        return np.concatenate(turns, axis=1).reshape(-1, *shape)

    def save(self) -> State:
        slots = [None if slot is None else slot.save() for slot in self._open]
        numbers = {"turn": self._turn, "given": self._given, "ended": self._ended}
        return {"source": self.source.save(), "open": slots, **numbers}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._turn, self._given, self._ended = state["turn"], state["given"], state["ended"]
        for i, saved in enumerate(state["open"]):
            if saved is not None:
                entered = self._open[i] = self._enter(saved["element"])
                entered.restore(saved)

    def close(self) -> None:
        super().close()
        for slot in self._open:
            if slot is not None:
                slot.iterator.close()


@interleave_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], cycle: Any, block: Any, *, f: Any) -> Dataset:
    return _interleave(ctx, dataset, arguments, cycle, block, f, 0)


@parallel_interleave_dataset_v2.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], cycle: Any, block: Any, calls: Any, *, f: Any) -> Dataset:
    _check_calls(calls, cycle)
    return _interleave(ctx, dataset, arguments, cycle, block, f, as_count(block))


@parallel_interleave_dataset_v4.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    arguments: Sequence[Any],
    cycle: Any,
    block: Any,
    buffer_output_elements: Any,
    prefetch_input_elements: Any,
    calls: Any,
    *,
    f: Any,
) -> Dataset:
    _check_calls(calls, cycle)
    wanted = as_count(buffer_output_elements)
    return _interleave(ctx, dataset, arguments, cycle, block, f, wanted if wanted > 0 else as_count(block))


@legacy_parallel_interleave_dataset_v2.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    arguments: Sequence[Any],
    cycle: Any,
    block: Any,
    buffer_output_elements: Any,
    prefetch_input_elements: Any,
    *,
    f: Any,
) -> Dataset:
    """Also where the order may be another one, it is that of `interleave`."""
    for name, value, least in (
        ("cycle_length", cycle, 1),
        ("block_length", block, 1),
        ("buffer_output_elements", buffer_output_elements, 1),
        ("prefetch_input_elements", prefetch_input_elements, 0),
    ):
        if as_count(value) < least:
            raise InvalidArgumentError(None, None, f"`{name}` must be >{'=' if not least else ''} 0, not {as_count(value)}")
    return _interleave(ctx, dataset, arguments, cycle, block, f, max(as_count(buffer_output_elements), as_count(block)))


def _check_calls(calls: Any, cycle: Any) -> None:
    number = as_count(calls)
    if number < -1 or number == 0:
        raise InvalidArgumentError(None, None, f"num_parallel_calls must be greater than zero, not {number}.")
    if 0 < as_count(cycle) < number:
        raise InvalidArgumentError(
            None,
            None,
            f"num_parallel_calls must less than or equal to cycle_length. {number} is more than {as_count(cycle)}.",
        )


def _interleave(ctx: Any, dataset: Dataset, arguments: Sequence[Any], cycle: Any, block: Any, f: Any, ahead: int) -> Dataset:
    """`ahead`: elements that a thread of each open data set has ready before they are asked for (0: no threads)."""
    length, size = as_count(cycle), as_count(block)
    if length == -1:
        length = AUTOTUNED_CALLS
    if length <= 0:
        raise InvalidArgumentError(None, None, "cycle_length must be greater than zero.")
    if size <= 0:
        raise InvalidArgumentError(None, None, "block_length must be greater than zero.")

    function = with_arguments(ctx, f, arguments)
    blocks = _gives_blocks(function.graph_function)

    def iterator(source: Dataset, call: Function) -> DatasetIterator:
        def read_ahead(element: Sequence[Any]) -> Sequence[Any]:
            return [prefetched(call(element)[0], ahead)]

        return _Interleave(source.iterator(), read_ahead if ahead else call, length, size, blocks)

    return FromRecipe(iterator, dataset, function)
