"""The entry of each row that sorting would bring to place n: NthElement. Source: `nn_ops.nth_element`, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_division import div
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.shape_rules import with_rank, with_rank_at_least

nth_element_op = define_op(
    "NthElement(input: T, n: int32) -> (values: T) {reverse: bool = false; "
    "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]}"
)


@nth_element_op.shape
def _(input: InputShape, n: InputShape) -> TensorShape:
    with_rank(n, 0)
    dims = with_rank_at_least(input, 1).known_dims
    if n.value is not None and int(n.value) < 0:
        raise ValueError(f"Need n >= 0, got {int(n.value)}: it must be non-negative but got {int(n.value)}")
    if dims is None:
        return TensorShape(None)
    if n.value is not None and dims[-1] is not None and dims[-1] <= int(n.value):
        raise ValueError(f"Input must have last dimension > n = {int(n.value)} but is {dims[-1]}")
    return TensorShape(dims[:-1])


@nth_element_op.kernel("CPU")
def _(ctx: Any, input: Array, n: Array, *, reverse: bool) -> Array:
    if np.ndim(n):
        raise ValueError(f"N must be scalar but has rank {np.ndim(n)}")
    place = int(n)
    if place < 0:
        raise ValueError(f"Need n >= 0, got {place}")
    if input.ndim < 1:
        raise ValueError("Input must be >= 1-D, got shape []")
    columns = input.shape[-1]
    if columns <= place:
        raise ValueError(f"Input must have at least n+1 columns, which is {place + 1}, but has {columns}")
    place = columns - 1 - place if reverse else place
    return np.partition(input, place, axis=-1)[..., place]


@nth_element_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Shared evenly by the entries that have the value."""
    chosen = cast(equal(expand_dims(op.outputs[0], -1), op.inputs[0]), grad.dtype)
    count = expand_dims(reduce_sum(chosen, -1), -1)
    return [mul(div(chosen, count), expand_dims(grad, -1)), None]


def nth_element(input: Any, n: Any, reverse: bool = False, name: str | None = None) -> Tensor:
    """Of each row (along the last axis) the entry that has `n` smaller ones before it, or with `reverse` larger ones."""
    result: Tensor = nth_element_op(input, n, reverse=reverse, name=name)
    return result
