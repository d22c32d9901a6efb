"""Segment reductions over rows that are chosen by index: the sums behind sparse embedding look-ups.

`tf.sparse_segment_{sum,mean,sqrt_n}`: row `indices[i]` of `data` goes into segment `segment_ids[i]`, which are sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import array
from tfexp.ops.segment import check_increasing, reduced_segments
from tfexp.ops.shape_rules import with_rank, with_rank_at_least

_TYPES = {
    "Sum": "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64",
    "Mean": "bfloat16,half,float,double",
    "SqrtN": "bfloat16,half,float,double",
}


def _divisors(kind: str, sizes: np.ndarray) -> np.ndarray:
    """What a segment of that many rows is divided by."""
    if kind == "Sum":
        return np.ones_like(sizes)
    sizes = np.maximum(sizes, 1)
    return sizes if kind == "Mean" else np.sqrt(sizes)


def _check(indices: np.ndarray, ids: np.ndarray, rows: int, segments: int | None) -> None:
    if indices.shape != ids.shape:
        raise InvalidArgumentError(None, None, "segment_ids and indices should have same size.")
    if segments is not None and ids.size and ids[-1] >= segments:
        raise InvalidArgumentError(None, None, "segment ids must be < num_segments")
    check_increasing(ids, segments)
    outside = np.flatnonzero((indices < 0) | (indices >= rows))
    if outside.size:
        i = int(outside[0])
        raise InvalidArgumentError(None, None, f"Bad: indices[{i}] == {indices[i]} out of range [0, {rows})")


def _check_gradient(indices: np.ndarray, ids: np.ndarray, rows: int, segments: int) -> None:
    if indices.shape != ids.shape:
        raise InvalidArgumentError(None, None, "segment_ids and indices should have same size.")
    if ids.size and ids[-1] >= segments:
        raise InvalidArgumentError(None, None, "Invalid number of segments")
    for what, values, end in (("Segment id", ids, segments), ("Index", indices, rows)):
        outside = values[(values < 0) | (values >= end)]
        if outside.size:
            raise InvalidArgumentError(None, None, f"{what} {outside[0]} out of range [0, {end}).")


def _reduce(kind: str, data: np.ndarray, indices: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    sums = reduced_segments(np.add, data[indices], ids, count, 0)
    if kind == "Sum":
        return sums
    divisors = _divisors(kind, np.bincount(ids, minlength=count))
    return np.divide(sums, divisors.astype(data.dtype).reshape(-1, *[1] * (data.ndim - 1)))


def _shape(data: InputShape, indices: InputShape, ids: InputShape, segments: int | None) -> TensorShape:
    merged(with_rank(indices, 1), with_rank(ids, 1))
    dims = with_rank_at_least(data, 1).known_dims
    return TensorShape(None if dims is None else [segments, *dims[1:]])


def _number(count: InputShape) -> int | None:
    """The value of a scalar, where it is known."""
    with_rank(count, 0)
    return None if count.value is None else int(count.value)


def _define(kind: str) -> tuple[Op, Op]:
    """The ops of one kind, without and with `num_segments`, and their gradient op."""
    plain = define_op(
        f"SparseSegment{kind}(data: T, indices: Tidx, segment_ids: int32) -> (output: T) {{T: type in [{_TYPES[kind]}]; "
        "Tidx: type in [int32,int64] = int32}"
    )
    counted = define_op(
        f"SparseSegment{kind}WithNumSegments(data: T, indices: Tidx, segment_ids: int32, num_segments: Tnumsegments) -> "
        f"(output: T) {{T: type in [{_TYPES[kind]}]; Tidx: type in [int32,int64] = int32; "
        "Tnumsegments: type in [int32,int64] = int32}"
    )
    backward = define_op(
        f"SparseSegment{kind}Grad(grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32) -> (output: T) "
        "{T: type in [bfloat16,half,float,double]; Tidx: type in [int32,int64] = int32}"
    )

    plain.shape(lambda data, indices, ids: _shape(data, indices, ids, None))

    @plain.kernel("CPU")
    def _(ctx: Any, data: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
        _check(indices, segment_ids, data.shape[0], None)
        return _reduce(kind, data, indices, segment_ids, int(segment_ids[-1]) + 1 if segment_ids.size else 0)

    @counted.shape
    def _(data: InputShape, indices: InputShape, ids: InputShape, count: InputShape) -> TensorShape:
        return _shape(data, indices, ids, _number(count))

    @counted.kernel("CPU")
    def _(ctx: Any, data: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray, num_segments: Any) -> np.ndarray:
        _check(indices, segment_ids, data.shape[0], int(num_segments))
        return _reduce(kind, data, indices, segment_ids, int(num_segments))

    @backward.shape
    def _(grad: InputShape, indices: InputShape, ids: InputShape, rows: InputShape) -> TensorShape:
        return _shape(grad, indices, ids, _number(rows))

    @backward.kernel("CPU")
    def _(ctx: Any, grad: np.ndarray, indices: np.ndarray, segment_ids: np.ndarray, output_dim0: Any) -> np.ndarray:
        _check_gradient(indices, segment_ids, int(output_dim0), grad.shape[0])
        shares = grad
        if kind != "Sum":
            divisors = _divisors(kind, np.bincount(segment_ids, minlength=grad.shape[0]))
            shares = np.divide(grad, divisors.astype(grad.dtype).reshape(-1, *[1] * (grad.ndim - 1)))
        result = np.zeros((int(output_dim0), *grad.shape[1:]), grad.dtype)
        np.add.at(result, indices, shares[segment_ids])
        return result

    @plain.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
        rows = array.shape(op.inputs[0])[0]
        return [backward(grad, op.inputs[1], op.inputs[2], rows), None, None]

    @counted.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
        rows = array.shape(op.inputs[0])[0]
        return [backward(grad, op.inputs[1], op.inputs[2], rows), None, None, None]

    return plain, counted


_sum, _sum_counted = _define("Sum")
_mean, _mean_counted = _define("Mean")
_sqrt_n, _sqrt_n_counted = _define("SqrtN")


def sparse_segment_sum(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """The sums of the chosen rows of each segment, 0 for none. `tf.sparse_segment_sum`."""
    if num_segments is None:
        return _sum(data, indices, segment_ids, name=name)
    return _sum_counted(data, indices, segment_ids, num_segments, name=name)


def sparse_segment_mean(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """The means of the chosen rows of each segment, 0 for none. `tf.sparse_segment_mean`."""
    if num_segments is None:
        return _mean(data, indices, segment_ids, name=name)
    return _mean_counted(data, indices, segment_ids, num_segments, name=name)


def sparse_segment_sqrt_n(
    data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
) -> Tensor:
    """The sums of the chosen rows, divided by the root of their number. `tf.sparse_segment_sqrt_n`."""
    if num_segments is None:
        return _sqrt_n(data, indices, segment_ids, name=name)
    return _sqrt_n_counted(data, indices, segment_ids, num_segments, name=name)
