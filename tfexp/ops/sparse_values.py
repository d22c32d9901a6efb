"""Sparse tensors made of other tensors: identity matrices, indicators, merged ids and values, other shapes. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_identity,
    array_join,
    array_mask,
    array_slice,
    cast,
    check_compare,
    elementwise_binary,
    reduce,
)
from tfexp.ops.sparse import sparse_tensor_to_dense
from tfexp.ops.sparse_layout import sparse_reorder


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None) -> SparseTensor:
    """A sparse matrix with ones on its diagonal, square by default. Source: `tf.sparse.eye`."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _size_of_eye(num_rows, "num_rows")
        columns = rows if num_columns is None else _size_of_eye(num_columns, "num_columns")
        size = elementwise_binary.minimum(rows, columns)
        places = array_fill.range(size, dtype=dtypes.int64)
        indices = array_join.stack([places, places], axis=1)
        return SparseTensor(indices, array_fill.ones(size, dtype), [rows, columns])


def _size_of_eye(size: Any, name: str) -> Tensor:
    if not isinstance(size, Tensor) and (np.ndim(size) or np.asarray(size).dtype.kind not in "biu"):
        raise TypeError(f"{name} must be an integer value")
    return cast.cast(convert_to_tensor(size, dtype_hint=dtypes.int64, name=name), dtypes.int64)


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """The same elements with a dimension of 1 put in at `axis` (the last by default). Source: `tf.sparse.expand_dims`."""
    x = as_sparse_tensor(sp_input)
    with name_scope(name, "expand_dims", x.parts):
        known = x.dense_shape.get_shape().known_dims
        rank: Any = known[0] if known else None
        if rank is None:
            rank = array.size(x.dense_shape)
        at: Any = convert_to_tensor(-1 if axis is None else axis, name="axis", dtype=dtypes.int32)
        at = array_mask.where_v2(at >= 0, at, at + rank + 1)
        count = array.shape(x.indices)[0]  # type: ignore[index]  # bound by ops.overloads
        column = array_fill.zeros([count, 1], dtypes.int64)
        before = array_slice.slice(x.indices, [0, 0], [-1, at])
        indices = array_join.concat([before, column, array_slice.slice(x.indices, [0, at], [-1, -1])], axis=1)
        first = array_slice.slice(x.dense_shape, [0], [at])
        last = array_slice.slice(x.dense_shape, [at], [-1])
        one = constant([1], dtypes.int64, name="new_shape")
        return SparseTensor(indices, x.values, array_join.concat([first, one, last], axis=0))


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in another dense shape: by default the smallest that holds them. Source: `tf.sparse_reset_shape`.

    ValueError, or InvalidArgumentError in the run, for a shape of another rank or one that is smaller somewhere.
    """
    x = as_sparse_tensor(sp_input)
    indices, values = array_identity.identity(x.indices), array_identity.identity(x.values)
    old = array_identity.identity(x.dense_shape)
    if new_shape is None:
        largest = reduce.reduce_max(indices, axis=0)
        zero = constant(0, dtypes.int64)
        shape = elementwise_binary.maximum(zero, elementwise_binary.add(largest, array_fill.ones_like(old)))
        return SparseTensor(indices, values, shape)
    given = convert_to_tensor(new_shape)
    given.get_shape().assert_has_rank(1)
    new: Any = cast.cast(given, dtypes.int64)
    new.get_shape()[0].assert_is_compatible_with(old.get_shape()[0])
    wanted, found = constant_value(new), constant_value(x.dense_shape)
    if wanted is not None and found is not None:
        if (wanted < found).any():
            raise ValueError(
                f"Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape ({wanted}), "
                f"sp_input.shape ({found})."
            )
        return SparseTensor(indices, values, np.asarray(wanted))
    same_rank = check_compare.assert_equal(array.shape(old), array.shape(new))
    new = with_dependencies([same_rank], new)
    new = with_dependencies([check_compare.assert_less_equal(old, new)], new)
    return SparseTensor(indices, values, new)


def sparse_merge(
    sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None, already_sorted: bool = False
) -> SparseTensor:
    """`sp_values` at the places that `sp_ids` say: the last dimension becomes one of `vocab_size`. `tf.sparse_merge`.

    A list of ids (with a list of sizes) makes several dimensions of the last one. TypeError for what is not sparse, or
    not a size; ValueError when the two lists differ in length.
    """
    if isinstance(vocab_size, Tensor) or not isinstance(vocab_size, (list, tuple)):
        if not isinstance(sp_ids, (list, tuple)) or is_sparse(sp_ids):
            sp_ids = [sp_ids]
            sizes = [vocab_size]
        else:
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}")
    elif isinstance(sp_ids, (list, tuple)) and not is_sparse(sp_ids):
        sizes = list(vocab_size)
    else:
        raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
    for one in sp_ids:
        if not is_sparse(one):
            kind = type(sp_ids[0]) if len(sp_ids) == 1 else type(one)
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {kind}")
    if len(sp_ids) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    for size in sizes:
        if not isinstance(size, (Tensor, int, np.integer)):
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}")
    return _merged([as_sparse_tensor(x) for x in sp_ids], as_sparse_tensor(sp_values), sizes, name, already_sorted)


def _merged(
    ids: list[SparseTensor], values: SparseTensor, sizes: list[Any], name: str | None, already_sorted: bool
) -> SparseTensor:
    with name_scope(name, "SparseMerge", [*[part for x in ids for part in x.parts], values.indices, values.values]):
        columns = []
        for one in ids:
            column = cast.cast(one.values, dtypes.int64) if one.values.dtype.base_dtype != dtypes.int64 else one.values
            columns.append(array.expand_dims(column, axis=1))
        vocabulary = [cast.cast(size, dtypes.int64) for size in sizes]
        first: Any = ids[0]
        indices = array_join.concat([first.indices[:, :-1], *columns], axis=1)
        dense_shape = array_join.concat([first.dense_shape[:-1], vocabulary], axis=0)
        result = SparseTensor(indices, values.values, dense_shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, dense_shape)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """A bool tensor whose last dimension, of `vocab_size`, tells which ids were there. Source: `tf.sparse_to_indicator`."""
    x = as_sparse_tensor(sp_input)
    with name_scope(name, "SparseToIndicator", [x.indices, x.values]) as scope:
        count = array.shape(x.indices)[0]  # type: ignore[index]  # bound by ops.overloads
        present = array_fill.fill(array.expand_dims(count, 0), True)
        marks = SparseTensor(x.indices, present, x.dense_shape)
        merged = _merged([x], marks, [vocab_size], scope, False)
        return sparse_tensor_to_dense(merged, False, validate_indices=False, name=scope)
