"""Choosing by condition: Select, SelectV2 and Where, boolean masks and sequence masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, broadcast_shapes, dims_text
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims, rank, reshape, shape, squeeze
from tfexp.ops.array_fill import range_op, zeros, zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat
from tfexp.ops.broadcast import reduced_gradients
from tfexp.ops.cast import cast, cast_op
from tfexp.ops.comparison import less
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.reduce import reduce_max, reduce_prod
from tfexp.ops.shape_rules import check_alike

# --- select -----------------------------------------------------------------------------------------------------------

select_op = define_op("Select(condition: bool, t: T, e: T) -> (output: T) {T: type}")


@select_op.shape
def _(condition: InputShape, t: InputShape, e: InputShape) -> TensorShape:
    data = merged(t, e)
    chosen = condition.known_dims
    if chosen is None or data.known_dims is None or chosen == ():
        return data
    if len(chosen) == 1 and len(data.known_dims) != 1:
        # A vector chooses whole rows.
        merged(TensorShape(chosen), TensorShape(data.known_dims[:1]))
        return data
    return merged(condition, data)


_BITS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def _chosen(condition: Array, t: Array, e: Array, out: Array | None = None) -> Array:
    """t where `condition` holds, else e; the three broadcast.

    By the bits of the elements, e ^ ((t ^ e) * condition): ten times as fast as np.where, and exact. `out` must be neither
    t nor e.
    """
    bits = _BITS.get(t.dtype.itemsize)
    if bits is None or t.dtype == object:
        return np.where(condition, t, e)
    result = np.empty(np.broadcast_shapes(condition.shape, t.shape, e.shape), t.dtype) if out is None else out
    chosen, t_bits, e_bits = result.view(bits), t.view(bits), e.view(bits)
    np.bitwise_xor(t_bits, e_bits, out=chosen)
    np.multiply(chosen, condition, out=chosen)
    np.bitwise_xor(chosen, e_bits, out=chosen)
    return result


def _kept(condition: Array, t: Array, e: Array, out: Array | None = None) -> Array:
    """t where `condition` holds, else zeros, which are what e is made of; one pass instead of three."""
    result = np.empty(np.broadcast_shapes(condition.shape, t.shape), t.dtype) if out is None else out
    bits = _BITS[t.dtype.itemsize]
    np.multiply(t.view(bits), condition, out=result.view(bits))
    return result


def _blotted(condition: Array, t: Array, e: Array, out: Array | None = None) -> Array:
    """Zeros, which are what t is made of, where `condition` holds, else e."""
    return _kept(np.logical_not(condition), e, t, out)


def _selected(condition: Array, t: Array, e: Array) -> Array:
    t, e, condition = np.asarray(t), np.asarray(e), np.asarray(condition)
    if condition.ndim == 0:
        return t if condition else e
    return _chosen(_as_rows(condition, t.ndim) if condition.ndim == 1 else condition, t, e)


def _as_rows(condition: Array, rank: int) -> Array:
    """A vector, to choose among the first dimension of arrays of this rank."""
    return condition.reshape((-1,) + (1,) * (rank - 1))


@select_op.kernel("CPU", view=True)
def _(ctx: Any, condition: Array, t: Array, e: Array) -> Array:
    dims, then = np.shape(condition), np.shape(t)
    if len(dims) > 1 or len(dims) == len(then) == 1:
        check_alike("Select", condition, t, e)
    elif dims and not then:
        raise ValueError("'then' must be at least a vector, but saw shape: []")
    elif dims and dims[0] != then[0]:
        raise ValueError(f"Number of batches of 'then' must match size of 'cond', but saw: {then[0]} vs. {dims[0]}")
    elif then != np.shape(e):
        sizes = f"{dims_text(then)} vs. {dims_text(np.shape(e))}"
        raise ValueError(f"'then' and 'else' must have the same size.  but received: {sizes}")
    return _selected(condition, t, e)


@select_op.kernel("XLA")
def _(jax: Any, condition: Array, t: Array, e: Array) -> Array:
    return np.where(condition if condition.ndim != 1 else _as_rows(condition, t.ndim), t, e)


@select_op.bind
def _(node: BindRequest) -> Call | None:
    shapes = node.input_shapes
    if not all(s.is_fully_defined() for s in shapes) or len(set(shapes)) > 1 or not shapes[0].rank:
        return None
    fits = _fits_bits(node)
    return (_among_zeros(node) if fits else None) or Call(_chosen, out=fits, pieces=True)


def _fits_bits(node: BindRequest) -> bool:
    dtype = node.output_dtypes[0].as_numpy_dtype
    return dtype is not object and np.dtype(dtype).itemsize in _BITS


def _among_zeros(node: BindRequest) -> Call | None:
    """How to choose from zeros, as gradients do, and something that with the condition has the shape of the result."""
    (condition, t, e), (_, of_t, of_e) = node.input_shapes, node.input_values
    for value, other, function in ((of_e, t, _kept), (of_t, e, _blotted)):
        # By its bits: -0 is something else.
        if value is None or value.view(_BITS[value.itemsize]).any() or not condition.rank or not other.rank:
            continue
        if broadcast_shapes(condition, other) == node.output_shapes[0]:
            return Call(function, out=True, pieces=True)
    return None


@select_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    condition = op.inputs[0]
    none = zeros_like(op.inputs[1])
    return [None, select_op(condition, grad, none), select_op(condition, none, grad)]


select_v2_op = define_op("SelectV2(condition: bool, t: T, e: T) -> (output: T) {T: type}")


@select_v2_op.shape
def _(condition: InputShape, t: InputShape, e: InputShape) -> TensorShape:
    return broadcast_shapes(condition, broadcast_shapes(t, e))


@select_v2_op.kernel("CPU")
def _(ctx: Any, condition: Array, t: Array, e: Array) -> Array:
    t, e = np.asarray(t), np.asarray(e)
    try:
        dims = np.broadcast_shapes(np.shape(condition), t.shape, e.shape)
    except ValueError:
        raise ValueError(
            f"condition {dims_text(np.shape(condition))}, then {dims_text(t.shape)}, and else {dims_text(e.shape)} must be "
            "broadcastable"
        ) from None
    return np.array(np.broadcast_to(_chosen(np.asarray(condition), t, e), dims))


@select_v2_op.kernel("XLA")
def _(jax: Any, condition: Array, t: Array, e: Array) -> Array:
    return np.where(condition, t, e)


@select_v2_op.bind
def _(node: BindRequest) -> Call | None:
    shapes = [*node.input_shapes, *node.output_shapes]
    if not all(s.is_fully_defined() for s in shapes) or not _fits_bits(node):
        return None
    if (call := _among_zeros(node)) is not None:
        return call
    if 0 in (s.rank for s in shapes[:3]):
        return Call(lambda condition, t, e: _chosen(np.asarray(condition), np.asarray(t), np.asarray(e)))
    return Call(_chosen, out=True, pieces=True)


@select_v2_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    condition, x, y = op.inputs
    none = zeros([], dtype=grad.dtype.base_dtype)
    grad_x, grad_y = select_v2_op(condition, grad, none), select_v2_op(condition, none, grad)
    return [
        None,
        reduced_gradients(x, op.outputs[0], grad_x, None)[0],
        reduced_gradients(y, op.outputs[0], grad_y, None)[0],
    ]


where_op = define_op(
    "Where(input: T) -> (index: int64) {T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,"
    "bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64,bool] = bool}"
)


@where_op.shape
def _(input: InputShape) -> TensorShape:
    return TensorShape([None, input.rank])


@where_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    return np.argwhere(input).astype(np.int64, copy=False)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Elements (or, by a vector, rows) of `x` where `condition` holds, else of `y`. Source: `tf.where`, TF 1.15.

    Without x and y: the coordinates of the true elements, an int64 row for each. ValueError when only one is given.
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
            coordinates: Tensor = where_op(condition, name=scope)
            return coordinates
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    result: Tensor = select_op(condition, x, y, name=name)
    return result


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """As `tf.where`, but condition, x and y broadcast. Source: `tf.where_v2`."""
    if x is None and y is None:
        return where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    result: Tensor = select_v2_op(condition, x, y, name=name)
    return result


# --- masks ------------------------------------------------------------------------------------------------------------


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Tensor:
    """The slices of `tensor` where `mask` (of the leading dimensions, or those from `axis` on) is true. `tf.boolean_mask`.

    ValueError when the mask is a scalar, of unknown rank, or does not have the shape of those dimensions.
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        mask_shape, count = mask.get_shape(), mask.get_shape().ndims
        if count == 0:
            raise ValueError("mask cannot be scalar.")
        if count is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is ok, "
                "but shape=None is not."
            )
        axis = 0 if axis is None else axis
        start = static_value(axis) if isinstance(axis, Tensor) else axis
        if start is not None:
            start = int(start)
            tensor.get_shape()[start : start + count].assert_is_compatible_with(mask_shape)
        first = axis if start is None else start
        masked = reduce_prod(shape(tensor)[first : first + count], [0])  # type: ignore[index]  # bound by ops.overloads
        before = shape(tensor)[:first]  # type: ignore[index]
        after = shape(tensor)[first + count :]  # type: ignore[index]
        static = tensor.get_shape()
        tensor = reshape(tensor, concat([before, [masked], after], 0))
        if start is not None:
            flat = TensorShape([static[start : start + count].num_elements()])
            tensor.set_shape(static[:start].concatenate(flat).concatenate(static[start + count :]))
        mask = reshape(mask, [-1])
        return gather(tensor, squeeze(where(mask), axis=[1]), axis=axis)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """mask[i, j] = (j < lengths[i]), for j < `maxlen` (the longest if None). Source: `tf.sequence_mask`."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            # Of any rank by ops of other names than those of `reduce_max`, as in TensorFlow.
            dims = None if lengths.shape.ndims is not None else range_op(0, rank(lengths), 1)
            maxlen = reduce_max(lengths, dims)
            maxlen = maximum(constant(0, maxlen.dtype), maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.get_shape().ndims not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        columns = range_op(constant(0, maxlen.dtype), maxlen, constant(1, maxlen.dtype))
        rows = cast_op(expand_dims(lengths, -1), DstT=maxlen.dtype.base_dtype)
        result = less(columns, rows)
        return result if dtype is None or result.dtype.is_compatible_with(dtype) else cast(result, dtype)
