"""The ops of boosted trees; the trees are `ops.tree_ensemble`, the buckets of features `ops.quantile_stream_ops`. TF 1.15.

A leaf's value w is the best for the gradients g and hessians h of its examples: of 1/2 (h + l2) w^2 + g w + l1 |w|. Source:
Chen, Guestrin: "XGBoost: a scalable tree boosting system" (KDD 2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.formats.protos.boosted_trees import DebugOutput
from tfexp.ops.array import Array
from tfexp.ops.handle_ops import shared_or_own
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.string_arrays import texts_of
from tfexp.ops.tree_ensemble import Split, TreeEnsemble
from tfexp.ops.tree_splits import weights_and_gains

_TREES = "tree_ensemble_handle: resource"
_FEATURES = "bucketized_features: num_bucketized_features * int32"
_LOGITS = "{num_bucketized_features: int >= 1; logits_dimension: int} #stateful"
_SERIALIZED = "stamp_token: int64, tree_ensemble_serialized: string"

tree_ensemble_resource = define_op(
    "BoostedTreesEnsembleResourceHandleOp() -> (resource: resource) "
    "{container: string = ''; shared_name: string = ''} #stateful"
)
create_ensemble = define_op(f"BoostedTreesCreateEnsemble({_TREES}, {_SERIALIZED}) -> () #stateful")
is_ensemble_initialized = define_op(f"IsBoostedTreesEnsembleInitialized({_TREES}) -> (is_initialized: bool) #stateful")
serialize_ensemble = define_op(f"BoostedTreesSerializeEnsemble({_TREES}) -> ({_SERIALIZED}) #stateful")
deserialize_ensemble = define_op(f"BoostedTreesDeserializeEnsemble({_TREES}, {_SERIALIZED}) -> () #stateful")
get_ensemble_states = define_op(
    f"BoostedTreesGetEnsembleStates({_TREES}) -> (stamp_token: int64, num_trees: int32, num_finalized_trees: int32, "
    "num_attempted_layers: int32, last_layer_nodes_range: int32) #stateful"
)
predict = define_op(f"BoostedTreesPredict({_TREES}, {_FEATURES}) -> (logits: float) {_LOGITS}")
training_predict = define_op(
    f"BoostedTreesTrainingPredict({_TREES}, cached_tree_ids: int32, cached_node_ids: int32, {_FEATURES}) -> "
    f"(partial_logits: float, tree_ids: int32, node_ids: int32) {_LOGITS}"
)
example_debug_outputs = define_op(
    f"BoostedTreesExampleDebugOutputs({_TREES}, {_FEATURES}) -> (examples_debug_outputs_serialized: string) {_LOGITS}"
)
center_bias = define_op(
    f"BoostedTreesCenterBias({_TREES}, mean_gradients: float, mean_hessians: float, l1: float, l2: float) -> "
    "(continue_centering: bool) #stateful"
)
make_stats_summary = define_op(
    "BoostedTreesMakeStatsSummary(node_ids: int32, gradients: float, hessians: float, "
    "bucketized_features_list: num_features * int32) -> (stats_summary: float) "
    "{max_splits: int >= 1; num_buckets: int >= 1; num_features: int >= 1}"
)
calculate_best_gains = define_op(
    "BoostedTreesCalculateBestGainsPerFeature(node_id_range: int32, stats_summary_list: num_features * float, l1: float, "
    "l2: float, tree_complexity: float, min_node_weight: float) -> (node_ids_list: num_features * int32, "
    "gains_list: num_features * float, thresholds_list: num_features * int32, "
    "left_node_contribs_list: num_features * float, right_node_contribs_list: num_features * float) "
    "{max_splits: int >= 1; num_features: int >= 1}"
)
update_ensemble = define_op(
    f"BoostedTreesUpdateEnsemble({_TREES}, feature_ids: int32, node_ids: num_features * int32, "
    "gains: num_features * float, thresholds: num_features * int32, left_node_contribs: num_features * float, "
    "right_node_contribs: num_features * float, max_depth: int32, learning_rate: float) -> () "
    "{pruning_mode: int >= 0; num_features: int >= 0} #stateful"
)
update_ensemble_v2 = define_op(
    f"BoostedTreesUpdateEnsembleV2({_TREES}, feature_ids: int32, dimension_ids: num_features * int32, "
    "node_ids: num_features * int32, gains: num_features * float, thresholds: num_features * int32, "
    "left_node_contribs: num_features * float, right_node_contribs: num_features * float, "
    "split_types: num_features * string, max_depth: int32, learning_rate: float, pruning_mode: int32) -> () "
    "{num_features: int >= 0; logits_dimension: int = 1} #stateful"
)


_ENOUGH_CENTERED = 0.01

# --- the ensemble ------------------------------------------------------------------------------------------------------


@tree_ensemble_resource.shape
def _() -> TensorShape:
    return TensorShape([])


@tree_ensemble_resource.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> TreeEnsemble:
    found: TreeEnsemble = shared_or_own(ctx, "tree ensemble", container, shared_name, TreeEnsemble)
    return found


for _op in (create_ensemble, deserialize_ensemble):

    @_op.shape
    def _(trees: InputShape, stamp_token: InputShape, serialized: InputShape) -> None:
        with_rank(stamp_token, 0)
        with_rank(serialized, 0)


@create_ensemble.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble, stamp_token: Array, serialized: Array) -> None:
    trees.create(int(stamp_token), texts_of(serialized)[0])


@deserialize_ensemble.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble, stamp_token: Array, serialized: Array) -> None:
    trees.checked().restore(int(stamp_token), texts_of(serialized)[0])


@is_ensemble_initialized.shape
def _(trees: InputShape) -> TensorShape:
    return TensorShape([])


@is_ensemble_initialized.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble) -> Any:
    return np.bool_(trees.is_initialized)


@serialize_ensemble.shape
def _(trees: InputShape) -> list[TensorShape]:
    return [TensorShape([])] * 2


@serialize_ensemble.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble) -> list[Any]:
    trees.checked()
    return [np.int64(trees.stamp), np.array(trees.serialized(), object)]


@get_ensemble_states.shape
def _(trees: InputShape) -> list[TensorShape]:
    return [TensorShape([])] * 4 + [TensorShape([2])]


@get_ensemble_states.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble) -> list[Any]:
    trees.checked()
    first, end = trees.last_layer
    counts = [np.int32(one) for one in (len(trees.trees), trees.finalized, trees.layers_attempted)]
    return [np.int64(trees.stamp), *counts, np.array([first, max(end, 1)], np.int32)]


# --- what it says of examples ------------------------------------------------------------------------------------------


def _buckets(features: list[Array]) -> Array:
    """[features, examples]."""
    return np.stack([feature.reshape(-1) for feature in features])


def _rows(features: list[InputShape]) -> Any:
    shape: Any = TensorShape([None])
    for feature in features:
        shape = merged(shape, with_rank(feature, 1))
    return shape.as_list()[0]


@predict.shape
def _(trees: InputShape, features: list[InputShape], *, logits_dimension: int) -> TensorShape:
    return TensorShape([_rows(features), logits_dimension])


@predict.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble, features: list[Array], *, logits_dimension: int) -> Array:
    _require_one(logits_dimension)
    return trees.checked().logits(_buckets(features))[:, np.newaxis]


@training_predict.shape
def _(
    trees: InputShape, tree_ids: InputShape, node_ids: InputShape, features: list[InputShape], *, logits_dimension: int
) -> list[TensorShape]:
    rows = _rows([tree_ids, node_ids, *features])
    return [TensorShape([rows, logits_dimension]), TensorShape([rows]), TensorShape([rows])]


@training_predict.kernel("CPU")
def _(
    ctx: Any, trees: TreeEnsemble, tree_ids: Array, node_ids: Array, features: list[Array], *, logits_dimension: int
) -> list[Array]:
    """Since an example was at a node of a tree, the change of its logit, and where it is now."""
    _require_one(logits_dimension)
    change, tree, node = trees.checked().changes(_buckets(features), tree_ids.reshape(-1), node_ids.reshape(-1))
    return [change[:, np.newaxis], tree, node]


@example_debug_outputs.shape
def _(trees: InputShape, features: list[InputShape], *, logits_dimension: int) -> TensorShape:
    return TensorShape([_rows(features)])


@example_debug_outputs.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble, features: list[Array], *, logits_dimension: int) -> Array:
    """A DebugOutput of each example: the features that split it, and the logits on its way."""
    _require_one(logits_dimension)
    paths = zip(*trees.checked().paths(_buckets(features)), strict=True)
    made = [DebugOutput(feature_ids=ids, logits_path=logits).SerializeToString() for ids, logits in paths]
    found = np.empty(len(made), object)
    found[:] = made
    return found


def _require_one(logits_dimension: int) -> None:
    if logits_dimension != 1:
        raise invalid(f"Currently only one dimensional outputs are supported: {logits_dimension}")


# --- how it grows ------------------------------------------------------------------------------------------------------


@center_bias.shape
def _(trees: InputShape, gradients: InputShape, hessians: InputShape, l1: InputShape, l2: InputShape) -> TensorShape:
    merged(with_rank(gradients, 2), with_rank(hessians, 2))
    return TensorShape([])


@center_bias.kernel("CPU")
def _(ctx: Any, trees: TreeEnsemble, mean_gradients: Array, mean_hessians: Array, l1: Array, l2: Array) -> Any:
    """Moves the root of the first tree to the value that is best for all. Whether that was far from where it stood."""
    bias = float(weights_and_gains(mean_gradients, mean_hessians, l1, l2)[0].reshape(-1)[0])
    before = trees.checked().center(bias)
    return np.bool_(before is None or abs(bias) > _ENOUGH_CENTERED * abs(before))


@make_stats_summary.shape
def _(
    node_ids: InputShape,
    gradients: InputShape,
    hessians: InputShape,
    features: list[InputShape],
    *,
    max_splits: int,
    num_buckets: int,
) -> TensorShape:
    merged(with_rank(gradients, 2), with_rank(hessians, 2))
    _rows([node_ids, *features])
    return TensorShape([len(features), max_splits, num_buckets, 2])


@make_stats_summary.kernel("CPU")
def _(
    ctx: Any,
    node_ids: Array,
    gradients: Array,
    hessians: Array,
    features: list[Array],
    *,
    max_splits: int,
    num_buckets: int,
) -> Array:
    """[features, nodes, buckets, 2]: the sums of gradients and of hessians."""
    buckets = _buckets(features)
    if buckets.size and buckets.min() < 0:
        raise invalid(f"Buckets must not be negative, and are {buckets.min()} and more")
    # There may be a boundary more than buckets: what is above the last of them goes there too. TensorFlow writes elsewhere.
    buckets = np.minimum(buckets, num_buckets - 1)
    if node_ids.size and not (node_ids.min() >= 0 and node_ids.max() < max_splits):
        raise invalid(f"Nodes must be in [0, {max_splits}), and are {node_ids.min()} to {node_ids.max()}")
    shape = (len(features), max_splits, num_buckets)
    place = np.ravel_multi_index((np.arange(len(features))[:, np.newaxis], node_ids.reshape(1, -1), buckets), shape)
    sums = [
        np.bincount(place.reshape(-1), np.tile(part.reshape(-1), len(features)), minlength=int(np.prod(shape)))
        for part in (gradients, hessians)
    ]
    return np.stack(sums, axis=-1).reshape(*shape, 2).astype(np.float32)


@calculate_best_gains.shape
def _(
    node_id_range: InputShape,
    summaries: list[InputShape],
    l1: InputShape,
    l2: InputShape,
    tree_complexity: InputShape,
    min_node_weight: InputShape,
) -> list[TensorShape]:
    with_rank(node_id_range, 1)
    for shape in summaries:
        with_rank(shape, 3)
    vectors, columns = [TensorShape([None])] * len(summaries), [TensorShape([None, 1])] * len(summaries)
    return [*vectors * 3, *columns * 2]


@calculate_best_gains.kernel("CPU")
def _(
    ctx: Any,
    node_id_range: Array,
    stats_summary_list: list[Array],
    l1: Array,
    l2: Array,
    tree_complexity: Array,
    min_node_weight: Array,
) -> list[Array]:
    """Of each feature: the nodes with enough weight, and for each its best split."""
    found = [
        _best_splits(summary, node_id_range, l1, l2, tree_complexity, min_node_weight) for summary in stats_summary_list
    ]
    return [part for parts in zip(*found, strict=True) for part in parts]


def _best_splits(summary: Array, node_id_range: Array, l1: Any, l2: Any, complexity: Any, least: Any) -> tuple[Array, ...]:
    first, end = (int(one) for one in node_id_range)
    sums = np.cumsum(summary[first:end], axis=1, dtype=np.float32)
    total = sums[:, -1]
    heavy = np.flatnonzero(total[:, 1] >= least)
    sums, total = sums[heavy], total[heavy, np.newaxis]
    left, left_gain = weights_and_gains(sums[..., 0], sums[..., 1], l1, l2)
    rest = total - sums
    right, right_gain = weights_and_gains(rest[..., 0], rest[..., 1], l1, l2)
    gains = left_gain + right_gain
    best = np.argmax(gains, axis=1)[:, np.newaxis]
    parent = weights_and_gains(total[..., 0], total[..., 1], l1, l2)[1]
    gain, low, high = (np.take_along_axis(part, best, axis=1) for part in (gains, left, right))
    nodes = (first + heavy).astype(np.int32)
    return nodes, (gain - parent - complexity)[:, 0].astype(np.float32), best[:, 0].astype(np.int32), low, high


@update_ensemble.shape
def _(
    trees: InputShape,
    feature_ids: InputShape,
    node_ids: list[InputShape],
    gains: list[InputShape],
    thresholds: list[InputShape],
    left: list[InputShape],
    right: list[InputShape],
    max_depth: InputShape,
    learning_rate: InputShape,
) -> None:
    with_rank(feature_ids, 1)
    with_rank(max_depth, 0)
    with_rank(learning_rate, 0)


@update_ensemble.kernel("CPU")
def _(
    ctx: Any,
    trees: TreeEnsemble,
    feature_ids: Array,
    node_ids: list[Array],
    gains: list[Array],
    thresholds: list[Array],
    left_node_contribs: list[Array],
    right_node_contribs: list[Array],
    max_depth: Array,
    learning_rate: Array,
    *,
    pruning_mode: int,
) -> None:
    columns = (node_ids, gains, thresholds, left_node_contribs, right_node_contribs)
    trees.checked().grow(_chosen(feature_ids, columns, learning_rate), int(max_depth), pruning_mode)


@update_ensemble_v2.shape
def _(
    trees: InputShape,
    feature_ids: InputShape,
    dimension_ids: list[InputShape],
    node_ids: list[InputShape],
    gains: list[InputShape],
    thresholds: list[InputShape],
    left: list[InputShape],
    right: list[InputShape],
    split_types: list[InputShape],
    max_depth: InputShape,
    learning_rate: InputShape,
    pruning_mode: InputShape,
) -> None:
    with_rank(feature_ids, 1)
    for rows, *values in zip(node_ids, left, right, strict=True):
        for value in values:
            merged(with_rank(value, 2), TensorShape([with_rank(rows, 1)[0], 1]))
    for scalar in (max_depth, learning_rate, pruning_mode):
        with_rank(scalar, 0)


@update_ensemble_v2.kernel("CPU")
def _(
    ctx: Any,
    trees: TreeEnsemble,
    feature_ids: Array,
    dimension_ids: list[Array],
    node_ids: list[Array],
    gains: list[Array],
    thresholds: list[Array],
    left_node_contribs: list[Array],
    right_node_contribs: list[Array],
    split_types: list[Array],
    max_depth: Array,
    learning_rate: Array,
    pruning_mode: Array,
    *,
    logits_dimension: int,
) -> None:
    """Every split is by what is up to a threshold, whatever its type, as in TensorFlow."""
    _require_one(logits_dimension)
    columns = (node_ids, gains, thresholds, left_node_contribs, right_node_contribs, dimension_ids)
    trees.checked().grow(_chosen(feature_ids, columns, learning_rate), int(max_depth), int(pruning_mode))


def _chosen(feature_ids: Array, columns: tuple[list[Array], ...], learning_rate: Array) -> list[Split]:
    """For each node the split by the feature that gains most, by the first of them where several do."""
    sizes = [part.size for part in columns[0]]
    if not sum(sizes):
        return []
    nodes, gains, thresholds, left, right, *dimensions = (
        np.concatenate([part.reshape(-1) for part in parts]) for parts in columns
    )
    features = np.repeat(feature_ids, sizes)
    order = np.lexsort((features, -gains, nodes))
    chosen = order[np.unique(nodes[order], return_index=True)[1]]
    fields = (nodes, features, thresholds, gains, left * learning_rate, right * learning_rate, *dimensions)
    return [Split(*row) for row in zip(*(column[chosen].tolist() for column in fields), strict=True)]
