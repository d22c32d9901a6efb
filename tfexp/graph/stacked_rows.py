"""What a function gives for 0, 1, …, stacked: the rows of a tape's Jacobians. Source: `tf.GradientTape`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop

Rows = Callable[[Any], Sequence[Any]]  # a number's tensors (or IndexedSlices, or None): the same ones are None for each


def stacked_rows(rows: Rows, count: int | Tensor, axis: int = 0) -> list[Tensor | None]:
    """Each of what `rows(i)` gives, along `axis` (0 or 1) for i in [0, count); None where that is None.

    A loop makes them where only the run knows the `count` (an int32 scalar).
    """
    if isinstance(count, int):
        columns = zip(*(rows(i) for i in range(max(count, 1))), strict=True)
        return [None if column[0] is None else _packed(column, count, axis) for column in columns]
    first = rows(0)
    if all(value is None for value in first):
        return [None] * len(first)
    found = iter(_looped(lambda i: [convert_to_tensor(g) for g in rows(i) if g is not None], count, first))
    return [None if value is None else _moved(next(found), axis) for value in first]


def _packed(values: Sequence[Any], count: int, axis: int) -> Tensor:
    packed: Tensor = get_op("Pack")([convert_to_tensor(value) for value in values], axis=axis)
    if count:
        return packed
    # Of no rows, one that stands for them has said whether there is something, and of which shape.
    nowhere, whole = [0] * (axis + 1), axis  # a bit for the first dimension, if that is another one than `axis`
    none: Tensor = get_op("StridedSlice")(packed, nowhere, nowhere, [1] * (axis + 1), begin_mask=whole, end_mask=whole)
    return none


def _looped(rows: Rows, count: Tensor, first: Sequence[Any]) -> list[Tensor]:
    arrays = [get_op("TensorArrayV3")(count, dtype=value.dtype) for value in first if value is not None]

    def body(i: Tensor, flows: list[Tensor]) -> Any:
        write = get_op("TensorArrayWriteV3")
        return i + 1, [write(h, i, value, flow) for (h, _), value, flow in zip(arrays, rows(i), flows, strict=True)]

    start = (convert_to_tensor(0), [flow for _, flow in arrays])
    _, flows = while_loop(lambda i, _: i < count, body, start)
    numbers = get_op("Range")(0, count, 1)
    values = [value for value in first if value is not None]
    return [
        get_op("TensorArrayGatherV3")(handle, numbers, flow, dtype=value.dtype, element_shape=value.get_shape())
        for (handle, _), flow, value in zip(arrays, flows, values, strict=True)
    ]


def _moved(value: Tensor, axis: int) -> Tensor:
    """The first dimension as that of this number."""
    if axis == 0:
        return value
    others = get_op("Range")(2, get_op("Rank")(value), 1)
    result: Tensor = get_op("Transpose")(value, get_op("ConcatV2")([[1, 0], others], 0))
    return result
