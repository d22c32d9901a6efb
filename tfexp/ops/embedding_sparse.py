"""Embeddings of several ids per example, combined: `tf.nn.embedding_lookup_sparse` and its safe variant. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.log import get_logger
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_gather,
    array_join,
    array_mask,
    array_slice,
    array_tile,
    array_unique,
    comparison,
    elementwise_binary,
    elementwise_unary,
    logical,
    reduce,
)
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.segment import segment_sum
from tfexp.ops.segment_sparse import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum
from tfexp.ops.sparse import sparse_fill_empty_rows, sparse_reshape, sparse_retain

_COMBINERS = {"mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n, "sum": sparse_segment_sum}


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """For each row of ids its embeddings, weighted and combined: [rows, *params.shape[1:]]. `tf.nn.embedding_lookup_sparse`.

    combiner: "sum", "mean" (by the sum of the weights) or "sqrtn" (by the root of the sum of their squares).
    `sp_weights` has the shape of `sp_ids`, or is None for weights of 1. Every row must have an id, and they are sorted.
    TypeError for ids and weights that are not sparse; ValueError for another combiner, or weights of another shape.
    """
    if combiner is None:
        get_logger().warning('The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.')
        combiner = "mean"
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    if hasattr(params, "_variable_list"):
        params = list(params)
    if not isinstance(params, (list, tuple)):
        params = [params]
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
        for ours, theirs in zip(sp_ids.parts, sp_weights.parts, strict=True):
            ours.get_shape().assert_is_compatible_with(theirs.get_shape())
    with name_scope(name, "embedding_lookup_sparse", [*params, *sp_ids.parts]) as scope:
        segments: Any = sp_ids.indices[:, 0]  # type: ignore[index]  # bound by ops.overloads
        ids, places = array_unique.unique(sp_ids.values)
        rows: Any = embedding_lookup(params, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        segments = cast(segments, dtypes.int32)
        if sp_weights is None:
            result: Tensor = _COMBINERS[combiner](rows, places, segments, name=scope)
            return result
        return _weighted(rows, places, segments, sp_weights.values, combiner, scope)


def _weighted(rows: Any, places: Any, segments: Any, weights: Any, combiner: str, scope: str) -> Tensor:
    if weights.dtype != rows.dtype:
        weights = cast(weights, rows.dtype)
    rows = array_gather.gather(rows, places)
    # One weight for a whole row.
    extra = array.expand_dims(array.rank(rows) - 1, 0)  # type: ignore[operator]  # bound by ops.overloads
    count = weights.get_shape()
    ones = [array.shape(weights), array_fill.ones(extra, dtype=dtypes.int32)]
    weights = array.reshape(weights, array_join.concat(ones, 0))
    if rows.get_shape().ndims is not None:
        weights.set_shape(count.concatenate(TensorShape([1] * (rows.get_shape().ndims - 1))))
    rows = rows * weights
    if combiner == "sum":
        return segment_sum(rows, segments, name=scope)  # type: ignore[no-any-return]
    total = segment_sum(rows, segments)
    if combiner == "mean":
        return div_no_nan(total, segment_sum(weights, segments), name=scope)
    squares = segment_sum(elementwise_binary.pow(weights, 2), segments)
    return div_no_nan(total, elementwise_unary.sqrt(squares), name=scope)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """`embedding_lookup_sparse` along the last dimension of ids of any rank. Source: `tf.nn.safe_embedding_lookup_sparse`.

    Negative ids, and unless the combiner is "sum" those with weights that are not positive, are left out. What has no id
    then gets the embedding of `default_id`, or zeros when that is None. ValueError for no tables.
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if hasattr(embedding_weights, "_variable_list"):
        embedding_weights = list(embedding_weights)
    if not isinstance(embedding_weights, (list, tuple)):
        embedding_weights = [embedding_weights]
    if not embedding_weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    tables = [_table(w, dtype) for w in embedding_weights]
    parts = sparse_ids.parts + (() if sparse_weights is None else sparse_weights.parts)
    with name_scope(name, "embedding_lookup", [*tables, *parts]) as scope:
        dims = sparse_ids.dense_shape
        known = dims.get_shape().known_dims[0]  # type: ignore[index]  # a vector
        rank: Any = array.size(dims) if known is None else known
        outer = reduce.reduce_prod(array_slice.slice(dims, [0], [rank - 1]))
        ids = sparse_reshape(sparse_ids, [outer, array_gather.gather(dims, rank - 1)])
        weights = None if sparse_weights is None else SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        valid = comparison.greater_equal(ids.values, 0)
        if weights is not None:
            valid = logical.logical_and(valid, array_fill.ones_like(weights.values, dtype=dtypes.bool))
        ids = sparse_retain(ids, valid)
        if weights is not None:
            weights = sparse_retain(weights, valid)
            if combiner != "sum":
                positive = comparison.greater(weights.values, 0)
                ids, weights = sparse_retain(ids, positive), sparse_retain(weights, positive)
        ids, was_empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        own = None if default_id is None else scope
        rows: Any = embedding_lookup_sparse(tables, ids, weights, partition_strategy, own, combiner, max_norm)
        if default_id is None:
            column = array.reshape(was_empty, [-1, 1])
            width = array.shape(rows)[1]  # type: ignore[index]  # bound by ops.overloads
            empty = array_tile.tile(column, array_join.stack([1, width]))
            rows = array_mask.where(empty, array_fill.zeros_like(rows), rows, name=scope)
        first = array_slice.slice(cast(dims, dtypes.int32), [0], [rank - 1])
        last = array_slice.slice(array.shape(rows), [1], [-1])
        result = array.reshape(rows, array_join.concat([first, last], 0))
        outer_dims = TensorShape(None if known is None else [None] * (known - 1))
        result.set_shape(outer_dims.concatenate(rows.get_shape()[1:]))
        return result


def _table(weights: Any, dtype: Any) -> Any:
    if hasattr(weights, "sparse_read") and dtype in (None, weights.dtype):
        return weights
    return convert_to_tensor(weights, dtype=dtype)
