"""Embeddings of several ids per example, combined: `tf.nn.embedding_lookup_sparse`. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.log import get_logger
from tfexp.core.shape import TensorShape
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_gather,
    array_join,
    array_unique,
    elementwise_binary,
    elementwise_unary,
)
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.segment import segment_sum
from tfexp.ops.segment_sparse import sparse_segment_mean, sparse_segment_sqrt_n, sparse_segment_sum

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
