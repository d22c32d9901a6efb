"""What boosted trees sum up of a feature with several dimensions, and the splits that are best for the sums. TF 1.15.

Behind a feature's buckets is one more, of the examples that have no value. Such a bucket goes with one of the sides of a
split, which is the split's default direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

_EXAMPLES = "node_ids: int32, gradients: float, hessians: float"
_SIZES = "{max_splits: int >= 1; num_buckets: int >= 1}"
_SETTINGS = "l1: float, l2: float, tree_complexity: float, min_node_weight: float"
_SPLITS = (
    "node_ids: int32, gains: float, feature_dimensions: int32, thresholds: int32, left_node_contribs: float, "
    "right_node_contribs: float, split_with_default_directions: string"
)

aggregate_stats = define_op(f"BoostedTreesAggregateStats({_EXAMPLES}, feature: int32) -> (stats_summary: float) {_SIZES}")
calculate_best_split = define_op(
    f"BoostedTreesCalculateBestFeatureSplit(node_id_range: int32, stats_summary: float, {_SETTINGS}) -> ({_SPLITS}) "
    "{logits_dimension: int >= 1; split_type: string in ['inequality','equality'] = 'inequality'}"
)
sparse_aggregate_stats = define_op(
    f"BoostedTreesSparseAggregateStats({_EXAMPLES}, feature_indices: int32, feature_values: int32, feature_shape: int32) -> "
    f"(stats_summary_indices: int32, stats_summary_values: float, stats_summary_shape: int32) {_SIZES}"
)
sparse_calculate_best_split = define_op(
    "BoostedTreesSparseCalculateBestFeatureSplit(node_id_range: int32, stats_summary_indices: int32, "
    f"stats_summary_values: float, stats_summary_shape: int32, {_SETTINGS}) -> ({_SPLITS}) "
    "{logits_dimension: int >= 1; split_type: string in ['inequality'] = 'inequality'}"
)

TINY = 1e-15  # hessians and differences of gains up to here are none


def weights_and_gains(g: Array, h: Array, l1: Any, l2: Any) -> tuple[Array, Array]:
    """Of leaves with one logit: their best values, and what is gained by them (twice)."""
    g = np.copysign(np.maximum(np.abs(g) - l1, 0), g) if l1 > 0 else g
    mass = h + l2
    weights = np.where(mass > TINY, -g / np.where(mass > TINY, mass, 1), 0).astype(np.float32)
    return weights, -g * weights


def _weights_and_gains(sums: Array, logits: int, l1: Any, l2: Any) -> tuple[Array, Array]:
    """That for sums [..., gradients and hessians], whose hessians are those of each logit or a whole matrix of them.

    Of several logits no weight is pulled to zero by `l1`, as in TensorFlow.
    """
    g, h = sums[..., :logits], sums[..., logits:]
    if logits == 1:
        weights, gains = weights_and_gains(g, h, l1, l2)
        return weights, gains[..., 0]
    if h.shape[-1] == logits:
        weights = weights_and_gains(g, h, 0, l2)[0]
    else:
        matrices = h.reshape(*h.shape[:-1], logits, logits) + l2 * np.eye(logits, dtype=np.float32)
        weights = -(np.linalg.pinv(matrices) @ g[..., np.newaxis])[..., 0]
    return weights, -(g * weights).sum(-1)


@aggregate_stats.shape
def _(
    node_ids: InputShape,
    gradients: InputShape,
    hessians: InputShape,
    feature: InputShape,
    *,
    max_splits: int,
    num_buckets: int,
) -> TensorShape:
    _check_examples(node_ids, gradients, hessians, feature)
    sums = with_rank(gradients, 2)[1].value, with_rank(hessians, 2)[1].value
    width = None if None in sums else sum(sums)  # type: ignore[arg-type]
    return TensorShape([max_splits, with_rank(feature, 2)[1], num_buckets + 1, width])


def _check_examples(*parts: InputShape) -> None:
    node_ids, *matrices = parts
    rows: Any = with_rank(node_ids, 1)
    for matrix in matrices:
        rows = merged(rows, with_rank(matrix, 2)[:1])


@aggregate_stats.kernel("CPU")
def _(
    ctx: Any,
    node_ids: Array,
    gradients: Array,
    hessians: Array,
    feature: Array,
    *,
    max_splits: int,
    num_buckets: int,
) -> Array:
    """[nodes, dimensions, buckets and the one without, gradients and hessians]. A feature of -1 is none."""
    return _sums(node_ids, gradients, hessians, np.where(feature == -1, num_buckets, feature), max_splits, num_buckets)


def _sums(node_ids: Array, gradients: Array, hessians: Array, buckets: Array, max_splits: int, num_buckets: int) -> Array:
    if node_ids.size and not (node_ids.min() >= 0 and node_ids.max() < max_splits):
        raise invalid(f"Nodes must be in [0, {max_splits}), and are {node_ids.min()} to {node_ids.max()}")
    if buckets.size and not (buckets.min() >= 0 and buckets.max() <= num_buckets):
        raise invalid(f"Buckets must be in [0, {num_buckets}], and are {buckets.min()} to {buckets.max()}")
    parts = np.concatenate([gradients, hessians], axis=1)
    sums = np.zeros((max_splits, buckets.shape[1], num_buckets + 1, parts.shape[1]), np.float32)
    np.add.at(sums, (node_ids[:, np.newaxis], np.arange(buckets.shape[1]), buckets), parts[:, np.newaxis])
    return sums


@sparse_aggregate_stats.shape
def _(
    node_ids: InputShape,
    gradients: InputShape,
    hessians: InputShape,
    indices: InputShape,
    values: InputShape,
    dense_shape: InputShape,
) -> list[TensorShape]:
    _check_examples(node_ids, gradients, hessians)
    merged(with_rank(indices, 2)[:1], with_rank(values, 1))
    merged(with_rank(dense_shape, 1), TensorShape([2]))
    return [TensorShape([None, 4]), TensorShape([None]), TensorShape([4])]


@sparse_aggregate_stats.kernel("CPU")
def _(
    ctx: Any,
    node_ids: Array,
    gradients: Array,
    hessians: Array,
    indices: Array,
    values: Array,
    dense_shape: Array,
    *,
    max_splits: int,
    num_buckets: int,
) -> list[Array]:
    """The places of those sums that have examples, what is there, and the shape of them all."""
    buckets = np.full(dense_shape, num_buckets)
    buckets[tuple(indices.T)] = values
    sums = _sums(node_ids, gradients, hessians, buckets, max_splits, num_buckets)
    has_examples = np.zeros(sums.shape, bool)
    has_examples[node_ids[:, np.newaxis], np.arange(buckets.shape[1]), buckets] = True
    return [np.argwhere(has_examples).astype(np.int32), sums[has_examples], np.array(sums.shape, np.int32)]


def _split_shapes(node_id_range: InputShape, *settings: InputShape) -> list[TensorShape]:
    merged(with_rank(node_id_range, 1), TensorShape([2]))
    for setting in settings:
        with_rank(setting, 0)
    return [TensorShape([None])] * 7


@calculate_best_split.shape
def _(
    node_id_range: InputShape,
    stats_summary: InputShape,
    l1: InputShape,
    l2: InputShape,
    tree_complexity: InputShape,
    min_node_weight: InputShape,
) -> list[TensorShape]:
    with_rank(stats_summary, 4)
    return _split_shapes(node_id_range, l1, l2, tree_complexity, min_node_weight)


@calculate_best_split.kernel("CPU")
def _(
    ctx: Any,
    node_id_range: Array,
    stats_summary: Array,
    l1: Array,
    l2: Array,
    tree_complexity: Array,
    min_node_weight: Array,
    *,
    logits_dimension: int,
    split_type: str,
) -> list[Array]:
    """Of each node with enough weight the best split; of equal ones that of the first dimension and of the left default."""
    first, end = (int(one) for one in node_id_range)
    stats = stats_summary[first:end]
    total = stats.sum(axis=2)
    heavy = _are_heavy(total, logits_dimension, min_node_weight)
    stats, total = stats[heavy], total[heavy]
    buckets = stats[:, :, :-1]
    if split_type == "equality":
        left, total, labels = buckets, total[:, :1], [b"EQUALITY_DEFAULT_RIGHT"]
    else:
        below = np.cumsum(buckets, axis=2, dtype=np.float32)
        left = _by_turns(below + stats[:, :, -1:], below)
        labels = [b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT"]
    found = _best_splits(left, total, np.ones(left.shape[:3], bool), labels, logits_dimension, l1, l2, tree_complexity)
    return [(first + heavy).astype(np.int32), *found]


@sparse_calculate_best_split.shape
def _(
    node_id_range: InputShape,
    indices: InputShape,
    values: InputShape,
    dense_shape: InputShape,
    l1: InputShape,
    l2: InputShape,
    tree_complexity: InputShape,
    min_node_weight: InputShape,
) -> list[TensorShape]:
    merged(with_rank(indices, 2)[:1], with_rank(values, 1))
    merged(with_rank(dense_shape, 1), TensorShape([4]))
    return _split_shapes(node_id_range, l1, l2, tree_complexity, min_node_weight)


@sparse_calculate_best_split.kernel("CPU")
def _(
    ctx: Any,
    node_id_range: Array,
    indices: Array,
    values: Array,
    dense_shape: Array,
    l1: Array,
    l2: Array,
    tree_complexity: Array,
    min_node_weight: Array,
    *,
    logits_dimension: int,
    split_type: str,
) -> list[Array]:
    """That, among the buckets that have examples. A node's sum is that of the first dimension with any; of equal splits, the
    right default comes first."""
    first, end = (int(one) for one in node_id_range)
    stats = np.zeros(dense_shape, np.float32)
    stats[tuple(indices.T)] = values
    has_examples = np.zeros(dense_shape[:3], bool)
    has_examples[tuple(indices.T[:3])] = True
    stats, has_examples = stats[first:end], has_examples[first:end]
    place = has_examples.any(axis=2).argmax(axis=1)
    total = stats[np.arange(len(stats)), place].sum(axis=1)[:, np.newaxis]
    has_splits: Any = has_examples[:, :, :-1].any(axis=(1, 2))
    heavy = _are_heavy(total, logits_dimension, min_node_weight)
    heavy = heavy[has_splits[heavy]]
    stats, total, is_there = stats[heavy], total[heavy], has_examples[heavy, :, :-1]
    below = np.cumsum(stats[:, :, :-1], axis=2, dtype=np.float32)
    left = _by_turns(below, below + stats[:, :, -1:])
    labels = [b"INEQUALITY_DEFAULT_RIGHT", b"INEQUALITY_DEFAULT_LEFT"]
    found = _best_splits(left, total, _by_turns(is_there, is_there), labels, logits_dimension, l1, l2, tree_complexity)
    return [(first + heavy).astype(np.int32), *found]


def _are_heavy(total: Array, logits: int, least: Any) -> Array:
    """The nodes whose hessians weigh enough."""
    return np.flatnonzero(np.linalg.norm(total[:, 0, logits:], axis=-1) >= least)


def _by_turns(first: Array, second: Array) -> Array:
    """Of every threshold [nodes, dimensions, thresholds, ...] the first, then the second."""
    nodes, dimensions, thresholds, *rest = first.shape
    return np.stack([first, second], axis=3).reshape(nodes, dimensions, 2 * thresholds, *rest)


def _best_splits(
    left: Array, total: Array, allowed: Array, labels: list[bytes], logits: int, l1: Any, l2: Any, complexity: Any
) -> list[Array]:
    """Of each node: gain, dimension, threshold, both sides' values and the label.

    `left` has the sums on the left [nodes, dimensions, thresholds with each label, sums], and `total` those of both sides
    [nodes, dimensions or one, sums]. Splits that are not `allowed` [nodes, dimensions, thresholds] are none.
    """
    nodes, dimensions, thresholds = allowed.shape
    low, low_gains = _weights_and_gains(left, logits, l1, l2)
    high, high_gains = _weights_and_gains(total[:, :, np.newaxis] - left, logits, l1, l2)
    gains = np.where(allowed, low_gains + high_gains, -np.inf)
    parent = _weights_and_gains(total[:, 0], logits, l1, l2)[1]
    rows = np.arange(nodes)
    best = gains.reshape(nodes, dimensions * thresholds).argmax(axis=1) if nodes else rows
    dimension, place = np.divmod(best, thresholds)
    threshold, label = np.divmod(place, len(labels))
    return [
        (gains[rows, dimension, place] - parent - complexity).astype(np.float32),
        dimension.astype(np.int32),
        threshold.astype(np.int32),
        low[rows, dimension, place].astype(np.float32),
        high[rows, dimension, place].astype(np.float32),
        np.array(labels, object)[label],
    ]
