"""`tf.contrib.nn`: what `tf.nn` does not have. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.gradients import gradients
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.candidate_sampling import learned_unigram_candidate_sampler
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import minimum
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import softplus
from tfexp.ops.nn_cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tfexp.ops.nn_sampled import sampled_softmax_loss
from tfexp.ops.nn_topk import top_k
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce_composite import reduce_logsumexp

_SELU = -1.7580993408473766  # what selu tends to for small inputs: -scale * alpha


def alpha_dropout(
    x: Any, keep_prob: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Dropout for what `tf.nn.selu` gives: what is dropped takes its lowest value, and mean and variance stay the same.

    Klambauer et al. 2017. ValueError for a `keep_prob` outside (0, 1].
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, float) and not 0 < keep_prob <= 1:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob}")
        if isinstance(keep_prob, float) and keep_prob == 1:
            return x  # type: ignore[no-any-return]
        keep: Any = cast(convert_to_tensor(keep_prob, name="keep_prob"), x.dtype)
        noise = random_uniform(shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype)
        kept: Any = floor(keep + noise)
        scale = (keep + keep * (1 - keep) * _SELU**2) ** -0.5
        mixed = x * kept + _SELU * (1 - kept)
        result: Tensor = scale * mixed - scale * _SELU * (1 - keep)
        result.set_shape(x.get_shape())
        return result


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Tensor:
    """alpha * log(1 + exp(x / alpha)), at most `clip`. alpha may be a parameter: it has a gradient, too."""
    with name_scope(name, "scaled_softplus", [x, alpha, clip]):
        x = convert_to_tensor(x, name="x")
        alpha = cast(convert_to_tensor(alpha, name="alpha"), x.dtype)
        y: Any = alpha * softplus(x / alpha)  # type: ignore[operator]
        return y if clip is None else minimum(y, cast(clip, x.dtype))


def fwd_gradients(
    ys: Sequence[Any],
    xs: Sequence[Any],
    grad_xs: Any = None,
    stop_gradients: Any = None,
    colocate_gradients_with_ops: bool = True,
) -> list[Any]:
    """How `ys` change when `xs` change by `grad_xs` (by ones if None): the product with the Jacobian, by two gradients."""
    # d ys / d xs of u is linear in u: its gradient in u, weighed by grad_xs, is the Jacobian times grad_xs.
    us = [ones_like(y) for y in ys]
    back = gradients(
        ys, xs, grad_ys=us, stop_gradients=stop_gradients, colocate_gradients_with_ops=colocate_gradients_with_ops
    )
    return gradients(  # type: ignore[no-any-return]
        back, us, grad_ys=grad_xs, stop_gradients=stop_gradients, colocate_gradients_with_ops=colocate_gradients_with_ops
    )


def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Tensor:
    """`tf.nn.sampled_softmax_loss` of one label for each example: labels [batch]."""
    with name_scope(name):
        given = cast(convert_to_tensor(labels), dtypes.int64)
        column = expand_dims(given, 1) if given.get_shape().ndims == 1 else given
        return sampled_softmax_loss(
            weights,
            biases,
            column,
            inputs,
            num_sampled,
            num_classes,
            sampled_values=sampled_values,
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
        )


def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.sampled_softmax_loss` over the `num_resampled` of the sampled classes that the batch finds likeliest.

    That is, those of the largest log(sum over the batch of exp(logit / resampling_temperature)). sampled_values: what a
    candidate sampler gives; that of the learned unigram if None. ValueError for more sampled classes than there are, and for
    as many resampled as sampled.
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with name_scope(name, "rank_sampled_softmax_loss", [labels, inputs]) as scope:
        sampled, of_true, of_sampled = sampled_values or learned_unigram_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes
        )
        sampled = cast(stop_gradient(sampled), dtypes.int64)
        rows = embedding_lookup(weights, sampled, partition_strategy)
        scaled: Any = inputs / resampling_temperature
        likely: Any = reduce_logsumexp(matmul(rows, scaled, transpose_b=True), axis=1)
        likely += reshape(embedding_lookup(biases, sampled, partition_strategy), [-1]) / resampling_temperature
        _, best = top_k(likely, num_resampled, sorted=False)
        return sampled_softmax_loss(
            weights,
            biases,
            labels,
            inputs,
            num_resampled,
            num_classes,
            num_true,
            (gather(sampled, best), stop_gradient(of_true), gather(stop_gradient(of_sampled), best)),
            remove_accidental_hits,
            partition_strategy,
            scope,
        )


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Tensor:
    """`tf.nn.softmax_cross_entropy_with_logits` with its arguments in the order of TensorFlow 0.x."""
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits: Any, labels: Any, name: str | None = None) -> Tensor:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits` with its arguments in the order of TensorFlow 0.x."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits: Any, targets: Any, name: str | None = None) -> Tensor:
    """`tf.nn.sigmoid_cross_entropy_with_logits` with its arguments in the order of TensorFlow 0.x."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
