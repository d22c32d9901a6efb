"""Examples taken more or less often than they come. Source: `tf.contrib.training`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape, squeeze
from tfexp.ops.array_fill import one_hot, ones_like, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity, stop_gradient
from tfexp.ops.array_mask import where
from tfexp.ops.array_repeat import repeat
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal, assert_less_equal, assert_non_negative
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.random import random_uniform
from tfexp.ops.random_gamma import random_poisson
from tfexp.ops.reduce import reduce_max, reduce_mean, reduce_sum
from tfexp.ops.state import assign_add
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_scope import get_variable, variable_scope
from tfexp.train.batching import batch, maybe_batch
from tfexp.train.moving_averages import assign_moving_average

# --- of what a queue brings ---------------------------------------------------------------------------------------------


def rejection_sample(
    tensors: Sequence[Any],
    accept_prob_fn: Callable[[Sequence[Any]], Any],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Batches of those examples (`tensors`, a list) that chance accepts, with the probability that `accept_prob_fn` gives.

    enqueue_many: the tensors have several examples each, that come one by one from a queue of `prebatch_capacity`.
    runtime_checks: an error for a probability outside of [0, 1]. ValueError for tensors of unknown rank.
    """
    with name_scope(name, "rejection_sample", tensors):
        given = [convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            given = _one_by_one(given, prebatch_threads, prebatch_capacity, many=True)
        accepted: Any = accept_prob_fn(given)
        if runtime_checks:
            accepted = convert_to_tensor(accepted, name="prob_to_check")
            with control_dependencies(
                [assert_less_equal(0.0, accepted), assert_less_equal(accepted, 1.0)],
            ):
                accepted = identity(accepted, name="prob_checked")
        return _listed(maybe_batch(given, random_uniform([]) < accepted, batch_size, num_threads=queue_threads))


def stratified_sample(
    tensors: Sequence[Any],
    labels: Any,
    target_probs: Any,
    batch_size: int,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Any], Any]:
    """(batches of the tensors, their labels) in which classes are as frequent as `target_probs` says.

    labels: an int32 scalar, with enqueue_many a vector of those of several examples. init_probs: how frequent classes are in
    what comes; by default that is counted, in a local variable. ValueError for probabilities of different numbers of
    classes, an error at run time for a class that is wanted and does not come.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        given = [convert_to_tensor(tensor) for tensor in tensors]
        label = convert_to_tensor(labels)
        wanted: Any = convert_to_tensor(target_probs, dtypes.float32)
        wanted.get_shape().assert_has_rank(1)
        if init_probs is None:
            there: Any = _frequencies(label, wanted.get_shape().num_elements())
        else:
            there = convert_to_tensor(init_probs, dtypes.float32)
            if not there.get_shape().is_compatible_with(wanted.get_shape()):
                raise ValueError("Probability parameters must have the same length.")
        with control_dependencies([assert_non_negative(there), assert_non_negative(wanted)]):
            chances = _acceptance(there, wanted)
        *given, label = _one_by_one([*given, label], threads_per_queue, queue_capacity, enqueue_many)
        keep = random_uniform([]) < gather(chances, label)
        *batches, label = _listed(
            maybe_batch([*given, label], keep, batch_size, num_threads=threads_per_queue, capacity=queue_capacity)
        )
        return batches, label


def _one_by_one(tensors: list[Tensor], threads: int, capacity: int, many: bool) -> list[Tensor]:
    """Single examples, from a queue: so many reads of one are of the same example."""
    ones = _listed(batch(tensors, 1, num_threads=threads, capacity=capacity, enqueue_many=many))
    return [squeeze(one, [0]) for one in ones]


def _listed(batches: Any) -> list[Any]:
    return list(batches) if isinstance(batches, (list, tuple)) else [batches]


def _frequencies(labels: Tensor, classes: int) -> Tensor:
    """How frequent classes have been so far, with one example of each before the first."""
    seen = Variable(
        np.ones(classes, np.int64),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        name="class_count",
        dtype=dtypes.int64,
    )
    rows: Any = one_hot(labels, classes, dtype=dtypes.int64)
    counts = assign_add(seen, reduce_sum(rows, 0) if labels.get_shape().ndims == 1 else rows)
    return truediv(cast(counts, dtypes.float32), cast(reduce_sum(counts), dtypes.float32))


def _acceptance(there: Any, wanted: Any) -> Tensor:
    """For each class the chance to accept it: wanted / there, scaled so that the largest is 1; 0 / 0 is 0."""
    ratio: Any = where(there > 0.0, wanted / _positive(there), zeros_like(wanted))
    missing = assert_equal(
        reduce_sum(cast(equal(there, 0.0), dtypes.float32) * wanted), 0.0, message="A class that is wanted does not come"
    )
    with control_dependencies([missing]):
        return ratio / _positive(reduce_max(ratio))


def _positive(values: Any) -> Any:
    """The values, with 1 for 0, to divide by."""
    return where(values > 0.0, values, ones_like(values))


# --- of batches ---------------------------------------------------------------------------------------------------------


def resample_at_rate(
    inputs: Sequence[Any], rates: Any, scope: str | None = None, seed: int | None = None, back_prop: bool = False
) -> list[Any]:
    """The inputs' rows, each as often as chance says: by Poisson distributions whose means are `rates` [batch].

    All inputs have the same rows taken. back_prop: whether gradients go through.
    """
    with name_scope(scope, "resample_at_rate", [*inputs, rates]):
        means = convert_to_tensor(rates, name="rates")
        counts = cast(random_poisson(means, [], means.dtype, seed=seed), dtypes.int32)
        rows = repeat(range_(shape(counts)[0]), counts)  # type: ignore[index]
        taken = [gather(convert_to_tensor(tensor), rows) for tensor in inputs]
        return taken if back_prop else [stop_gradient(one) for one in taken]


def weighted_resample(
    inputs: Sequence[Any],
    weights: Any,
    overall_rate: float,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Any], Any]:
    """(the inputs' rows, each as often as chance says; the rates of what was taken), about overall_rate times as many rows.

    A row's rate is its weight by the mean of all weights so far, a moving average with `mean_decay`, times overall_rate.
    """
    with name_scope(scope, "weighted_resample", inputs):
        values: Any = convert_to_tensor(weights, name="weights")
        with variable_scope("estimate_mean", values=[values]):
            mean = get_variable(
                "estimated_mean",
                [],
                values.dtype,
                zeros_initializer(),
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
            )
            estimated = assign_moving_average(mean, reduce_mean(values), mean_decay)
        rates = overall_rate * values / estimated
        taken_at, *taken = resample_at_rate([rates, *inputs], rates, seed=seed)
        return taken, taken_at
