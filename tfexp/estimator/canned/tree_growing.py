"""How trees grow, a layer for every so many batches: the training graph of boosted trees. Source: TF 1.15.

First batches tell the boundaries of float features' buckets, then, if it is wanted, what all examples have; from then on
the gradients and hessians of a batch are added up by node and bucket, and make a layer once there are enough batches.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.canned.tree_resources import Ensemble, Quantiles
from tfexp.graph.control_flow import cond
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.accumulator import ConditionalAccumulator
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.array_join import stack, unstack
from tfexp.ops.boosted_trees import calculate_best_gains, center_bias, make_stats_summary, update_ensemble
from tfexp.ops.comparison import greater_equal
from tfexp.ops.reduce import reduce_mean, reduce_min
from tfexp.ops.tree_ensemble import POST_PRUNING, PRE_PRUNING

_PRUNING = {"none": 0, "pre": PRE_PRUNING, "post": POST_PRUNING}


@dataclass(frozen=True)
class TreeSettings:
    """How trees are. ValueError for a way of pruning that is none, or that does not go with the complexity."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    def __post_init__(self) -> None:
        if self.pruning_mode not in _PRUNING:
            raise ValueError(f"pruning_mode must be one of: {', '.join(_PRUNING)}. Given: {self.pruning_mode}")
        if self.tree_complexity > 0 and self.pruning_mode == "none":
            raise ValueError("tree_complexity has an effect only where trees are pruned: choose a pruning_mode.")
        if self.tree_complexity <= 0 and self.pruning_mode != "none":
            raise ValueError(f"For pruning, tree_complexity must be positive. Given: {self.tree_complexity}")

    @property
    def max_splits(self) -> int:
        """How many nodes of a tree may have children."""
        return (1 << self.max_depth) - 1


class Grower(abc.ABC):
    """The operations that make trees of what a batch says. `groups` are features by their number of buckets."""

    def __init__(
        self, ensemble: Ensemble, quantiles: Quantiles | None, settings: TreeSettings, groups: dict[int, list[int]]
    ):
        self._ensemble, self._quantiles, self._settings, self._groups = ensemble, quantiles, settings, groups

    @abc.abstractmethod
    def start(self) -> Any:
        """What the chief runs in a new session."""

    @abc.abstractmethod
    def learn_boundaries(self, features: Sequence[Tensor], weights: Tensor, is_ready: Any) -> Any:
        """Takes a batch's numbers into account, and says so by the variable `is_ready` once there are boundaries."""

    @abc.abstractmethod
    def center(self, is_needed: Any, gradients: Tensor, hessians: Tensor) -> Any:
        """Moves what all examples have; the variable `is_needed` says whether that goes on."""

    @abc.abstractmethod
    def grow(self, sums: list[list[Tensor]], nodes: Tensor) -> Any:
        """Takes sums of gradients and hessians into account, for each feature of each group."""

    def sums(self, node_ids: Tensor, gradients: Tensor, hessians: Tensor, features: Sequence[Tensor]) -> list[list[Tensor]]:
        """[nodes, buckets, 2] for each feature of each group."""
        return [
            [
                squeeze(
                    make_stats_summary(
                        node_ids,
                        gradients,
                        hessians,
                        [features[number]],
                        max_splits=self._settings.max_splits,
                        num_buckets=buckets,
                    ),
                    axis=0,
                )
                for number in own
            ]
            for buckets, own in self._groups.items()
        ]

    def _learned(self, features: Sequence[Tensor], weights: Tensor) -> Any:
        assert self._quantiles is not None, "there are float features only where there are quantiles"
        return self._quantiles.add(features, weights)

    def _flushed(self, is_ready: Any) -> Any:
        assert self._quantiles is not None, "there are float features only where there are quantiles"
        with control_dependencies([self._quantiles.flush()]):
            return is_ready.assign(True).op

    def _centered(self, is_needed: Any, gradients: Tensor, hessians: Tensor) -> Any:
        goes_on = center_bias(self._ensemble.handle, gradients, hessians, self._settings.l1, self._settings.l2)
        return is_needed.assign(goes_on).op

    def _grown(self, sums: list[list[Tensor]], nodes: Tensor) -> Any:
        settings = self._settings
        found: list[list[Tensor]] = [[] for _ in range(5)]
        for own in sums:
            parts = calculate_best_gains(
                nodes,
                own,
                settings.l1,
                settings.l2,
                settings.tree_complexity,
                settings.min_node_weight,
                max_splits=settings.max_splits,
            )
            for all_of_kind, part in zip(found, parts, strict=True):
                all_of_kind += part
        features = [number for own in self._groups.values() for number in own]
        return update_ensemble(
            self._ensemble.handle,
            features,
            *found,
            settings.max_depth,
            settings.learning_rate,
            pruning_mode=_PRUNING[settings.pruning_mode],
        )


class InMemoryGrower(Grower):
    """Each batch is everything there is: it makes a layer at once."""

    def start(self) -> Any:
        return no_op()

    def learn_boundaries(self, features: Sequence[Tensor], weights: Tensor, is_ready: Any) -> Any:
        with control_dependencies([self._learned(features, weights)]):
            return self._flushed(is_ready)

    def center(self, is_needed: Any, gradients: Tensor, hessians: Tensor) -> Any:
        means = [expand_dims(reduce_mean(part, 0), 0) for part in (gradients, hessians)]
        return self._centered(is_needed, *means)

    def grow(self, sums: list[list[Tensor]], nodes: Tensor) -> Any:
        return self._grown(sums, nodes)


class AccumulatingGrower(Grower):
    """Batches are added up, of all workers together; the chief makes a layer of `batches` of them."""

    def __init__(
        self,
        ensemble: Ensemble,
        quantiles: Quantiles | None,
        settings: TreeSettings,
        groups: dict[int, list[int]],
        stamp: Tensor,
        batches: Any,
        is_chief: bool,
    ):
        super().__init__(ensemble, quantiles, settings, groups)
        self._stamp, self._batches, self._is_chief = stamp, batches, is_chief
        self._layers = [
            ConditionalAccumulator(
                dtypes.float32,
                [len(own), settings.max_splits, buckets, 2],
                shared_name=f"numeric_stats_summary_accumulator_{number}",
            )
            for number, (buckets, own) in enumerate(groups.items())
        ]
        self._bias = ConditionalAccumulator(dtypes.float32, [2, 1], shared_name="bias_accumulator")

    def start(self) -> Any:
        return group(*[one.set_global_step(self._stamp) for one in (*self._layers, self._bias)])

    def learn_boundaries(self, features: Sequence[Tensor], weights: Tensor, is_ready: Any) -> Any:
        count = ConditionalAccumulator(dtypes.float32, [], shared_name="quantile_summary_accum")
        added = group(
            self._learned(features, weights), count.set_global_step(self._stamp), count.apply_grad(0.0, self._stamp)
        )
        return self._once_enough(added, [count], lambda: group(count.take_grad(1), self._flushed(is_ready)))

    def center(self, is_needed: Any, gradients: Tensor, hessians: Tensor) -> Any:
        added = self._bias.apply_grad(reduce_mean(stack([gradients, hessians]), axis=1), self._stamp)

        def centered() -> Any:
            means = [expand_dims(part, 0) for part in unstack(self._bias.take_grad(1))]
            with control_dependencies([self._centered(is_needed, *means)]):
                return cond(is_needed.read_value(), no_op, self._next_stamp)

        return self._once_enough(added, [self._bias], centered)

    def _next_stamp(self) -> Any:
        return group(*[one.set_global_step(self._stamp + 1) for one in self._layers])

    def grow(self, sums: list[list[Tensor]], nodes: Tensor) -> Any:
        added = group(*[layer.apply_grad(stack(own), self._stamp) for layer, own in zip(self._layers, sums, strict=True)])

        def grown() -> Any:
            return self._grown([unstack(layer.take_grad(1)) for layer in self._layers], nodes)

        return self._once_enough(added, self._layers, grown)

    def _once_enough(self, added: Any, where: Sequence[ConditionalAccumulator], make: Callable[[], Any]) -> Any:
        """After `added`, what `make` makes, by the chief, if there are enough batches."""
        with control_dependencies([added]):
            if not self._is_chief:
                return no_op()
            least = reduce_min(stack([one.num_accumulated() for one in where]))
            return cond(greater_equal(least, self._batches), make, no_op)
