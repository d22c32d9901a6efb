"""`tf.contrib.seq2seq.sequence_loss`: the weighted cross entropy of whole batches of sequences. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.ops.array import reshape, shape
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.nn_cross_entropy import sparse_softmax_cross_entropy_with_logits
from tfexp.ops.reduce import reduce_sum


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The cross entropies of logits [batch, time, classes] for targets [batch, time], times weights [batch, time].

    Averaged over what is said, by the weights; summed where that is said, by the number of targets. ValueError for other
    ranks, and for averaging and summing at once.
    """
    for value, ndims, what in (
        (logits, 3, "Logits must be a [batch_size x sequence_length x logits] tensor"),
        (targets, 2, "Targets must be a [batch_size x sequence_length] tensor"),
        (weights, 2, "Weights must be a [batch_size x sequence_length] tensor"),
    ):
        if len(value.get_shape()) != ndims:
            raise ValueError(what)
    if (average_across_timesteps and sum_over_timesteps) or (average_across_batch and sum_over_batch):
        raise ValueError("one may average or sum across an axis, not both")
    if (average_across_batch and sum_over_timesteps) or (average_across_timesteps and sum_over_batch):
        raise ValueError("one may not average across one axis and sum over the other")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = shape(logits)[2]  # type: ignore[index]
        flat, wanted = reshape(logits, [-1, classes]), reshape(targets, [-1])
        function = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        crossent: Any = function(labels=wanted, logits=flat) * reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return div_no_nan(reduce_sum(crossent), reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            return div_no_nan(reduce_sum(crossent), cast(reduce_sum(cast(weights > 0, "int32")), crossent.dtype))
        crossent = reshape(crossent, shape(logits)[:2])  # type: ignore[index]
        axis = 1 if average_across_timesteps or sum_over_timesteps else 0
        if average_across_timesteps or average_across_batch:
            return div_no_nan(reduce_sum(crossent, axis=[axis]), reduce_sum(weights, axis=[axis]))
        if sum_over_timesteps or sum_over_batch:
            counts = cast(reduce_sum(cast(weights > 0, "int32"), axis=[axis]), crossent.dtype)
            return div_no_nan(reduce_sum(crossent, axis=[axis]), counts)
        return crossent
