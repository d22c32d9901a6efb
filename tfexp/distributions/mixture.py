"""Mixtures: a categorical draw says which component a sample is of. TF 1.15 (`tf.contrib`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.distributions.discrete import Categorical
from tfexp.distributions.distribution import (
    NOT_REPARAMETERIZED,
    Distribution,
    derived_seed,
    keeps_arguments,
)
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill
from tfexp.ops.array import expand_dims, reshape, shape, size
from tfexp.ops.array_fill import one_hot, ones, zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where_v2
from tfexp.ops.array_partition import dynamic_partition, dynamic_stitch
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.elementwise_unary import square
from tfexp.ops.nn_softmax import log_softmax
from tfexp.ops.reduce import reduce_prod, reduce_sum
from tfexp.ops.reduce_composite import reduce_logsumexp


class _Mixture(Distribution):
    """What both share: `_asked` gives the components' answers, [..., components, *event]."""

    _weights: Categorical

    def _event_ndims(self) -> int:
        rank = self.event_shape.ndims
        if rank is None:
            raise ValueError("the rank of the components' events must be known")
        return rank

    def _asked(self, question: str, *args: Any, event: bool = False, **kwargs: Any) -> Any:
        """What the components' method says; with `event`, of the event's shape, else a number for each."""
        raise NotImplementedError

    def _of_all(self, numbers: Any) -> Any:
        """[..., components] numbers, or weights, as wide as events."""
        dims = concat([shape(numbers), ones([self._event_ndims()], "int32")], 0)
        wide = reshape(numbers, dims)
        wide.set_shape(numbers.shape.concatenate([1] * self._event_ndims()))
        return wide

    def _averaged(self, x: Any) -> Any:
        return reduce_sum(self._of_all(self._weights.probs) * x, axis=-1 - self._event_ndims())

    def _picked(self, chosen: Any, drawn: Any) -> Any:
        """Of what all components have drawn, [n, ..., components, *event], that of the chosen ones."""
        picked = self._of_all(one_hot(chosen, self._weights.event_size, True, False, dtype="bool"))
        # Chosen, not multiplied: a sample that is not taken may be infinite.
        return reduce_sum(where_v2(picked, drawn, zeros_like(drawn)), axis=-1 - self._event_ndims())

    def _log_prob(self, x: Any) -> Any:
        return reduce_logsumexp(self._asked("log_prob", x) + log_softmax(self._weights.logits), -1)

    def _cdf(self, x: Any) -> Any:
        return reduce_sum(self._asked("cdf", x) * self._weights.probs, -1)

    def _mean(self) -> Any:
        return self._averaged(self._asked("mean", event=True))

    def _variance(self) -> Any:
        """The mean of the components' variances, and the variance of their means."""
        means: Any = self._asked("mean", event=True)
        apart = means - expand_dims(self._averaged(means), -1 - self._event_ndims())
        return self._averaged(self._asked("variance", event=True) + square(apart))

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Any:
        """The mean of the components' entropies, which the entropy is not less than."""
        with self._scope(name):
            return reduce_sum(self._asked("entropy") * self._weights.probs, -1)


class Mixture(_Mixture):
    """Of any distributions with one batch and event shape; `cat` has one class for each.

    TypeError for what is none, or not of one type; ValueError for no components, or shapes or numbers that differ.
    With `use_static_graph` every component draws for every sample, else for those that are its own. Source:
    `tf.contrib.distributions.Mixture`.
    """

    @keeps_arguments
    def __init__(
        self,
        cat: Categorical,
        components: Sequence[Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ):
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not all(isinstance(one, Distribution) for one in components):
            raise TypeError(f"all entries in components must be Distribution instances, but saw: {components}")
        if len({one.dtype for one in components}) > 1:
            raise TypeError(f"All components must have the same dtype, but saw: {[one.dtype.name for one in components]}")
        self._cat = self._weights = cat
        self._use_static_graph = use_static_graph
        self._components = list(components)
        classes = cat.logits.shape[-1].value
        if classes is not None and classes != len(self._components):
            raise ValueError(f"cat.num_classes != len(components): {classes} vs. {len(self._components)}")
        self._static_batch, self._static_event = cat.batch_shape, TensorShape(None)
        for one in self._components:
            self._static_batch = self._static_batch.merge_with(one.batch_shape)
            self._static_event = self._static_event.merge_with(one.event_shape)
        with name_scope(name) as scope:
            parents = [parent for one in (cat, *self._components) for parent in one._graph_parents]
        kind = self._components[0].dtype
        super().__init__(kind, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope)

    @property
    def cat(self) -> Categorical:
        return self._cat

    @property
    def components(self) -> list[Distribution]:
        return self._components

    @property
    def num_components(self) -> int:
        return len(self._components)

    def _batch_shape(self) -> TensorShape:
        return self._static_batch

    def _event_shape(self) -> TensorShape:
        return self._static_event

    def _batch_shape_tensor(self) -> Tensor:
        return self._cat.batch_shape_tensor()

    def _event_shape_tensor(self) -> Tensor:
        return self._components[0].event_shape_tensor()

    def _asked(self, question: str, *args: Any, event: bool = False, **kwargs: Any) -> Any:
        answers = [getattr(one, question)(*args, **kwargs) for one in self._components]
        return stack(answers, axis=-1 - (self._event_ndims() if event else 0))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        chosen = self._cat.sample(n, seed=seed)
        seeds = []
        for _ in self._components:
            seed = derived_seed(seed, "mixture")
            seeds.append(seed)
        if self._use_static_graph:
            drawn = [one.sample(n, seed=own) for one, own in zip(self._components, seeds, strict=True)]
            return self._picked(chosen, stack(drawn, axis=-1 - self._event_ndims()))
        places = dynamic_partition(array_fill.range(size(chosen)), reshape(chosen, [-1]), self.num_components)
        batch, event = reduce_prod(self.batch_shape_tensor()), self.event_shape_tensor()
        own_samples = []
        for one, own_places, own in zip(self._components, places, seeds, strict=True):
            count = size(own_places)
            rows = reshape(one.sample(count, seed=own), concat([[count * batch], event], 0))
            own_samples.append(gather(rows, array_fill.range(count) * batch + floormod(own_places, batch)))
        return reshape(dynamic_stitch(places, own_samples), concat([shape(chosen), event], 0))


class MixtureSameFamily(_Mixture):
    """Of the distributions along the last axis of one batch: [..., components].

    ValueError where the mixture's batch, or number of classes, does not fit that. Source:
    `tf.contrib.distributions.MixtureSameFamily`.
    """

    @keeps_arguments
    def __init__(
        self,
        mixture_distribution: Categorical,
        components_distribution: Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ):
        if mixture_distribution.dtype.is_floating:
            raise ValueError(f"`mixture_distribution.dtype` ({mixture_distribution.dtype.name}) is not over integers")
        self._weights, self._components_distribution = mixture_distribution, components_distribution
        batch, weights = components_distribution.batch_shape, mixture_distribution.logits.shape
        if batch.ndims == 0:
            raise ValueError("components_distribution must have a batch: its last axis is that of the components")
        if batch.ndims is not None and not batch[-1].is_compatible_with(weights[-1]):
            raise ValueError(
                f"`mixture_distribution` components ({weights[-1]}) does not equal "
                f"`components_distribution.batch_shape[-1]` ({batch[-1]})"
            )
        if weights.ndims != 1 and not weights[:-1].is_compatible_with(batch[:-1]):
            raise ValueError(f"`mixture_distribution.batch_shape` ({weights[:-1]}) is not compatible with ({batch[:-1]})")
        with name_scope(name) as scope:
            parents = [*mixture_distribution._graph_parents, *components_distribution._graph_parents]
        kind, way = components_distribution.dtype, NOT_REPARAMETERIZED
        super().__init__(kind, way, validate_args, allow_nan_stats, self._arguments, parents, scope)

    @property
    def mixture_distribution(self) -> Categorical:
        return self._weights

    @property
    def components_distribution(self) -> Distribution:
        return self._components_distribution

    def _batch_shape(self) -> TensorShape:
        return self._components_distribution.batch_shape[:-1]

    def _event_shape(self) -> TensorShape:
        return self._components_distribution.event_shape

    def _batch_shape_tensor(self) -> Tensor:
        dims: Any = self._components_distribution.batch_shape_tensor()
        return dims[:-1]  # type: ignore[no-any-return]

    def _event_shape_tensor(self) -> Tensor:
        return self._components_distribution.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn = self._components_distribution.sample(n, seed=seed)
        batch: Any = [] if self._weights.batch_shape.ndims else self.batch_shape_tensor()
        chosen = self._weights.sample(concat([[n], batch], 0), seed=derived_seed(seed, "mixture"))
        return self._picked(chosen, drawn)

    def _asked(self, question: str, *args: Any, event: bool = False, **kwargs: Any) -> Any:
        if question in ("log_prob", "cdf"):
            args = tuple(expand_dims(x, -1 - self._event_ndims()) for x in args)
        return getattr(self._components_distribution, question)(*args, **kwargs)
