"""Data sets that draw from several others, or only some elements of one. Source: `tf.data.experimental`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.data.dataset import Dataset, mapped, replicated
from tfexp.data.functions import stateful_function
from tfexp.data.seeds import seed_tensors
from tfexp.data.structure import Component, as_tensor, map_leaves, normalized, spec_of
from tfexp.graph.constant_value import constant_value
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, shape, squeeze
from tfexp.ops.array_fill import fill, one_hot
from tfexp.ops.array_gather import gather
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.check import Print
from tfexp.ops.comparison import less
from tfexp.ops.dataset_groups import unique_dataset
from tfexp.ops.dataset_map import scan_dataset
from tfexp.ops.dataset_mix import directed_interleave_dataset, random_dataset
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.elementwise_unary import log
from tfexp.ops.random import random_uniform
from tfexp.ops.random_stateless import stateless_multinomial
from tfexp.ops.reduce import reduce_max, reduce_min, reduce_sum

Transformation = Callable[[Dataset], Dataset]

_ESTIMATED = 32  # elements after which the estimate of their classes' distribution changes


def scanned(dataset: Dataset, initial_state: Any, scan_func: Callable[..., Any]) -> Dataset:
    """`scan_func(state, element)` gives the next state and what comes out. TypeError when the state changes its types."""
    leaves, state = normalized(initial_state)

    def next_state(found: Any) -> Any:
        if not (isinstance(found, tuple) and len(found) == 2):
            raise TypeError("The scan function must return a pair comprising the new state and the output value.")
        return found[0]

    function = stateful_function(scan_func, "Dataset.scan()", state, dataset._element, next_state=next_state)
    result = function.result[1]
    variant = scan_dataset(
        dataset._variant_tensor,
        [as_tensor(leaf) for leaf in leaves],
        function.captured,
        f=function.named,
        preserve_cardinality=True,
        **spec_of(result),
    )
    return Dataset(variant, result, dataset)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """`start`, `start + step`, ... for ever."""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype=dtype, name="start")
        each = convert_to_tensor(step, dtype=dtype, name="step")
        return scanned(Dataset.from_tensors(0).repeat(None), first, lambda state, _: (state + each, state))


class RandomDataset(Dataset):
    """Random numbers from 0 to 2**32 - 1, as int64, without end."""

    def __init__(self, seed: Any = None):
        first, second = seed_tensors(seed)
        element = Component(dtypes.int64, TensorShape([]))
        super().__init__(random_dataset(first, second, **spec_of(element)), element)


def unique() -> Transformation:
    """Each element only once. TypeError unless elements are int32, int64 or strings."""

    def apply(dataset: Dataset) -> Dataset:
        component = dataset._element
        if not isinstance(component, Component) or component.dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` "
                f"component, not {dataset.element_spec}."
            )
        return Dataset(unique_dataset(dataset._variant_tensor, **dataset._flat_structure), dataset._element, dataset)

    return apply


# --- several data sets -------------------------------------------------------------------------------------------------


def sample_from_datasets(datasets: Sequence[Dataset], weights: Any = None, seed: Any = None) -> Dataset:
    """Each element from a data set drawn at random: as likely as `weights` say (or each element of a data set of weights).

    A data set that has ended is passed over. ValueError for no data sets, or another number of weights.
    """
    _check_datasets(datasets)
    if not isinstance(weights, Dataset):
        return _sampled(datasets, weights, seed)
    return sampled_anew(datasets, mapped(weights, lambda *p: log(p, name="logits")), seed)


def _sampled(datasets: Sequence[Dataset], weights: Any, seed: Any) -> Dataset:
    if weights is None:
        logits: Any = [[1.0] * len(datasets)]
    else:
        given = convert_to_tensor(weights, name="weights")
        if not given.shape.is_compatible_with([len(datasets)]):
            raise ValueError(
                f"`weights` must be a vector of length `len(datasets)`. That is {len(datasets)}, the shape {given.shape}"
            )
        if given.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(
                "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements. They are of "
                f"{given.dtype}."
            )
        logits = expand_dims(log(given, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]

    def select_dataset_constant_logits(seed: Tensor) -> Tensor:
        return squeeze(stateless_multinomial(logits, 1, seed=seed), axis=[0, 1])

    seeds = RandomDataset(seed).batch(2)
    return directed(datasets, mapped(seeds, select_dataset_constant_logits, keeps=True, inter_op=False))


def sampled_anew(datasets: Sequence[Dataset], logits: Dataset, seed: Any) -> Dataset:
    """Each element of `logits`, of shape [1, n], says how likely the data sets are, one after the other."""

    def select_dataset_varying_logits(logits: Tensor, seed: Tensor) -> Tensor:
        return squeeze(stateless_multinomial(logits, 1, seed=seed), axis=[0, 1])

    pairs = Dataset.zip((logits, RandomDataset(seed).batch(2)))
    return directed(datasets, mapped(pairs, select_dataset_varying_logits, keeps=True, inter_op=False))


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Each element from the data set that an element of `choice_dataset`, an int64, says. TypeError for other choices."""
    _check_datasets(datasets)
    choice = choice_dataset._element
    if not (isinstance(choice, Component) and choice.dtype is dtypes.int64 and choice.shape.is_compatible_with([])):
        raise TypeError(
            f"`choice_dataset` must be a dataset of scalar `tf.int64` tensors. Got {choice_dataset.element_spec}."
        )
    return directed(datasets, replicated(choice_dataset))


def _check_datasets(datasets: Sequence[Dataset]) -> None:
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    first = datasets[0]
    for number, dataset in enumerate(datasets):
        if (dataset.output_types, dataset.output_classes) != (first.output_types, first.output_classes):
            raise TypeError(
                f"All datasets must have the same type and class. Data set 0: {first!r}, data set {number}: {dataset!r}"
            )


def directed(datasets: Sequence[Dataset], selector: Dataset) -> Dataset:
    """Each element from the data set whose number `selector` gives next."""
    element = datasets[0]._element
    for dataset in datasets[1:]:
        element = map_leaves(lambda a, b: a.most_specific(b), element, dataset._element)
    variants = [dataset._variant_tensor for dataset in datasets]
    variant = directed_interleave_dataset(selector._variant_tensor, variants, **spec_of(element))
    return Dataset(variant, element, selector, *datasets)


# --- rejection ---------------------------------------------------------------------------------------------------------


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """Elements passed over at random so that their classes come as often as `target_dist` says, as (class, element).

    `initial_dist`: how often they come in the data; it is estimated on the way if not given.
    """

    def apply(dataset: Dataset) -> Dataset:
        target = convert_to_tensor(target_dist, name="target_dist")
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            acceptance, original = _acceptance(initial, target)
            initials, acceptances, originals = (Dataset.from_tensors(t).repeat() for t in (initial, acceptance, original))
        else:
            initials = _estimated(mapped(dataset, lambda *element: class_func(*element)), target)
            both = mapped(initials, lambda initial: _acceptance(initial, target), keeps=True)
            acceptances = mapped(both, lambda accept_prob, _: accept_prob, keeps=True)
            originals = mapped(both, lambda _, prob_original: prob_original, keeps=True)
        kept = _filtered(dataset, acceptances, initials, class_func, seed)
        unseen = None if initial_dist is None else _static_share_taken_unseen(initial, target)
        if unseen == 0:
            return kept

        def add_class_value(*element: Any) -> Any:
            return class_func(*element), element if len(element) > 1 else element[0]

        all_of_them = mapped(dataset, add_class_value)
        if unseen == 1:
            return all_of_them
        weights = mapped(originals, lambda prob: ((prob, 1.0 - prob),), keeps=True)
        logits = mapped(weights, lambda *p: log(p, name="logits"), keeps=True)
        return sampled_anew([all_of_them, kept], logits, seed)

    return apply


def _filtered(dataset: Dataset, acceptances: Dataset, initials: Dataset, class_func: Any, seed: Any) -> Dataset:
    """(class, element) of the elements that are not rejected."""

    def maybe_warn_on_large_rejection(accept_dist: Tensor, initial_dist: Tensor) -> Tensor:
        rejected = reduce_sum((1 - accept_dist) * initial_dist)
        said = [rejected, initial_dist, accept_dist]
        message = "Proportion of examples rejected by sampler is high: "
        warned = lambda: Print(accept_dist, said, message=message, summarize=100, first_n=10)  # noqa: E731
        return cond(less(rejected, 0.5), lambda: accept_dist, warned)

    def _gather_and_copy(acceptance: Tensor, data: Any) -> Any:
        class_value = class_func(*data) if isinstance(data, tuple) else class_func(data)
        return class_value, gather(acceptance, class_value), data

    def _reject(_: Tensor, acceptance: Tensor, *unused: Any) -> Tensor:
        return less(random_uniform([], seed=seed, dtype=acceptance.dtype), acceptance)

    said = mapped(Dataset.zip((acceptances, initials)), maybe_warn_on_large_rejection, keeps=True)
    together = mapped(Dataset.zip((said, dataset)), _gather_and_copy, keeps=True)
    return mapped(together.filter(_reject), lambda class_value, _, data: (class_value, data), keeps=True).prefetch(3)


def _acceptance(initial: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """(with what probability each class is accepted, with what probability an element is taken without looking at it).

    With the ratios r of wanted to given frequencies, a part min(r) of the data can be taken as it is; of the rest, a class
    is accepted in proportion to what is still missing, (r - min(r)) / (max(r) - min(r)).
    """
    ratios = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    highest, lowest = reduce_max(ratios), reduce_min(ratios)
    return (ratios - lowest) / (highest - lowest), lowest


def _static_share_taken_unseen(initial: Tensor, target: Tensor) -> float | None:
    """What part of the data is taken without looking at it, where both distributions are known.

    Only where it is all or nothing may one data set end before the other is asked for: a mixture would go on asking.
    """
    known = constant_value(initial), constant_value(target)
    return None if known[0] is None or known[1] is None else float(np.min(known[1] / known[0]))


def _estimated(classes: Dataset, target: Tensor) -> Dataset:
    """For each element how often the classes came up to it (its batch of 32, that is), smoothed."""
    static = target.shape[0].value
    count: Any = shape(target)[0] if static is None else static
    seen = fill([count], np.int64(10))

    def update_estimate_and_tile(seen: Tensor, batch: Tensor) -> tuple[Tensor, Tensor]:
        updated = seen + reduce_sum(one_hot(batch, count, dtype=dtypes.int64), axis=0)
        estimate = cast(truediv(updated, reduce_sum(updated)), dtypes.float32)
        return updated, tile(expand_dims(estimate, 0), [_ESTIMATED, 1])

    return scanned(classes.batch(_ESTIMATED), seen, update_estimate_and_tile).unbatched(keeps=True)
