"""`tf.contrib.legacy_seq2seq`: the loss of sequences of logits. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.ops.array import reshape, shape
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.nn_cross_entropy import sparse_softmax_cross_entropy_with_logits
from tfexp.ops.reduce import reduce_sum


def sequence_loss_by_example(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """[batch]: the weighted cross entropies of the steps' logits, added up and by default divided by the weights' sum.

    logits, targets, weights: a list each, one element for each step. ValueError unless these are of one length.
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                # Targets may be [batch, 1].
                flat = reshape(target, [-1])
                loss: Any = sparse_softmax_cross_entropy_with_logits(labels=flat, logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total: Any = add_n(losses)
        if average_across_timesteps:
            size: Any = add_n(list(weights))
            total = total / (size + 1e-12)  # for examples whose weights are all 0
        return total


def sequence_loss(
    logits: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The sum over the batch of `sequence_loss_by_example`, by default divided by the size of the batch."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        losses = sequence_loss_by_example(logits, targets, weights, average_across_timesteps, softmax_loss_function)
        cost: Any = reduce_sum(losses)
        if not average_across_batch:
            return cost
        return cost / cast(shape(targets[0])[0], cost.dtype)  # type: ignore[index]
