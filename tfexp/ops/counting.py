"""How often values occur: bin counts and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_gather, cast, comparison, elementwise_binary, reduce
from tfexp.ops.shape_rules import merged_dims, with_rank

dense_bincount_op = define_op(
    "DenseBincount(input: Tidx, size: Tidx, weights: T) -> (output: T) {Tidx: type in [int32,int64]; T: type in "
    "[int32,int64,float,double]; binary_output: bool = false}"
)


def _counts(values: np.ndarray, size: int, weights: np.ndarray, is_binary: bool) -> np.ndarray:
    """One row of counts; values from `size` on are left out."""
    inside = values < size
    if is_binary:
        result = np.zeros(size, weights.dtype)
        result[values[inside]] = 1
        return result
    if not weights.size:
        return np.bincount(values[inside], minlength=size).astype(weights.dtype)
    result = np.zeros(size, weights.dtype)
    np.add.at(result, values[inside], weights[inside])
    return result


def _check(values: np.ndarray, size: int, weights: np.ndarray) -> None:
    if np.any(values < 0):
        raise InvalidArgumentError(None, None, "Input arr must be non-negative!")
    if size < 0:
        raise InvalidArgumentError(None, None, f"size ({size}) must be non-negative")
    if weights.size and weights.shape != values.shape:
        raise InvalidArgumentError(
            None, None, f"`weights` must be the same shape as `arr` or a length-0 `Tensor`, got {list(weights.shape)}"
        )


@dense_bincount_op.shape
def _(values: InputShape, size: InputShape, weights: InputShape) -> TensorShape:
    with_rank(size, 0)
    if values.rank not in (None, 1, 2):
        raise ValueError(f"Shape must be at most rank 2 but is rank {values.rank}")
    if values.known_dims is None:
        return TensorShape(None)
    return TensorShape([*values.known_dims[:-1], None if size.value is None else int(size.value)])


@dense_bincount_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, size: Any, weights: np.ndarray, *, binary_output: bool) -> np.ndarray:
    count = int(size)
    _check(input, count, weights)
    if input.ndim == 1:
        return _counts(input, count, weights, binary_output)
    rows = [_counts(v, count, weights[i] if weights.size else weights, binary_output) for i, v in enumerate(input)]
    return np.stack(rows) if rows else np.zeros((0, count), weights.dtype)


@dense_bincount_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    values, size, weights = op.inputs
    if op.get_attr("binary_output") or weights.shape.num_elements() == 0:
        return [None, None, None]
    # A value adds its weight to its own bin; those past the last bin are left out.
    inside = comparison.less(values, size)
    bins = values * cast.cast(inside, values.dtype)
    picked: Any = array_gather.gather(grad, bins, batch_dims=(values.shape.rank or 1) - 1)
    return [None, None, picked * cast.cast(inside, grad.dtype)]


def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = dtypes.int32, name: Any = None
) -> Tensor:
    """How often each of 0, 1, … occurs in an integer tensor, or the sums of `weights` there. `tf.bincount`.

    The result is as long as the largest value needs, within `minlength` and `maxlength`.
    """
    with name_scope(name, "bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        is_nonempty = array.size(arr) > 0
        size = cast.cast(is_nonempty, dtypes.int32) * (reduce.reduce_max(arr) + 1)
        if minlength is not None:
            minlength = convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32)
            size = elementwise_binary.maximum(minlength, size)
        if maxlength is not None:
            maxlength = convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32)
            size = elementwise_binary.minimum(maxlength, size)
        if weights is not None:
            weights = array.reshape(convert_to_tensor(weights, name="weights"), [-1])
            return dense_bincount_op(array.reshape(arr, [-1]), size, weights)
        values = array.reshape(arr, [-1])
        return dense_bincount_op(values, size, constant([], dtype=dtype))


histogram_fixed_width_op = define_op(
    "HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> (out: dtype) {T: type in [int32,int64,float,"
    "double]; dtype: type in [int32,int64] = int32}"
)


@histogram_fixed_width_op.shape
def _(values: InputShape, value_range: InputShape, nbins: InputShape) -> TensorShape:
    dims = with_rank(value_range, 1).known_dims
    merged_dims(None if dims is None else dims[0], 2)
    with_rank(nbins, 0)
    if nbins.value is None:
        return TensorShape([None])
    if int(nbins.value) <= 0:
        raise ValueError(f"Requires nbins > 0: {int(nbins.value)}")
    return TensorShape([int(nbins.value)])


@histogram_fixed_width_op.kernel("CPU")
def _(ctx: Any, values: np.ndarray, value_range: np.ndarray, nbins: Any, *, dtype: DType) -> np.ndarray:
    if value_range.shape != (2,):
        raise InvalidArgumentError(None, None, "value_range should be a vector of 2 elements.")
    low, high = value_range.tolist()
    count = int(nbins)
    if count <= 0:
        raise InvalidArgumentError(None, None, f"nbins should be a positive number, but got '{count}'")
    if not low < high:
        raise InvalidArgumentError(
            None,
            None,
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{value_range[0]}, {value_range[1]}]'",
        )
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidArgumentError(None, None, "Histogram values must not contain NaN")
    width = (high - low) / count
    bins = np.clip(np.floor((values.ravel().astype(np.float64) - low) / width), 0, count - 1).astype(np.int64)
    return np.bincount(bins, minlength=count).astype(dtype.as_numpy_dtype)


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Counts in bins of equal width; what is outside of `value_range` counts in the first or last. Source: TF 1.15."""
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return histogram_fixed_width_op(values, value_range, nbins, dtype=dtype, name=scope)
