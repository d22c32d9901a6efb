"""The average precision of each example's predicted classes: what `tf.metrics.average_precision_at_k` takes the mean of."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.metrics.class_labels import with_label_dimension
from tfexp.ops.array import expand_dims, reshape, shape, size
from tfexp.ops.array_fill import ones_like, zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.array_slice import slice
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal
from tfexp.ops.cumulative import cumsum
from tfexp.ops.elementwise_binary import minimum, mul
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.sets import set_intersection, set_size
from tfexp.ops.sparse import sparse_concat, sparse_reshape


def average_precision(labels: Any, predicted: Any) -> Tensor:
    """float64 `[...]` of class numbers: labels `[..., any number]`, dense or sparse, and predicted `[..., k]`."""
    with name_scope(None, "average_precision", (predicted, labels)) as scope:
        predicted = cast(predicted, dtypes.int64, name="predictions_idx")
        labels = with_label_dimension(labels, predicted)
        k = predicted.get_shape().as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be known statically")
        # Set operations compare last dimensions: every prediction becomes a set of its own, beside a copy of the labels.
        alone = expand_dims(predicted, -1, name="predictions_idx_per_k")
        relevant = _found(alone, _repeated(labels, k))
        hits = cumsum(relevant, -1, name="tp_per_k")
        retrieved = cumsum(ones_like(relevant), -1, name="retrieved_per_k")
        precision = truediv(hits, retrieved, name="precision_per_k")
        at_hits = mul(precision, relevant, name="relevant_precision_per_k")
        total = reduce_sum(at_hits, axis=(-1,), name="precision_sum")
        count = cast(_number_of_labels(labels, k), dtypes.float64)
        return truediv(total, count, name=scope)


def _found(predicted: Tensor, labels: Any) -> Tensor:
    """1 where the one prediction is among the labels, else 0."""
    with name_scope(None, "relevant_per_k", (predicted, labels)):
        return cast(set_size(set_intersection(predicted, labels)), dtypes.float64)


def _repeated(labels: Any, k: int) -> Any:
    """`labels` [..., n] as [..., k, n]."""
    with name_scope(None, "labels_per_k", (labels,)) as scope:
        if isinstance(labels, SparseTensor):
            old = labels.dense_shape
            last = reshape(size(old) + -1, [1])
            parts = slice(old, [0], last), (1,), slice(old, last, [-1])
            expanded: Any = sparse_reshape(labels, concat(parts, 0, name="expanded_shape"), name="expand")
            return expanded if k == 1 else sparse_concat(-2, [expanded] * k, name=scope)
        expanded = expand_dims(labels, -2, name="expand")
        if k == 1:
            return expanded
        once = ones_like(shape(labels))
        multiples = concat((once[:-1], (k,), once[-1:]), 0, name="multiples")
        return tile(expanded, multiples, name=scope)


def _number_of_labels(labels: Any, k: int) -> Tensor:
    """How many of the labels could be among k predictions."""
    with name_scope(None, "num_relevant", (labels,)) as scope:
        if isinstance(labels, SparseTensor):
            return minimum(set_size(labels), k, name=scope)
        counted = where_v2(greater_equal(labels, 0), ones_like(labels), zeros_like(labels))
        return minimum(reduce_sum(counted, axis=-1), k, name=scope)
