"""Element by element: a sparse tensor and a dense one that broadcasts to it, or two sparse ones. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import invalid
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor
from tfexp.ops import array, array_fill, array_gather, array_join, array_slice, cast, elementwise_unary
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.sparse_layout import NUMBERS, REAL, check_sparse, dim_of, row_major
from tfexp.ops.sparse_math import check_same_shape
from tfexp.ops.sparse_math import dense_add_op as sparse_plus_dense_op

Array = np.ndarray

# --- sparse with dense -------------------------------------------------------------------------------------------------


def _define(name: str) -> Op:
    return define_op(
        f"SparseDenseCwise{name}(sp_indices: int64, sp_values: T, sp_shape: int64, dense: T) -> (output: T) "
        f"{{T: type in [{NUMBERS}]}}"
    )


dense_add_op = _define("Add")
dense_mul_op = _define("Mul")
dense_div_op = _define("Div")


def _attach(op: Op, function: Callable[[Array, Array], Array]) -> None:
    @op.shape
    def _(indices: InputShape, values: InputShape, dims: InputShape, dense: InputShape) -> TensorShape:
        return TensorShape([dim_of(with_rank(indices, 2), 0)])

    @op.kernel("CPU")
    def _(ctx: Any, sp_indices: Array, sp_values: Array, sp_shape: Array, dense: Array) -> Array:
        check_sparse(sp_indices, sp_values, sp_shape)
        rank = len(sp_shape)
        if dense.ndim > rank or any(d not in (1, n) for d, n in zip(reversed(dense.shape), reversed(sp_shape))):
            raise invalid(
                "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                f"{dims_text(sp_shape)} vs. {dims_text(dense.shape)}"
            )
        outside = ((sp_indices < 0) | (sp_indices >= sp_shape)).any(axis=1)
        if outside.any():
            row = int(np.argmax(outside))
            raise invalid(
                "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape: "
                f"indices[{row}] = {dims_text(sp_indices[row])}, shape {dims_text(sp_shape)}"
            )
        # Along a dimension of 1 every element meets the only one there is.
        places = np.where(np.array(dense.shape) == 1, 0, sp_indices[:, rank - dense.ndim :])
        return function(sp_values, dense[tuple(places.T)]).astype(sp_values.dtype, copy=False)


def _divided(values: Array, by: Array) -> Array:
    if values.dtype.kind not in "iu":
        return np.divide(values, by)
    if (by == 0).any():
        raise invalid("SparseDenseCwiseDiv cannot divide by zero, but input dense tensor contains zero")
    # Integer division here rounds towards zero.
    quotients = np.floor_divide(values, by)
    return quotients + ((quotients < 0) & (quotients * by != values))


_attach(dense_add_op, np.add)
_attach(dense_mul_op, np.multiply)
_attach(dense_div_op, _divided)


@dense_add_op.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    raise NotImplementedError("Gradient for SparseDenseCwiseAdd is currently not implemented yet.")


def _met(op: Operation) -> tuple[Any, Any, Any]:
    """(for each sparse element the place of the dense one that it meets, that one, the dense side's shape)."""
    indices, _, dims, dense = op.inputs
    dense_dims = cast.cast(array.shape(dense), dtypes.int64)
    missing = array.expand_dims(array.size(dims) - array.size(dense_dims), 0)  # type: ignore[operator]
    padded = array_join.concat([array_fill.ones(missing, dtypes.int64), dense_dims], 0)
    repeats = dims // padded  # type: ignore[operator]  # bound by ops.overloads
    places = indices // repeats  # type: ignore[operator]
    places = array_slice.slice(places, array_join.concat([[0], missing], 0), [-1, -1])
    return places, array_gather.gather_nd(dense, places), dense_dims


def _dense_grad(op: Operation, places: Any, terms: Any, dense_dims: Any) -> Any:
    return sparse_plus_dense_op(places, terms, dense_dims, array_fill.zeros_like(op.inputs[3]))


@dense_mul_op.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    places, met, dense_dims = _met(op)
    values_grad = grad * met
    terms = grad * op.inputs[1]
    return [None, values_grad, None, _dense_grad(op, places, terms, dense_dims)]


@dense_div_op.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    places, met, dense_dims = _met(op)
    values_grad = grad / met
    slope = elementwise_unary.neg(op.inputs[1]) / elementwise_unary.square(met)  # type: ignore[operator]
    terms = grad * slope
    return [None, values_grad, None, _dense_grad(op, places, terms, dense_dims)]


# --- sparse with sparse ------------------------------------------------------------------------------------------------

_PAIR = "(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64)"
maximum_op = define_op(
    f"SparseSparseMaximum{_PAIR} -> (output_indices: int64, output_values: T) {{T: type in [{REAL}]}}"
).not_differentiable()
minimum_op = define_op(
    f"SparseSparseMinimum{_PAIR} -> (output_indices: int64, output_values: T) {{T: type in [{NUMBERS}]}}"
).not_differentiable()


def _attach_pair(op: Op, function: np.ufunc) -> None:
    @op.shape
    def _(
        a_indices: InputShape,
        a_values: InputShape,
        a_shape: InputShape,
        b_indices: InputShape,
        b_values: InputShape,
        b_shape: InputShape,
    ) -> list[TensorShape]:
        for indices, values, dims in ((a_indices, a_values, a_shape), (b_indices, b_values, b_shape)):
            with_rank(indices, 2)
            with_rank(values, 1)
            with_rank(dims, 1)
        return [TensorShape([None, None]), TensorShape([None])]

    @op.kernel("CPU")
    def _(
        ctx: Any,
        a_indices: Array,
        a_values: Array,
        a_shape: Array,
        b_indices: Array,
        b_values: Array,
        b_shape: Array,
    ) -> list[Array]:
        check_sparse(a_indices, a_values, a_shape)
        check_sparse(b_indices, b_values, b_shape)
        check_same_shape(a_shape, b_shape)
        both = np.concatenate([a_indices, b_indices])
        order = row_major(both)
        ordered = both[order]
        is_new = np.ones(len(both), bool)
        is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        place = np.empty(len(both), np.int64)
        place[order] = np.cumsum(is_new) - 1
        # What one of them lacks is 0.
        sides = np.zeros((2, int(is_new.sum())), a_values.dtype)
        sides[0, place[: len(a_values)]] = a_values
        sides[1, place[len(a_values) :]] = b_values
        return [ordered[is_new], function(sides[0], sides[1])]


_attach_pair(maximum_op, np.maximum)
_attach_pair(minimum_op, np.minimum)


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger element at each place where one of two tensors of a shape has one. Source: `tf.sparse_maximum`."""
    return _pair(maximum_op, "SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller element at each place where one of two tensors of a shape has one. Source: `tf.sparse_minimum`."""
    return _pair(minimum_op, "SparseSparseMinimum", sp_a, sp_b, name)


def _pair(op: Op, scope_name: str, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    a, b = as_sparse_tensor(sp_a), as_sparse_tensor(sp_b)
    with name_scope(name, scope_name, [a.indices, a.values, b.indices, b.values]) as scope:
        indices, values = op(*a.parts, *b.parts, name=scope)
    return SparseTensor(indices, values, a.dense_shape)
