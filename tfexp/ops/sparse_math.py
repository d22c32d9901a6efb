"""Sums of sparse tensors with sparse and dense ones, and matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_gather, array_order, matmul
from tfexp.ops.segment import reduced_segments
from tfexp.ops.shape_rules import merged_dims, with_rank
from tfexp.ops.sparse_layout import NUMBERS, REAL, check_ranks, check_sparse, dim_of, matches, row_major, taken

Array = np.ndarray


# --- sparse + sparse ---------------------------------------------------------------------------------------------------


def check_same_shape(a_shape: Array, b_shape: Array) -> None:
    """InvalidArgumentError unless the two operands have one shape."""
    if len(a_shape) != len(b_shape):
        shapes = " and ".join(" ".join(map(str, dims)) for dims in (a_shape, b_shape))
        raise invalid(f"Operands do not have the same ranks; got shapes: {shapes}")
    if (a_shape != b_shape).any():
        d = int(np.argmax(a_shape != b_shape))
        raise invalid(f"Operands' shapes do not match: got {a_shape[d]} and {b_shape[d]} for dimension {d}")


add_op = define_op(
    "SparseAdd(a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, "
    f"thresh: Treal) -> (sum_indices: int64, sum_values: T, sum_shape: int64) {{T: type in [{NUMBERS}]; "
    f"Treal: type in [{REAL}]}}"
)
add_grad_op = define_op(
    "SparseAddGrad(backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64) -> "
    f"(a_val_grad: T, b_val_grad: T) {{T: type in [{NUMBERS}]}}"
).not_differentiable()


@add_op.shape
def _(
    a_indices: InputShape,
    a_values: InputShape,
    a_shape: InputShape,
    b_indices: InputShape,
    b_values: InputShape,
    b_shape: InputShape,
    thresh: InputShape,
) -> list[TensorShape]:
    with_rank(a_indices, 2)
    with_rank(b_indices, 2)
    with_rank(thresh, 0)
    dims = with_rank(a_shape, 1)
    merged(dims, with_rank(b_shape, 1))
    return [TensorShape([None, dim_of(dims, 0)]), TensorShape([None]), dims]


@add_op.kernel("CPU")
def _(
    ctx: Any,
    a_indices: Array,
    a_values: Array,
    a_shape: Array,
    b_indices: Array,
    b_values: Array,
    b_shape: Array,
    thresh: Array,
) -> list[Array]:
    if a_values.ndim != 1 or b_values.ndim != 1:
        sizes = f"{dims_text(a_values.shape)} and {dims_text(b_values.shape)}"
        raise invalid(f"Input values should be vectors but received shapes: {sizes}")
    if len(a_values) != len(a_indices) or len(b_values) != len(b_indices):
        raise invalid(
            f"Expected {len(a_indices)} and {len(b_indices)} non-empty input values, got {len(a_values)} and {len(b_values)}"
        )
    check_sparse(a_indices, a_values, a_shape)
    check_sparse(b_indices, b_values, b_shape)
    check_same_shape(a_shape, b_shape)
    everything = np.concatenate([a_indices, b_indices])
    order = row_major(everything)
    indices, values = everything[order], np.concatenate([a_values, b_values])[order]
    is_new = np.ones(len(indices), bool)
    is_new[1:] = (indices[1:] != indices[:-1]).any(axis=1)
    sums = reduced_segments(np.add, values, np.cumsum(is_new) - 1, int(is_new.sum()), 0)
    # An element of one operand alone stays, however small; a sum that is NaN compares false and goes.
    kept = (np.diff(np.append(np.flatnonzero(is_new), len(indices))) == 1) | (np.abs(sums) >= thresh)
    return [indices[is_new][kept], sums[kept], a_shape.copy()]


@add_op.gradient
def _(op: Operation, unused: Any, grad: Tensor, *others: Any) -> list[Any]:
    a, b = add_grad_op(grad, op.inputs[0], op.inputs[3], op.outputs[0])
    return [None, a, None, None, b, None, None]


@add_grad_op.shape
def _(grad: InputShape, a: InputShape, b: InputShape, total: InputShape) -> list[TensorShape]:
    with_rank(grad, 1)
    with_rank(total, 2)
    return [TensorShape([dim_of(with_rank(x, 2), 0)]) for x in (a, b)]


@add_grad_op.kernel("CPU")
def _(ctx: Any, backprop_val_grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array) -> list[Array]:
    if len(backprop_val_grad) != len(sum_indices):
        raise invalid(
            "# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got "
            f"{len(backprop_val_grad)} and {len(sum_indices)}"
        )
    shapes = [indices.shape for indices in (a_indices, b_indices, sum_indices)]
    if any(len(dims) != 2 for dims in shapes):
        raise invalid(f"Input indices should be matrices but received shapes: {' and '.join(map(dims_text, shapes))}")
    ranks = [dims[1] for dims in shapes]
    if len(set(ranks)) > 1:
        raise invalid(f"The densified operands should have the same ndims; for A, B, sum got: {', '.join(map(str, ranks))}")
    return [taken(backprop_val_grad, matches(indices, sum_indices)) for indices in (a_indices, b_indices)]


# --- sparse + dense ----------------------------------------------------------------------------------------------------

dense_add_op = define_op(
    "SparseTensorDenseAdd(a_indices: Tindices, a_values: T, a_shape: Tindices, b: T) -> (output: T) "
    f"{{T: type in [{NUMBERS}]; Tindices: type in [int32,int64]}}"
)


@dense_add_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape, b: InputShape) -> TensorShape:
    check_ranks(indices, values, dims)
    return b


@dense_add_op.kernel("CPU")
def _(ctx: Any, a_indices: Array, a_values: Array, a_shape: Array, b: Array) -> Array:
    check_sparse(a_indices, a_values, a_shape)
    if len(a_shape) != b.ndim:
        raise invalid(f"Two operands have different ranks; received: {len(a_shape)} and {b.ndim}")
    wrong = np.flatnonzero(a_shape != b.shape)
    if len(wrong):
        d = int(wrong[0])
        raise invalid(
            f"Dimension {d} does not equal (no broadcasting is supported): sparse side {a_shape[d]} vs dense side "
            f"{b.shape[d]}"
        )
    outside = np.argwhere((a_indices < 0) | (a_indices >= b.shape))
    if len(outside):
        row, d = outside[0]
        raise invalid(
            f"Sparse tensor has an invalid index on dimension {d}: a_indices({row},{d}) = {a_indices[row, d]}, dense tensor "
            f"shape: {' '.join(map(str, b.shape))}"
        )
    result = b.copy()
    np.add.at(result, tuple(a_indices.T), a_values)
    return result


@dense_add_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    return [None, array_gather.gather_nd(grad, op.inputs[0]), None, grad]


# --- sparse @ dense ----------------------------------------------------------------------------------------------------

matmul_op = define_op(
    "SparseTensorDenseMatMul(a_indices: Tindices, a_values: T, a_shape: int64, b: T) -> (product: T) {T: type; "
    "Tindices: type in [int32,int64] = int64; adjoint_a: bool = false; adjoint_b: bool = false}"
)


@matmul_op.shape
def _(
    indices: InputShape, values: InputShape, dims: InputShape, b: InputShape, *, adjoint_a: bool, adjoint_b: bool
) -> TensorShape:
    with_rank(indices, 2)
    with_rank(values, 1)
    rows, inner = with_rank(dims.value_as_shape, 2).known_dims  # type: ignore[misc]
    left, right = with_rank(b, 2).known_dims  # type: ignore[misc]
    if adjoint_a:
        rows, inner = inner, rows
    if adjoint_b:
        left, right = right, left
    merged_dims(inner, left)
    return TensorShape([rows, right])


@matmul_op.kernel("CPU")
def _(ctx: Any, a_indices: Array, a_values: Array, a_shape: Array, b: Array, *, adjoint_a: bool, adjoint_b: bool) -> Array:
    if b.ndim != 2:
        raise invalid("Tensor 'b' is not a matrix")
    if len(a_shape) != 2:
        raise invalid("Tensor 'a_shape' must have 2 elements")
    check_sparse(a_indices, a_values, a_shape)
    first, second = (1, 0) if adjoint_a else (0, 1)
    rows, inner = int(a_shape[first]), int(a_shape[second])
    right = b.T.conj() if adjoint_b else b
    if inner != len(right):
        raise invalid(
            f"Cannot multiply A and B because inner dimension does not match: {inner} vs. {len(right)}.  Did you forget a "
            f"transpose?  Dimensions of A: [{rows}, {inner}).  Dimensions of B: {dims_text(b.shape)}"
        )
    for letter, column, limit in (("k", second, inner), ("m", first, rows)):
        bad = (a_indices[:, column] < 0) | (a_indices[:, column] >= limit)
        if bad.any():
            i = int(np.argmax(bad))
            raise invalid(f"{letter} ({a_indices[i, column]}) from index[{i},{column}] out of bounds (>={limit})")
    values = a_values.conj() if adjoint_a else a_values
    order = np.argsort(a_indices[:, first], kind="stable")
    terms = values[order, np.newaxis] * right[a_indices[order, second]]
    return reduced_segments(np.add, terms, a_indices[order, first], rows, 0)


@matmul_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    indices, values, dims, b = op.inputs
    adjoint_a, adjoint_b = op.attrs["adjoint_a"], op.attrs["adjoint_b"]
    b_grad = matmul_op(indices, values, dims, grad, adjoint_a=not adjoint_a)
    if adjoint_b:
        b_grad = array_order.matrix_transpose(b_grad, conjugate=True)
    rows, columns = indices[:, 0], indices[:, 1]  # type: ignore[index]  # bound by ops.overloads
    if adjoint_a:
        rows, columns = columns, rows
    left = array_gather.gather(grad, rows)
    right = array_gather.gather(array_order.transpose(b) if adjoint_b else b, columns)
    # An inner product for each element. Both factors are conjugated, one of them or none, as in the gradient of a product.
    left = array.expand_dims(left, -1 if adjoint_a else -2)
    both_or_none = adjoint_a == adjoint_b
    right = array.expand_dims(right, -2 if both_or_none else -1)
    products = matmul.matmul(left, right, adjoint_a=adjoint_a, adjoint_b=both_or_none)
    return [None, array.squeeze(products, axis=[-2, -1]), None, b_grad]
