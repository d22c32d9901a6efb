"""The largest entries of each row: TopKV2, and whether a class is among them: InTopKV2."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims, reshape, shape, size
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_gather import gather, scatter_nd
from tfexp.ops.array_join import stack
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_prod
from tfexp.ops.shape_rules import merged_dims, with_rank, with_rank_at_least

# --- top k ------------------------------------------------------------------------------------------------------------

_REAL = "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]"

top_k_v2_op = define_op(
    f"TopKV2(input: T, k: Tk) -> (values: T, indices: index_type) {{sorted: bool = true; {_REAL}; "
    "Tk: type in [int16,int32,int64] = int32; index_type: type in [int16,int32,int64] = int32}"
)


def _top_shape(input: InputShape, k: int | None) -> list[TensorShape]:
    dims = with_rank_at_least(input, 1).known_dims
    if k is not None and k < 0:
        raise ValueError(f"Need k >= 0, got {k}: it must be non-negative but is {k}")
    if dims is None:
        return [TensorShape(None), TensorShape(None)]
    if k is not None and dims[-1] is not None and dims[-1] < k:
        raise ValueError(f"input must have last dimension >= k = {k} but is {dims[-1]}")
    result = TensorShape([*dims[:-1], k])
    return [result, result]


def _largest(input: Array, k: int, index_type: Any) -> list[Array]:
    if np.ndim(input) < 1:
        raise ValueError("input must be >= 1-D, got shape []")
    if k < 0:
        raise ValueError(f"Need k >= 0, got {k}")
    if input.shape[-1] < k:
        raise ValueError(f"input must have at least k columns. Had {input.shape[-1]}, needed {k}")
    found = _few_largest(input, k) if 0 < k <= _FEW and input.size else None
    if found is not None:
        best = found
    else:
        # Of equal values the first comes first: sorting the reversed row in a stable way, from its end.
        backwards = np.argsort(input[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        best = input.shape[-1] - 1 - backwards[..., :k]
    return [np.take_along_axis(input, best, -1), best.astype(index_type)]


_FEW = 64  # entries of a row: a pass for each is quicker than sorting, whatever the length of the rows


def _few_largest(input: Array, k: int) -> Array | None:
    """The places of the k largest entries, found one after another; None where the lowest number there is comes up.

    What was found is overwritten with that number.
    """
    if k == 1:
        first: Array = np.argmax(input, -1)[..., None]
        return first
    if input.dtype.kind not in "fiu" or input.shape[-1] < 2 * k:
        return None
    lowest = np.iinfo(input.dtype).min if input.dtype.kind in "iu" else -np.inf
    rest = input.copy()
    places = np.empty((*input.shape[:-1], k), np.intp)
    for number in range(k):
        place = np.argmax(rest, -1)[..., None]
        if (np.take_along_axis(rest, place, -1) == lowest).any():
            return None
        np.put_along_axis(rest, place, lowest, -1)
        places[..., number : number + 1] = place
    return places


@top_k_v2_op.shape
def _(input: InputShape, k: InputShape) -> list[TensorShape]:
    with_rank(k, 0)
    return _top_shape(input, None if k.value is None else int(k.value))


@top_k_v2_op.kernel("CPU")
def _(ctx: Any, input: Array, k: Array, *, index_type: DType) -> list[Array]:
    if np.ndim(k):
        raise ValueError(f"k must be scalar, got shape {dims_text(np.shape(k))}")
    return _largest(np.asarray(input), int(k), index_type.as_numpy_dtype)


def _top_gradient(op: Operation, grad: Tensor) -> Tensor:
    """The gradient goes to where the values came from, by their places in the flattened input."""
    source_shape, found_shape = shape(op.inputs[0]), shape(op.outputs[1])
    found: Any = op.outputs[1]
    width = gather(cast(found_shape, dtypes.int64), size(found_shape) - 1)  # type: ignore[operator]
    rows: Any = reshape(found, stack([-1, width]))
    row_length = gather(cast(source_shape, dtypes.int64), size(source_shape) - 1)  # type: ignore[operator]
    count: Any = shape(rows)[0]  # type: ignore[index]
    starts = range_(0, cast(count, dtypes.int64) * row_length, row_length)
    places = reshape(rows + cast(expand_dims(starts, -1), dtypes.int32), [-1])
    flat = scatter_nd(expand_dims(places, -1), reshape(grad, [-1]), [reduce_prod(source_shape)])
    return reshape(flat, source_shape)


@top_k_v2_op.gradient
def _(op: Operation, grad: Tensor, _: Any) -> list[Tensor]:
    return [_top_gradient(op, grad), zeros([], dtype=dtypes.int32)]


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """(values, indices) of the k largest entries of each row, the largest first. Source: `tf.nn.top_k`."""
    return top_k_v2_op(input, k, sorted=sorted, name=name)


# --- in top k ---------------------------------------------------------------------------------------------------------

in_top_k_v2_op = define_op(
    "InTopKV2(predictions: float, targets: T, k: T) -> (precision: bool) {T: type in [int32,int64] = int32}"
)


def _precision_shape(predictions: InputShape, targets: InputShape) -> TensorShape:
    return TensorShape([merged_dims(with_rank(predictions, 2).as_list()[0], with_rank(targets, 1).as_list()[0])])


def _in_top(predictions: Array, targets: Array, k: int) -> Array:
    if np.ndim(predictions) != 2:
        raise ValueError("predictions must be 2-dimensional")
    if np.ndim(targets) != 1:
        raise ValueError("targets must be 1-dimensional")
    if len(predictions) != len(targets):
        raise ValueError(f"First dimension of predictions {len(predictions)} must match length of targets {len(targets)}")
    classes = predictions.shape[1]
    known = (targets >= 0) & (targets < classes)
    if not classes:
        return known
    mine = predictions[np.arange(len(targets)), np.where(known, targets, 0)]
    # A tie at the border counts as inside; where anything is not finite, nothing can be said.
    ahead = (predictions > mine[:, None]).sum(1)
    comparable = np.isfinite(mine) & ~(~np.isfinite(predictions) & (ahead < k)[:, None]).any(1)
    result: Array = known & comparable & (ahead < k)
    return result


@in_top_k_v2_op.shape
def _(predictions: InputShape, targets: InputShape, k: InputShape) -> TensorShape:
    with_rank(k, 0)
    return _precision_shape(predictions, targets)


@in_top_k_v2_op.kernel("CPU")
def _(ctx: Any, predictions: Array, targets: Array, k: Array) -> Array:
    return _in_top(predictions, targets, int(k))


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """For each row, whether the target class is among its k largest predictions. Source: `tf.nn.in_top_k`."""
    with name_scope(name, "in_top_k"):
        result: Tensor = in_top_k_v2_op(predictions, targets, k, name=name)
        return result
