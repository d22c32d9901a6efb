"""`tf.contrib.losses.metric_learning`: losses that put examples of one label close together. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import broadcast_to, zeros_like
from tfexp.ops.array_join import stack
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.diagonal import matrix_set_diag
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.elementwise_unary import sqrt, square
from tfexp.ops.logical import logical_and, logical_not
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_cross_entropy import softmax_cross_entropy_with_logits
from tfexp.ops.reduce import reduce_any, reduce_max, reduce_mean, reduce_min, reduce_sum
from tfexp.ops.reduce_composite import reduce_logsumexp
from tfexp.ops.sparse import sparse_tensor_to_dense


def contrastive_loss(labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0) -> Any:
    """Mean over pairs of embeddings [batch, depth] of d² where the label is 1 and max(margin - d, 0)² where it is 0.

    d is their distance. Source: Hadsell et al., "Dimensionality Reduction by Learning an Invariant Mapping" (2006).
    """
    apart = sqrt(reduce_sum(square(embeddings_anchor - embeddings_positive), 1))
    same = cast(labels, dtypes.float32)
    return reduce_mean(same * square(apart) + (1.0 - same) * square(maximum(margin - apart, 0.0)), name="contrastive_loss")


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Mean over pairs of one label of max(margin + d(a, p) - d(a, n), 0); d is the square of the distance.

    n is the closest example of another label that is farther from a than p is, or else the farthest of another label.
    labels: integers [batch]; embeddings: [batch, depth], of length one. Source: Schroff et al., "FaceNet" (2015).
    """
    apart: Any = _squared_distances(embeddings)
    same = _of_one_label(labels)
    other = logical_not(same)
    farther = logical_and(expand_dims(other, 1), expand_dims(apart, 1) > expand_dims(apart, 2))
    closest = reduce_min(where(farther, _like(expand_dims(apart, 1), farther), _like(np.inf, farther)), 2)
    least = _like(reduce_min(apart, 1, keepdims=True), other)
    farthest = _like(reduce_max(where(other, apart, least), 1, keepdims=True), other)
    negative = where(reduce_any(farther, 2), closest, farthest)
    positive = matrix_set_diag(cast(same, dtypes.float32), zeros_like(apart[:, 0]))
    losses = maximum(positive * (margin + apart - negative), 0.0)
    return truediv(reduce_sum(losses), reduce_sum(positive), name="triplet_semihard_loss")


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Half the mean over pairs (i, j) of one label of max(J, 0)², where exp(J - d(i, j)) is the sum of exp(margin - d(i, k))
    and exp(margin - d(j, k)) over all k of another label; d is the distance.

    labels: integers [batch]; embeddings: [batch, depth], not of length one. Source: Song et al., "Deep Metric Learning via
    Lifted Structured Feature Embedding" (2016).
    """
    squares: Any = _squared_distances(embeddings)
    none = squares <= 0.0
    # The square root has no gradient at 0.
    apart: Any = where(none, zeros_like(squares), sqrt(where(none, _like(1.0, none), squares)))
    same = _of_one_label(labels)
    near = reduce_logsumexp(where(same, _like(-np.inf, same), margin - apart), 1)
    both = reduce_logsumexp(stack([_like(expand_dims(near, 0), same), _like(expand_dims(near, 1), same)]), 0)
    positive = matrix_set_diag(cast(same, dtypes.float32), zeros_like(near))
    losses = positive * square(maximum(where(same, both + apart, zeros_like(apart)), 0.0))
    return truediv(0.25 * reduce_sum(losses), reduce_sum(positive) / 2.0, name="liftedstruct_loss")


def npairs_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, reg_lambda: float = 0.002, print_losses: bool = False
) -> Any:
    """The cross entropy of which positives have an anchor's label, by products of embeddings, and their decay.

    labels: integers [batch]; embeddings: [batch, depth], not of length one. Source: Sohn, "Improved Deep Metric Learning
    with Multi-class N-pair Loss Objective" (2016). print_losses is not used.
    """
    return _npairs(cast(_of_one_label(labels), dtypes.float32), embeddings_anchor, embeddings_positive, reg_lambda)


def npairs_loss_multilabel(
    sparse_labels: Sequence[Any],
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """`npairs_loss` for examples of several labels each; pairs count by labels in common.

    sparse_labels: for each example a SparseTensor [classes], with 1 for each label that it has. TypeError for anything
    else. print_losses is not used.
    """
    if not all(isinstance(one, SparseTensor) for one in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    dense = [
        sparse_tensor_to_dense(SparseTensor(one.indices, cast(one.values, dtypes.float32), one.dense_shape))
        for one in sparse_labels
    ]
    have = stack([reshape(one, [-1]) for one in dense])
    shared = matmul(have, have, transpose_b=True)
    return _npairs(shared, embeddings_anchor, embeddings_positive, reg_lambda)


def _npairs(shared: Any, anchors: Any, positives: Any, reg_lambda: float) -> Any:
    size = reduce_mean(reduce_sum(square(anchors), 1)) + reduce_mean(reduce_sum(square(positives), 1))
    wanted = shared / reduce_sum(shared, 1, keepdims=True)
    alike = matmul(anchors, positives, transpose_a=False, transpose_b=True)
    entropy = reduce_mean(softmax_cross_entropy_with_logits(labels=wanted, logits=alike), name="xentropy")
    return 0.25 * reg_lambda * size + entropy


def _of_one_label(labels: Any) -> Any:
    """Which pairs [batch, batch] have the same label."""
    column = reshape(convert_to_tensor(labels), [-1, 1])
    return equal(column, transpose(column))


def _squared_distances(embeddings: Any) -> Any:
    """[batch, batch], 0 on the diagonal."""
    lengths = reduce_sum(square(embeddings), 1, keepdims=True)
    squares = lengths + transpose(lengths) - 2.0 * matmul(embeddings, embeddings, transpose_b=True)
    return matrix_set_diag(maximum(squares, 0.0), zeros_like(lengths[:, 0]))


def _like(value: Any, other: Any) -> Any:
    """`value` in the shape of `other`."""
    return broadcast_to(convert_to_tensor(value, dtypes.float32), shape(other))
