"""Losses over a sample of the classes: `tf.nn.nce_loss` and `tf.nn.sampled_softmax_loss`. TF 1.15.

Sources: Gutmann and Hyvärinen, "Noise-contrastive estimation" (2010); Jean et al., "On Using Very Large Target Vocabulary
for Neural Machine Translation" (2015).
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array
from tfexp.ops.array_fill import ones, ones_like, zeros_like
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_partition import sparse_to_dense
from tfexp.ops.array_slice import slice as slice_of
from tfexp.ops.candidate_sampling import compute_accidental_hits, log_uniform_candidate_sampler
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_unary import log
from tfexp.ops.embedding import embedding_lookup
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: [batch] losses of telling the true classes from sampled ones.

    weights: [num_classes, dim], or a list of its parts; biases: [num_classes]; labels: [batch, num_true] classes; inputs:
    [batch, dim]. `sampled_values` is what a candidate sampler returns; without, a log-uniform one samples `num_sampled`
    classes for the batch. Source: `tf.nn.nce_loss`.
    """
    logits, targets = compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return _sum_rows(losses)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """[batch] softmax cross entropies over the true and the sampled classes, for training; arguments as in `nce_loss`.

    Source: `tf.nn.sampled_softmax_loss`.
    """
    logits, targets = compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
        seed=seed,
    )
    targets = stop_gradient(targets, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


def compute_sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """(logits, targets) over the true and the sampled classes: [batch, num_true + num_sampled], the true ones first.

    subtract_log_q: the logits are less the logarithms of how often each class is expected in a sample. Other arguments as
    in `nce_loss`.
    """
    if not isinstance(weights, list):
        weights = list(weights) if hasattr(weights, "_variable_list") else [weights]
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        inputs, labels = convert_to_tensor(inputs), convert_to_tensor(labels)
        if labels.dtype != dtypes.int64:
            labels = cast(labels, dtypes.int64)
        labels_flat = array.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true=num_true, num_sampled=num_sampled, unique=True, range_max=num_classes, seed=seed
            )
        sampled, true_expected, sampled_expected = (stop_gradient(s) for s in sampled_values)
        sampled = cast(sampled, dtypes.int64)
        classes = concat([labels_flat, sampled], 0)

        all_weights = embedding_lookup(weights, classes, partition_strategy=partition_strategy)
        if all_weights.dtype != inputs.dtype:
            all_weights = cast(all_weights, inputs.dtype)
        true_weights = slice_of(all_weights, [0, 0], stack([array.shape(labels_flat)[0], -1]))
        sampled_weights = slice_of(all_weights, stack([array.shape(labels_flat)[0], 0]), [-1, -1])
        sampled_logits = matmul(inputs, sampled_weights, transpose_b=True)

        all_biases = embedding_lookup(biases, classes, partition_strategy=partition_strategy)
        if all_biases.dtype != inputs.dtype:
            all_biases = cast(all_biases, inputs.dtype)
        true_biases = slice_of(all_biases, [0], array.shape(labels_flat))
        sampled_biases = slice_of(all_biases, array.shape(labels_flat), [-1])

        dim = array.shape(true_weights)[1:2]
        by_row = concat([[-1, num_true], dim], 0)
        products = mul(array.expand_dims(inputs, 1), array.reshape(true_weights, by_row))
        true_logits = _sum_rows(array.reshape(products, concat([[-1], dim], 0)))
        true_logits = array.reshape(true_logits, [-1, num_true])
        true_biases = array.reshape(true_biases, [-1, num_true])
        true_logits += true_biases
        sampled_logits += sampled_biases

        if remove_accidental_hits:
            sampled_logits += _hidden_hits(labels, sampled, num_true, num_sampled, sampled_logits)
        if subtract_log_q:
            true_logits -= log(true_expected)
            sampled_logits -= log(sampled_expected)
        logits = concat([true_logits, sampled_logits], 1)
        # The true classes share the probability.
        targets = concat([ones_like(true_logits) / num_true, zeros_like(sampled_logits)], 1)
        return logits, targets


def _hidden_hits(labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int, logits: Tensor) -> Tensor:
    """What makes a sampled class that is a row's true one impossible: the lowest float there, 0 elsewhere."""
    rows, places, lowest = compute_accidental_hits(labels, sampled, num_true=num_true)
    rows = array.reshape(rows, [-1, 1])
    places = array.reshape(cast(places, dtypes.int32), [-1, 1])
    indices = concat([rows, places], 1, "sparse_indices")
    dims = concat([array.shape(labels)[:1], array.expand_dims(num_sampled, 0)], 0)
    if logits.dtype != lowest.dtype:
        lowest = cast(lowest, logits.dtype)
    return sparse_to_dense(indices, dims, lowest, default_value=0.0, validate_indices=False)


def _sum_rows(x: Tensor) -> Tensor:
    """[m, n] -> [m], as a product with ones."""
    columns = array.shape(x)[1]
    return array.reshape(matmul(x, ones(stack([columns, 1]), x.dtype)), [-1])
