"""Reductions over axes: the ops and `tf.reduce_*`. Their gradients are in `reduce_gradients`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill
from tfexp.ops.scalar_arrays import scalar_array
from tfexp.ops.shape_rules import with_rank_at_most

Reducer = Callable[..., np.ndarray]

# `ufunc.reduce` takes `out=None`, which its type stubs do not say.
_ADD: Any = np.add.reduce
_MULTIPLY: Any = np.multiply.reduce
_MAXIMUM: Any = np.maximum.reduce
_MINIMUM: Any = np.minimum.reduce
_AND: Any = np.logical_and.reduce
_OR: Any = np.logical_or.reduce

sum_ = define_op(
    "Sum(input: T, reduction_indices: Tidx) -> (output: T) {keep_dims: bool = false; T: type in [float,double,int32,"
    "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
    "uint64]; Tidx: type in [int32,int64] = int32}"
)
mean_ = define_op(
    "Mean(input: T, reduction_indices: Tidx) -> (output: T) {keep_dims: bool = false; T: type in [float,double,int32,"
    "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
    "uint64]; Tidx: type in [int32,int64] = int32}"
)
prod_ = define_op(
    "Prod(input: T, reduction_indices: Tidx) -> (output: T) {keep_dims: bool = false; T: type in [float,double,int32,"
    "uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,"
    "uint64]; Tidx: type in [int32,int64] = int32}"
)
max_ = define_op(
    "Max(input: T, reduction_indices: Tidx) -> (output: T) {keep_dims: bool = false; T: type in [float,double,int32,"
    "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,quint16]; Tidx: type in "
    "[int32,int64] = int32}"
)
min_ = define_op(
    "Min(input: T, reduction_indices: Tidx) -> (output: T) {keep_dims: bool = false; T: type in [float,double,int32,"
    "uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64,qint8,quint8,qint32,qint16,quint16]; Tidx: type in "
    "[int32,int64] = int32}"
)
all_ = define_op(
    "All(input: bool, reduction_indices: Tidx) -> (output: bool) {keep_dims: bool = false; Tidx: type in [int32,"
    "int64] = int32}"
)
any_ = define_op(
    "Any(input: bool, reduction_indices: Tidx) -> (output: bool) {keep_dims: bool = false; Tidx: type in [int32,"
    "int64] = int32}"
)


# --- shapes -------------------------------------------------------------------------------------------------------


def reduced_static_shape(x: InputShape, axes: InputShape, *, keep_dims: bool) -> TensorShape:
    """The shape rule of every reduction; ValueError for an axis that the input does not have."""
    rank = x.rank
    with_rank_at_most(axes, 1)
    value = axes.value
    if value is None or rank is None:
        return TensorShape([None] * rank if keep_dims and rank is not None else None)
    reduced = set()
    for axis in np.ravel(value).tolist():
        if not -rank <= axis < rank:
            raise ValueError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")
        reduced.add(axis % rank)
    dims = x.known_dims or ()
    if keep_dims:
        return TensorShape([1 if i in reduced else d for i, d in enumerate(dims)])
    return TensorShape([d for i, d in enumerate(dims) if i not in reduced])


def normalized_axes(axes: np.ndarray, rank: int) -> tuple[int, ...]:
    """Axes as non-negative ints, each once; InvalidArgumentError when one is out of range."""
    found: dict[int, None] = {}
    for axis in np.ravel(axes).tolist():
        if not -rank <= axis < rank:
            raise InvalidArgumentError(None, None, f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)")
        found[axis % rank] = None
    return tuple(found)


# --- kernels ------------------------------------------------------------------------------------------------------


def _sum(x: np.ndarray, axes: tuple[int, ...], keep_dims: bool, out: np.ndarray | None = None) -> np.ndarray:
    return _ADD(x, axis=axes, dtype=x.dtype, out=out, keepdims=keep_dims)


def _prod(x: np.ndarray, axes: tuple[int, ...], keep_dims: bool, out: np.ndarray | None = None) -> np.ndarray:
    return _MULTIPLY(x, axis=axes, dtype=x.dtype, out=out, keepdims=keep_dims)


def _mean(x: np.ndarray, axes: tuple[int, ...], keep_dims: bool, out: np.ndarray | None = None) -> np.ndarray:
    total = _ADD(x, axis=axes, dtype=x.dtype, out=out, keepdims=keep_dims)
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    if x.dtype.kind in "iu":
        # Integers are divided as in C: towards zero. The mean of nothing is nothing.
        if count == 0:
            return total
        quotient = np.trunc(np.divide(total, count)).astype(x.dtype)
        if out is None:
            return quotient
        out[...] = quotient
        return out
    return np.divide(total, np.asarray(count, total.dtype), out=out)


def _max(x: np.ndarray, axes: tuple[int, ...], keep_dims: bool, out: np.ndarray | None = None) -> np.ndarray:
    if x.size == 0:
        return _MAXIMUM(x, axis=axes, out=out, keepdims=keep_dims, initial=_lowest(x.dtype))
    return _MAXIMUM(x, axis=axes, out=out, keepdims=keep_dims)


def _min(x: np.ndarray, axes: tuple[int, ...], keep_dims: bool, out: np.ndarray | None = None) -> np.ndarray:
    if x.size == 0:
        return _MINIMUM(x, axis=axes, out=out, keepdims=keep_dims, initial=_highest(x.dtype))
    return _MINIMUM(x, axis=axes, out=out, keepdims=keep_dims)


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else dtype.type(-np.inf)


def _highest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else dtype.type(np.inf)


def _all(x: np.ndarray, axes: tuple[int, ...], keep_dims: bool, out: np.ndarray | None = None) -> np.ndarray:
    return _AND(x, axis=axes, out=out, keepdims=keep_dims)


def _any(x: np.ndarray, axes: tuple[int, ...], keep_dims: bool, out: np.ndarray | None = None) -> np.ndarray:
    return _OR(x, axis=axes, out=out, keepdims=keep_dims)


def _attach(op: Op, reducer: Reducer) -> None:
    op.shape(reduced_static_shape)

    @op.kernel("CPU")
    def _(ctx: Any, x: np.ndarray, axes: np.ndarray, *, keep_dims: bool) -> np.ndarray:
        x = np.asarray(x)
        return reducer(x, normalized_axes(axes, x.ndim), keep_dims)

    @op.kernel("XLA", static=("reduction_indices",))
    def _(jax: Any, x: np.ndarray, axes: np.ndarray, *, keep_dims: bool) -> np.ndarray:
        return reducer(x, normalized_axes(axes, x.ndim), keep_dims)

    @op.bind
    def _(node: BindRequest) -> Call | None:
        axes, shape = node.input_values[1], node.input_shapes[0]
        if axes is None or shape.rank is None:
            return None
        known, keep_dims = normalized_axes(axes, shape.rank), node.attrs["keep_dims"]
        if node.output_dtypes[0].is_floating and op in (sum_, mean_) and shape.is_fully_defined():
            if op is sum_ and _is_column_sum(node, known):
                return _column_sum(shape.as_list()[0], node.output_dtypes[0].as_numpy_dtype, keep_dims)
            return _bound_floats(op, shape.as_list(), known, node.output_dtypes[0].as_numpy_dtype, keep_dims)
        return Call(lambda x, axes, out=None: reducer(np.asarray(x), known, keep_dims, out), out=True)


for _op, _reducer in (
    (sum_, _sum),
    (mean_, _mean),
    (prod_, _prod),
    (max_, _max),
    (min_, _min),
    (all_, _all),
    (any_, _any),
):
    _attach(_op, _reducer)


def _bound_floats(op: Op, dims: list[Any], axes: tuple[int, ...], dtype: Any, keep_dims: bool) -> Call:
    """Sum and Mean of floats with all that is known put in: arguments by position, and the divisor made once."""
    axis = None if len(axes) == len(dims) and not keep_dims else axes
    if op is sum_:
        return Call(lambda x, _, out=None: _ADD(x, axis, None, out, keep_dims), out=True)
    count = scalar_array(math.prod(dims[a] for a in axes), np.dtype(dtype))
    return Call(lambda x, _, out=None: np.divide(_ADD(x, axis, None, out, keep_dims), count, out), out=True)


def _is_column_sum(node: BindRequest, axes: tuple[int, ...]) -> bool:
    shape = node.input_shapes[0]
    if axes != (0,) or shape.rank != 2 or not shape.is_fully_defined():
        return False
    rows, columns = shape.known_dims  # type: ignore[misc]
    return node.output_dtypes[0].name in ("float32", "float64") and rows >= 8 and columns >= 8  # type: ignore[operator]


def _column_sum(rows: Any, dtype: Any, keep_dims: bool) -> Call:
    """ones @ x, which BLAS does in a third of the time that `add.reduce` takes down the columns."""
    ones = np.ones(rows, dtype)

    def column_sum(x: np.ndarray, axes: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            total = np.matmul(ones, x)
            return total[np.newaxis] if keep_dims else total
        np.matmul(ones, x, out=out[0] if keep_dims else out)
        return out

    return Call(column_sum, out=True)


# --- public forms -------------------------------------------------------------------------------------------------


def axes_or_all(x: Any, axis: Any) -> Any:
    """`axis`, or all axes of x: a constant where the rank is known (and not 0), else computed in the graph."""
    if axis is not None:
        return axis
    shape = getattr(x, "shape", None)  # also of what becomes a tensor later: IndexedSlices, partitioned variables
    rank = shape.ndims if isinstance(shape, TensorShape) else None
    if rank:
        return constant(np.arange(rank), dtype=dtypes.int32)
    return array_fill.range(0, array.rank(x))


def _reduce(
    op: Op, input_tensor: Any, axis: Any, keepdims: Any, name: str | None, reduction_indices: Any, keep_dims: Any
) -> Tensor:
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    if not isinstance(input_tensor, Tensor) and hasattr(input_tensor, "_as_graph_element"):
        input_tensor = convert_to_tensor(input_tensor)
    result = op(input_tensor, axes_or_all(input_tensor, axis), keep_dims=keepdims, name=name)
    return known_scalar(result, axis, keepdims)


def known_scalar(result: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """Over all axes without keeping them, the result is a scalar even where the rank is unknown."""
    if axis is None and not keepdims and not result.shape.is_fully_defined():
        result.set_shape(())
    return result


def reduce_sum(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """The sum over `axis` (an int, a list, a tensor; None: all axes), kept as 1 with `keepdims`. `tf.reduce_sum`."""
    return _reduce(sum_, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_mean(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """The mean over `axis`, see `reduce_sum`; of integers an integer. `tf.reduce_mean`."""
    return _reduce(mean_, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_prod(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """The product over `axis`, see `reduce_sum`. `tf.reduce_prod`."""
    return _reduce(prod_, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_max(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """The largest element over `axis`, see `reduce_sum`; of nothing, the lowest value. `tf.reduce_max`."""
    return _reduce(max_, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_min(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """The smallest element over `axis`, see `reduce_sum`; of nothing, the highest value. `tf.reduce_min`."""
    return _reduce(min_, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_all(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """Whether all (of bool elements) are true over `axis`, see `reduce_sum`. `tf.reduce_all`."""
    return _reduce(all_, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


def reduce_any(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """Whether any (of bool elements) is true over `axis`, see `reduce_sum`. `tf.reduce_any`."""
    return _reduce(any_, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)
