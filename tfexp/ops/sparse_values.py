"""Sparse tensors merged from ids and values, for `tf.SparseFeature` (O11). TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_join,
    cast,
)
from tfexp.ops.sparse_layout import sparse_reorder


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
