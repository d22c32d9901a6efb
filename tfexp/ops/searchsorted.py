"""`tf.searchsorted` and its ops LowerBound and UpperBound: where values belong in sorted rows. TF 1.15."""

from __future__ import annotations

from typing import Any, Literal

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, reshape, shape_as_tensor
from tfexp.ops.row_search import places_in_rows
from tfexp.ops.shape_rules import with_rank

_TYPES = "{T: type; out_type: type in [int32,int64] = int32}"
lower_bound_op = define_op(f"LowerBound(sorted_inputs: T, values: T) -> (output: out_type) {_TYPES}")
upper_bound_op = define_op(f"UpperBound(sorted_inputs: T, values: T) -> (output: out_type) {_TYPES}")


def _attach(op: Op, side: Literal["left", "right"]) -> None:
    @op.shape
    def _(sorted_inputs: InputShape, values: InputShape) -> TensorShape:
        with_rank(sorted_inputs, 2)
        with_rank(values, 2)
        return values

    @op.kernel("CPU")
    def _(ctx: Any, sorted_inputs: Array, values: Array, *, out_type: DType) -> Array:
        if len(sorted_inputs) != len(values):
            raise InvalidArgumentError(None, None, "Leading dim_size of both tensors must match.")
        return places_in_rows(sorted_inputs, values, side).astype(out_type.as_numpy_dtype)


_attach(lower_bound_op, "left")
_attach(upper_bound_op, "right")


def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """The place of each value [..., m] in its sorted row [..., n]: before ("left") or after ("right") its equals.

    ValueError for another side; InvalidArgumentError when there is not one row for each row of values. `tf.searchsorted`.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    op = lower_bound_op if side == "left" else upper_bound_op
    sequence, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    length, count = shape_as_tensor(sequence)[-1], shape_as_tensor(values)[-1]
    rows, wanted = reshape(sequence, [-1, length]), reshape(values, [-1, count])
    return reshape(op(rows, wanted, out_type=out_type, name=name), shape_as_tensor(values))
