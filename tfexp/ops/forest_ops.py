"""The ops of random forests (`tf.contrib.tensor_forest`); trees and statistics are `ops.forest_trees`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import UnimplementedError, invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.forest_trees import DecisionTree, FertileStats, params_of
from tfexp.ops.handle_ops import shared_or_own
from tfexp.ops.string_arrays import texts_of

_TREE, _STATS = "tree_handle: resource", "stats_handle: resource"
_SHARED = "() -> (resource: resource) {container: string = ''; shared_name: string = ''} #stateful"
_SPARSE = "sparse_input_indices: int64, sparse_input_values: float, sparse_input_shape: int64"
_PARAMS = "{params: string} #stateful"
_SPEC = "{input_spec: string; params: string} #stateful"

decision_tree_resource_handle = define_op(f"DecisionTreeResourceHandleOp{_SHARED}")
create_tree_variable = define_op(f"CreateTreeVariable({_TREE}, tree_config: string) -> () {_PARAMS}")
tree_is_initialized = define_op(f"TreeIsInitializedOp({_TREE}) -> (is_initialized: bool) #stateful")
tree_serialize = define_op(f"TreeSerialize({_TREE}) -> (tree_config: string) #stateful")
tree_deserialize = define_op(f"TreeDeserialize({_TREE}, tree_config: string) -> () {_PARAMS}")
tree_size = define_op(f"TreeSize({_TREE}) -> (tree_size: int32) #stateful")
feature_usage_counts = define_op(f"FeatureUsageCounts({_TREE}) -> (feature_counts: int32) {_PARAMS}")
traverse_tree_v4 = define_op(f"TraverseTreeV4({_TREE}, input_data: float, {_SPARSE}) -> (leaf_ids: int32) {_SPEC}")
tree_predictions_v4 = define_op(
    f"TreePredictionsV4({_TREE}, input_data: float, {_SPARSE}) -> (predictions: float, tree_paths: string) {_SPEC}"
)
update_model_v4 = define_op(
    f"UpdateModelV4({_TREE}, leaf_ids: int32, input_labels: float, input_weights: float) -> () {_PARAMS}"
)
fertile_stats_resource_handle = define_op(f"FertileStatsResourceHandleOp{_SHARED}")
create_fertile_stats_variable = define_op(f"CreateFertileStatsVariable({_STATS}, stats_config: string) -> () {_PARAMS}")
fertile_stats_is_initialized = define_op(f"FertileStatsIsInitializedOp({_STATS}) -> (is_initialized: bool) #stateful")
fertile_stats_serialize = define_op(f"FertileStatsSerialize({_STATS}) -> (stats_config: string) {_PARAMS}")
fertile_stats_deserialize = define_op(f"FertileStatsDeserialize({_STATS}, stats_config: string) -> () {_PARAMS}")
process_input_v4 = define_op(
    f"ProcessInputV4({_TREE}, {_STATS}, input_data: float, {_SPARSE}, input_labels: float, input_weights: float, "
    "leaf_ids: int32) -> (finished_nodes: int32) {random_seed: int; input_spec: string; params: string} #stateful"
)
grow_tree_v4 = define_op(f"GrowTreeV4({_TREE}, {_STATS}, finished_nodes: int32) -> () {_PARAMS}")
finalize_tree = define_op(f"FinalizeTree({_TREE}, {_STATS}) -> () {_PARAMS}")


# --- handles, and what checkpoints have ---------------------------------------------------------------------------------


for _op in (decision_tree_resource_handle, fertile_stats_resource_handle):

    @_op.shape
    def _() -> TensorShape:
        return TensorShape([])


@decision_tree_resource_handle.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> DecisionTree:
    found: DecisionTree = shared_or_own(ctx, "decision tree", container, shared_name, DecisionTree)
    return found


@fertile_stats_resource_handle.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> FertileStats:
    found: FertileStats = shared_or_own(ctx, "fertile stats", container, shared_name, FertileStats)
    return found


for _op in (tree_is_initialized, fertile_stats_is_initialized, tree_serialize, tree_size):

    @_op.shape
    def _(handle: InputShape) -> TensorShape:
        return TensorShape([])


for _op in (tree_is_initialized, fertile_stats_is_initialized):

    @_op.kernel("CPU")
    def _(ctx: Any, made: Any) -> Any:
        return np.bool_(made.is_initialized)


for _op in (create_tree_variable, tree_deserialize, create_fertile_stats_variable, fertile_stats_deserialize):

    @_op.shape
    def _(handle: InputShape, config: InputShape, *, params: str) -> None:
        return None


@create_tree_variable.kernel("CPU")
def _(ctx: Any, tree: DecisionTree, tree_config: Array, *, params: str) -> None:
    if not tree.is_initialized:
        tree.restore(texts_of(tree_config)[0], params_of(params).num_outputs)


@tree_deserialize.kernel("CPU")
def _(ctx: Any, tree: DecisionTree, tree_config: Array, *, params: str) -> None:
    tree.checked().restore(texts_of(tree_config)[0], params_of(params).num_outputs)


@create_fertile_stats_variable.kernel("CPU")
def _(ctx: Any, stats: FertileStats, stats_config: Array, *, params: str) -> None:
    if not stats.is_initialized:
        stats.restore(texts_of(stats_config)[0], params_of(params))


@fertile_stats_deserialize.kernel("CPU")
def _(ctx: Any, stats: FertileStats, stats_config: Array, *, params: str) -> None:
    stats.checked().restore(texts_of(stats_config)[0], params_of(params))


@tree_serialize.kernel("CPU")
def _(ctx: Any, tree: DecisionTree) -> Any:
    return np.array(tree.checked().serialized(), object)


@fertile_stats_serialize.shape
def _(stats: InputShape, *, params: str) -> TensorShape:
    return TensorShape([])


@fertile_stats_serialize.kernel("CPU")
def _(ctx: Any, stats: FertileStats, *, params: str) -> Any:
    return np.array(stats.checked().serialized(params_of(params)), object)


@tree_size.kernel("CPU")
def _(ctx: Any, tree: DecisionTree) -> Any:
    return np.int32(len(tree.checked()))


@feature_usage_counts.shape
def _(tree: InputShape, *, params: str) -> TensorShape:
    return TensorShape([None])


@feature_usage_counts.kernel("CPU")
def _(ctx: Any, tree: DecisionTree, *, params: str) -> Array:
    """By how many nodes each feature splits."""
    used = tree.checked().feature
    return np.bincount(used[used >= 0], minlength=params_of(params).num_features).astype(np.int32)


# --- what a tree says of examples -----------------------------------------------------------------------------------------


def _dense(data: Array, sparse_shape: Array) -> Array:
    if sparse_shape.size:
        raise UnimplementedError(None, None, f"Forests have no sparse features, and there are some of shape {sparse_shape}")
    if data.ndim != 2:
        raise invalid(f"input_data must be of rank 2: [examples, features], and is of shape {list(data.shape)}")
    return data


def _rows(data: InputShape) -> Any:
    return data.as_list()[0] if data.rank == 2 else None


@traverse_tree_v4.shape
def _(
    tree: InputShape, data: InputShape, indices: InputShape, values: InputShape, shape: InputShape, **attrs: Any
) -> TensorShape:
    return TensorShape([_rows(data)])


@traverse_tree_v4.kernel("CPU")
def _(
    ctx: Any, tree: DecisionTree, data: Array, indices: Array, values: Array, shape: Array, *, input_spec: str, params: str
) -> Array:
    return tree.checked().leaves(_dense(data, shape))


@tree_predictions_v4.shape
def _(
    tree: InputShape, data: InputShape, indices: InputShape, values: InputShape, shape: InputShape, **attrs: Any
) -> list[TensorShape]:
    return [TensorShape([_rows(data), None]), TensorShape([None])]


@tree_predictions_v4.kernel("CPU")
def _(
    ctx: Any, tree: DecisionTree, data: Array, indices: Array, values: Array, shape: Array, *, input_spec: str, params: str
) -> list[Array]:
    """[examples, outputs], which are probabilities or numbers; of each example its TreePath, or none of any."""
    settings = params_of(params)
    found = tree.checked().output[tree.leaves(_dense(data, shape))]
    if not settings.is_regression:
        weight = found.sum(axis=1, keepdims=True)
        found = np.divide(found, weight, out=np.zeros_like(found), where=weight > 0)
    return [found, np.array(tree.paths(data) if settings.inference_tree_paths else [], object)]


# --- how a tree grows -----------------------------------------------------------------------------------------------------


def _sums(labels: Array, weights: Array, params: Any) -> Array:
    """[examples, sums]: see `ops.forest_trees`."""
    targets = labels.reshape(len(labels), -1).astype(np.float64)
    weight = weights.astype(np.float64) if weights.size else np.ones(len(labels))
    weight = weight.reshape(-1, 1)
    if params.is_regression:
        return np.concatenate([weight * targets, weight * targets**2, weight], axis=1)
    classes = targets[:, 0].astype(np.int64)
    if classes.size and not (classes.min() >= 0 and classes.max() < params.num_outputs):
        raise invalid(f"Labels must be in [0, {params.num_outputs}), and are {classes.min()} to {classes.max()}")
    return np.eye(params.num_outputs)[classes] * weight


@update_model_v4.shape
def _(tree: InputShape, leaves: InputShape, labels: InputShape, weights: InputShape, *, params: str) -> None:
    return None


@update_model_v4.kernel("CPU")
def _(ctx: Any, tree: DecisionTree, leaves: Array, labels: Array, weights: Array, *, params: str) -> None:
    """Leaves count the classes of their examples. Those of numbers stay with what they had when they were made."""
    settings = params_of(params)
    if not settings.is_regression:
        np.add.at(tree.checked().output, leaves, _sums(labels, weights, settings).astype(np.float32))


@process_input_v4.shape
def _(*shapes: InputShape, **attrs: Any) -> TensorShape:
    return TensorShape([None])


@process_input_v4.kernel("CPU")
def _(
    ctx: Any,
    tree: DecisionTree,
    stats: FertileStats,
    data: Array,
    indices: Array,
    values: Array,
    shape: Array,
    labels: Array,
    weights: Array,
    leaves: Array,
    *,
    random_seed: int,
    input_spec: str,
    params: str,
) -> Array:
    settings = params_of(params)
    rows = _sums(labels, weights, settings)
    finished = stats.checked().add(tree.checked(), settings, _dense(data, shape), rows, leaves, random_seed)
    return np.array(finished, np.int32)


@grow_tree_v4.shape
def _(tree: InputShape, stats: InputShape, finished: InputShape, *, params: str) -> None:
    return None


@grow_tree_v4.kernel("CPU")
def _(ctx: Any, tree: DecisionTree, stats: FertileStats, finished: Array, *, params: str) -> None:
    stats.checked().grow(tree.checked(), params_of(params), finished.tolist())


@finalize_tree.shape
def _(tree: InputShape, stats: InputShape, *, params: str) -> None:
    return None


@finalize_tree.kernel("CPU")
def _(ctx: Any, tree: DecisionTree, stats: FertileStats, *, params: str) -> None:
    """Leaves of both kinds of models here have at all times what TensorFlow gives them at the end: nothing is left to do."""
    tree.checked()
