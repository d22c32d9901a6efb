"""A sparse tensor cut into several along a dimension: `tf.sparse_split`. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.sparse_layout import check_sparse, dim_of

Array = np.ndarray

split_op = define_op(
    "SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> (output_indices: num_split * int64, "
    "output_values: num_split * T, output_shape: num_split * int64) {num_split: int >= 1; T: type}"
)


@split_op.shape
def _(split_dim: InputShape, indices: InputShape, values: InputShape, dims: InputShape, *, num_split: int) -> Any:
    rank = dim_of(with_rank(dims, 1), 0)
    shapes = (TensorShape([None, rank]), TensorShape([None]), dims)
    return [known for known in shapes for _ in range(num_split)]


@split_op.kernel("CPU")
def _(ctx: Any, split_dim: Array, indices: Array, values: Array, shape: Array, *, num_split: int) -> Any:
    check_sparse(indices, values, shape)
    rank = len(shape)
    if not -rank <= split_dim < rank:
        raise invalid(f"Input axis should be in range [{-rank}, {rank}), got {split_dim}")
    axis = int(split_dim) % rank
    size = int(shape[axis])
    if num_split > size:
        raise invalid(f"Input num_split should be between 1 and the splitting dimension size ({size}), got {num_split}")
    # The first parts are longer by one where the size is no multiple.
    sizes = np.full(num_split, size // num_split, np.int64)
    sizes[: size % num_split] += 1
    starts = np.append(0, np.cumsum(sizes)[:-1])
    part = np.searchsorted(starts, indices[:, axis], side="right") - 1
    order = np.argsort(part, kind="stable")
    cuts = np.cumsum(np.bincount(part, minlength=num_split))[:-1]
    moved = indices.copy()
    moved[:, axis] -= starts[part]
    dims = np.repeat(shape[np.newaxis], num_split, axis=0)
    dims[:, axis] = sizes
    return [*np.split(moved[order], cuts), *np.split(values[order], cuts), *dims]


def sparse_split(
    *,
    sp_input: Any = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """`num_split` parts of about the same size along `axis`, the first ones longer by one if need be. `tf.sparse_split`.

    ValueError without one of them.
    """
    axis = deprecated_argument_lookup("axis", axis, "split_dim", split_dim)
    if num_split is None:
        raise ValueError("num_split is required")
    if axis is None:
        raise ValueError("axis is required")
    if sp_input is None:
        raise ValueError("sp_input is required")
    indices, values, dims = split_op(axis, *as_sparse_tensor(sp_input).parts, num_split=num_split, name=name)
    return [SparseTensor(*parts) for parts in zip(indices, values, dims, strict=True)]
