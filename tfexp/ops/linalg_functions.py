"""Functions of matrices: LU factors, square roots, ranks, pseudo-inverses; matrices times vectors; normalisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_mask, cast, comparison, reduce
from tfexp.ops.linalg import svd
from tfexp.ops.matmul import matmul
from tfexp.ops.norm import norm
from tfexp.ops.shape_rules import merged_dims, with_rank_at_least

lu_op = define_op(
    "Lu(input: T) -> (lu: T, p: output_idx_type) {T: type in [double,float,half,complex64,complex128]; output_idx_type: "
    "type in [int32,int64] = int32}"
)


@lu_op.shape
def _(input: InputShape) -> list[TensorShape]:
    dims = with_rank_at_least(input, 2).known_dims
    if dims is None:
        return [TensorShape(None)] * 2
    size = merged_dims(dims[-2], dims[-1])
    return [TensorShape([*dims[:-2], size, size]), TensorShape([*dims[:-2], size])]


@lu_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, output_idx_type: DType) -> list[np.ndarray]:
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise InvalidArgumentError(None, None, f"Input matrix must be square, got shape {list(input.shape)}")
    n = input.shape[-1]
    wide = np.float32 if input.dtype == np.float16 else input.dtype
    lu = input.astype(wide).reshape(math.prod(input.shape[:-2]), n, n)
    order = np.tile(np.arange(n), (lu.shape[0], 1))
    each = np.arange(lu.shape[0])
    # A column is eliminated after the ones before it: columns follow one another, all matrices go together.
    for k in range(n):
        pivot = k + np.argmax(np.abs(lu[:, k:, k]), axis=1)
        lu[each, k], lu[each, pivot] = lu[each, pivot], lu[each, k].copy()
        order[each, k], order[each, pivot] = order[each, pivot], order[each, k].copy()
        if not np.all(lu[:, k, k]):
            raise InvalidArgumentError(None, None, "Input is not invertible.")
        lu[:, k + 1 :, k] /= lu[:, k, k, None]
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, None, k, k + 1 :]
    return [
        lu.astype(input.dtype).reshape(input.shape),
        order.astype(output_idx_type.as_numpy_dtype).reshape(input.shape[:-1]),
    ]


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """(lu, p): unit lower and upper triangles in one matrix, and the permutation of rows: input[p] = L U. `tf.linalg.lu`."""
    return lu_op(input, output_idx_type=output_idx_type, name=name)


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrices a [..., m, n] times vectors b [..., n]. `tf.linalg.matvec`."""
    with name_scope(name, "MatVec", [a, b]):
        column = array.expand_dims(b, axis=-1)
        product = matmul(
            a, column, transpose_a=transpose_a, adjoint_a=adjoint_a, a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse
        )
        return array.squeeze(product, axis=-1)


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(tensor / norm, norm), the norm along `axis` with the dimensions kept. `tf.linalg.normalize`."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = cast.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """How many singular values exceed `tol`: by default eps x larger side x largest. `tf.linalg.matrix_rank`.

    InvalidArgumentError or ValueError, with `validate_args`, for fewer than two dimensions.
    """
    with name_scope(name, "matrix_rank", [a, tol]):
        a = convert_to_tensor(a, name="a", dtype_hint=dtypes.float32)
        if validate_args:
            with_rank_at_least(a.shape, 2)
        values = svd(a, compute_uv=False)
        if tol is None:
            sides = a.shape.known_dims
            if sides is not None and None not in sides[-2:]:
                larger: Any = np.int64(max(int(d or 0) for d in sides[-2:]))
            else:
                larger = reduce.reduce_max(array.shape(a)[-2:])
            eps = np.finfo(a.dtype.real_dtype.as_numpy_dtype).eps
            tol = eps * cast.cast(larger, values.dtype) * reduce.reduce_max(values, axis=-1, keepdims=True)
        return reduce.reduce_sum(cast.cast(comparison.greater(values, tol), dtypes.int32), axis=-1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose pseudo-inverses, singular values below `rcond` times the largest counting as 0. `tf.linalg.pinv`."""
    with name_scope(name or "pinv"):
        a = convert_to_tensor(a, name="a")
        if not a.dtype.is_floating:
            raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
        if a.shape.rank is not None and a.shape.rank < 2:
            raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.rank}).")
        if rcond is None:
            dims = a.shape.known_dims
            eps = np.finfo(a.dtype.as_numpy_dtype).eps
            if dims is not None and None not in dims[-2:]:
                rcond = 10.0 * max(int(d or 0) for d in dims[-2:]) * float(eps)
            else:
                sides = array.shape(a)[-2:]
                rcond = 10.0 * eps * cast.cast(reduce.reduce_max(sides), a.dtype)
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reduce.reduce_max(values, axis=-1)
        infinite = np.array(np.inf, a.dtype.as_numpy_dtype)
        kept = array_mask.where_v2(comparison.greater(values, array.expand_dims(cutoff, -1)), values, infinite)
        inverse = matmul(right / array.expand_dims(kept, -2), left, adjoint_b=True)
        dims = a.shape.known_dims
        if dims is not None:
            inverse.set_shape([*dims[:-2], dims[-1], dims[-2]])
        return inverse
