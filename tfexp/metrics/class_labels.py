"""Labels as the metrics of predicted classes want them: sets of class numbers along a last dimension, dense or sparse."""

from __future__ import annotations

from typing import Any

from tfexp.graph.control_flow import cond
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, rank, size
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.comparison import equal, greater_equal
from tfexp.ops.reduce import reduce_max
from tfexp.ops.sparse import sparse_reshape


def with_label_dimension(labels: Any, predictions: Any) -> Any:
    """`labels` with a last dimension of 1 where each example has one label; ValueError where neither fits."""
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return cond(
                equal(rank(predictions), size(labels.dense_shape) + 1),
                lambda: sparse_reshape(labels, concat((labels.dense_shape, (1,)), 0), name=scope),
                lambda: labels,
            )
        mine, theirs = labels.get_shape().ndims, predictions.get_shape().ndims
        if mine is None or theirs is None:
            same = equal(rank(predictions), rank(labels) + 1)
            return cond(same, lambda: expand_dims(labels, -1, name=scope), lambda: labels)
        if theirs == mine + 1:
            return expand_dims(labels, -1, name=scope)
        if theirs != mine:
            raise ValueError(
                f"Unexpected labels shape {labels.get_shape()} for predictions_idx shape {predictions.get_shape()}."
            )
        return labels


def without_unknown_classes(labels: Any, classes: Tensor) -> Any:
    """`labels` with -1 where they are no number below `classes`."""
    labels = convert_to_tensor_or_sparse_tensor(labels)
    given = labels.values if isinstance(labels, SparseTensor) else labels

    def replaced() -> Any:
        known = where_v2(greater_equal(given, classes), -1 * ones_like(given), given)
        return SparseTensor(labels.indices, known, labels.dense_shape) if isinstance(labels, SparseTensor) else known

    return cond(greater_equal(reduce_max(given), classes), replaced, lambda: labels)
