"""What trees are kept in while they grow, and in checkpoints: the ensemble, and the quantiles of features. TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import add_to_collection, control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.boosted_trees import (
    create_ensemble,
    deserialize_ensemble,
    get_ensemble_states,
    is_ensemble_initialized,
    serialize_ensemble,
    tree_ensemble_resource,
)
from tfexp.ops.quantile_stream_ops import (
    add_quantile_summaries,
    create_quantile_stream_resource,
    flush_quantile_stream,
    get_bucket_boundaries,
    is_quantile_stream_resource_initialized,
    make_quantile_summaries,
    quantile_stream_resource,
    restore_bucket_boundaries,
)
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.shared_resources import register_resource


class _SaveableEnsemble(SaveableObject):
    def __init__(self, handle: Tensor, create: Any):
        self._create = create
        stamp, serialized = serialize_ensemble(handle)
        name = handle.name
        specs = [SaveSpec(stamp, "", f"{name}_stamp"), SaveSpec(serialized, "", f"{name}_serialized")]
        super().__init__(handle, specs, name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with control_dependencies([self._create]):
            return deserialize_ensemble(self.op, *restored_tensors)


class Ensemble:
    """Trees that are shared by all workers and saved, or a worker's own copy of them."""

    def __init__(self, name: str, is_local: bool = False):
        with name_scope(name) as scope:
            self.handle = tree_ensemble_resource(shared_name=scope, name=scope)
            create = create_ensemble(self.handle, 0, "")
            if not is_local:
                add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _SaveableEnsemble(self.handle, create))
            register_resource(self.handle, create, is_ensemble_initialized(self.handle), is_shared=not is_local)

    def states(self) -> list[Tensor]:
        """The stamp, how many trees there are, how many are finished, how many layers were tried, the nodes to split."""
        names = ("stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers", "last_layer_nodes_range")
        return [identity(one, name=name) for one, name in zip(get_ensemble_states(self.handle), names, strict=True)]

    def become(self, other: Ensemble) -> Any:
        """The operation that copies the other's trees."""
        return deserialize_ensemble(self.handle, *serialize_ensemble(other.handle))


class _SaveableBoundaries(SaveableObject):
    def __init__(self, handle: Tensor, create: Any, boundaries: Sequence[Tensor]):
        self._create = create
        specs = [SaveSpec(one, "", f"{handle.name}_bucket_boundaries_{number}") for number, one in enumerate(boundaries)]
        super().__init__(handle, specs, handle.name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with control_dependencies([self._create]):
            return restore_bucket_boundaries(self.op, list(restored_tensors))


class Quantiles:
    """The boundaries of buckets for `count` float features, about `1 / epsilon` of each."""

    def __init__(self, epsilon: float, count: int):
        self._epsilon = epsilon
        self.buckets = int(1.0 / epsilon)
        with name_scope("QuantileAccumulator") as scope:
            self._handle = quantile_stream_resource(shared_name=scope, name=scope)
            create = create_quantile_stream_resource(self._handle, epsilon, count)
            is_initialized = is_quantile_stream_resource_initialized(self._handle)
            register_resource(self._handle, create, is_initialized)
            saved = get_bucket_boundaries(self._handle, num_features=count)
            add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _SaveableBoundaries(self._handle, create, saved))
        self.boundaries: list[Tensor] = get_bucket_boundaries(self._handle, num_features=count)

    def add(self, features: Sequence[Tensor], weights: Tensor) -> Any:
        """The operation that takes the values of a batch into account."""
        summaries = make_quantile_summaries(list(features), weights, self._epsilon)
        return add_quantile_summaries(self._handle, summaries)

    def flush(self) -> Any:
        """The operation that makes boundaries of what was added."""
        return group(flush_quantile_stream(self._handle, self.buckets))
