"""Data sets of the elements of data sets that functions make: one after another (flat_map), or in turn (interleave)."""

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
    kept,
)
from tfexp.ops.dataset_map import ARGUMENTS, AUTOTUNED_CALLS, MAP, Function, with_arguments
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
parallel_interleave_dataset_v3 = define_dataset(
    f"ParallelInterleaveDatasetV3{_INTERLEAVE}, num_parallel_calls: int64) -> (handle: variant) {{f: func; deterministic: "
    f"string = 'default'; {ARGUMENTS}; {COMMON}}}"
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


# Nodes whose data sets give blocks of elements.
_GIVE_BLOCKS = (
    "TextLineDataset",
    "TFRecordDataset",
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "CSVDatasetV2",
)


def _gives_blocks(function: Any) -> bool:
    """Whether the data sets that a graph function makes are those of files."""
    op = function.outputs[0].op
    while op.type == "Identity":
        op = op.inputs[0].op
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


class _Interleave(Chain):
    """Turns through `cycle` open data sets, `block` elements at a time; the place of one that ends is taken by the next."""

    def __init__(self, source: DatasetIterator, function: Function, cycle: int, block: int):
        super().__init__(source)
        self.blocks = False
        self._function, self._cycle, self._block = function, cycle, block
        self._open: list[tuple[Element, DatasetIterator] | None] = [None] * cycle
        self._turn = self._given = 0
        self._ended = False

    def _enter(self, element: Element) -> tuple[Element, DatasetIterator]:
        values = [kept(v) for v in element]
        return values, self._function(element)[0].iterator()

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
            found = slot[1].next()
            if found is None:
                slot[1].close()
                self._open[self._turn] = None
                self._pass_on()
                continue
            self._given += 1
            if self._given == self._block:
                self._pass_on()
            return found
        return None

    def save(self) -> State:
        slots = [None if slot is None else {"element": list(slot[0]), "at": slot[1].save()} for slot in self._open]
        numbers = {"turn": self._turn, "given": self._given, "ended": self._ended}
        return {"source": self.source.save(), "open": slots, **numbers}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._turn, self._given, self._ended = state["turn"], state["given"], state["ended"]
        for i, slot in enumerate(state["open"]):
            if slot is not None:
                entered = self._open[i] = self._enter(slot["element"])
                entered[1].restore(slot["at"])

    def close(self) -> None:
        super().close()
        for slot in self._open:
            if slot is not None:
                slot[1].close()


@interleave_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, arguments: Sequence[Any], cycle: Any, block: Any, *, f: Any) -> Dataset:
    return _interleave(ctx, dataset, arguments, cycle, block, f, 0)


@parallel_interleave_dataset_v2.kernel("CPU")
@parallel_interleave_dataset_v3.kernel("CPU")
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
            f"num_parallel_calls must be less than or equal to cycle_length, but {number} is more than {as_count(cycle)}.",
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

    def iterator(source: Dataset, call: Function) -> DatasetIterator:
        def read_ahead(element: Sequence[Any]) -> Sequence[Any]:
            return [prefetched(call(element)[0], ahead)]

        return _Interleave(source.iterator(), read_ahead if ahead else call, length, size)

    return FromRecipe(iterator, dataset, with_arguments(ctx, f, arguments))
