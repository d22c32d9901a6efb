"""Boosted trees: their buckets, splits, growth, and what they say. Recorded values are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError
from tfexp.formats.protos.boosted_trees import TreeEnsemble as EnsembleProto
from tfexp.ops import boosted_trees, quantile_stream_ops, tree_splits
from tfexp.ops.tree_ensemble import POST_PRUNING, PRE_PRUNING, Split, TreeEnsemble
from tfexp.ops.weighted_quantiles import Stream


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_numbers_go_to_the_first_boundary_that_is_not_below_them(session):
    numbers, boundaries = np.float32([0, 1, 1.5, 2, 5, 9]), np.float32([1, 2, 5])
    made = quantile_stream_ops.bucketize([numbers, numbers], [boundaries, boundaries[:0]])
    assert [one.tolist() for one in session.run(made)] == [[0, 0, 1, 1, 2, 2], [0] * 6]


def test_summaries_have_ranks_by_weight(session):
    numbers = np.float32([3, 1, 2, 2, 9])
    even, uneven = (
        session.run(quantile_stream_ops.make_quantile_summaries([numbers], np.float32(weights), 0.1))[0]
        for weights in ([1], [1, 2, 0, 3, 1])
    )
    assert even.tolist() == [[1, 1, 0, 1], [2, 2, 1, 3], [3, 1, 3, 4], [9, 1, 4, 5]]
    assert uneven.tolist() == [[1, 2, 0, 2], [2, 3, 2, 5], [3, 1, 5, 6], [9, 1, 6, 7]]
    with pytest.raises(InvalidArgumentError, match="single value or same size"):
        session.run(quantile_stream_ops.make_quantile_summaries([numbers], np.float32([1, 2]), 0.1))


@pytest.mark.parametrize("epsilon", [0.1, 0.02])
def test_quantiles_are_as_near_as_they_have_to_be(epsilon):
    numbers = np.random.default_rng(3).permutation(4000).astype(np.float32)
    stream = Stream(epsilon, 1 << 40)
    for part in np.split(numbers, 8):
        own = Stream(epsilon, len(part) + 1)
        own.push(part, np.ones_like(part))
        stream.push_summary(own.summary())
    summary = stream.summary()
    np.testing.assert_allclose(summary.quantiles(10), np.linspace(0, 4000, 11), atol=3 * epsilon * 4000)
    assert np.diff(summary.boundaries(10)).max() <= (1 / 10 + 3 * epsilon) * 4000
    assert summary.high[-1] == 4000


def test_boundaries_are_made_once_all_batches_came(session):
    streams = quantile_stream_ops.quantile_stream_resource(shared_name="q")
    boundaries = quantile_stream_ops.get_bucket_boundaries(streams, num_features=2)
    with pytest.raises(FailedPreconditionError, match="have not been created"):
        session.run(boundaries)
    session.run(quantile_stream_ops.create_quantile_stream_resource(streams, 0.1, 2))
    assert [one.tolist() for one in session.run(boundaries)] == [[], []]
    numbers = [np.float32([3, 1, 2, 2, 9]), np.float32([2] * 5)]
    summaries = quantile_stream_ops.make_quantile_summaries(numbers, np.float32([1]), 0.1)
    session.run(quantile_stream_ops.add_quantile_summaries(streams, summaries))
    session.run(quantile_stream_ops.flush_quantile_stream(streams, 10))
    assert [one.tolist() for one in session.run(boundaries)] == [[1, 2, 3, 9], [2]]
    session.run(quantile_stream_ops.add_quantile_summaries(streams, summaries))
    session.run(quantile_stream_ops.flush_quantile_stream(streams, 4, generate_quantiles=True))
    assert [one.tolist() for one in session.run(boundaries)] == [[1, 2, 3, 9], [2, 2, 2, 2]]
    session.run(quantile_stream_ops.add_quantile_summaries(streams, summaries))
    flushed = quantile_stream_ops.flush_quantile_summaries(streams, num_features=2)
    assert [rows.tolist() for rows in session.run(flushed)] == [rows.tolist() for rows in session.run(summaries)]
    assert [rows.shape for rows in session.run(flushed)] == [(0, 4)] * 2


def test_sums_by_node_and_bucket(session):
    made = boosted_trees.make_stats_summary(
        *([0, 1, 1], [[0.5], [0.25], [2.0]], [[1.0], [2], [3]], [[0, 1, 1], [2, 0, 3]]), max_splits=2, num_buckets=3
    )
    sums = session.run(made)
    assert sums.shape == (2, 2, 3, 2)
    assert sums[0].tolist() == [[[0.5, 1], [0, 0], [0, 0]], [[0, 0], [2.25, 5], [0, 0]]]
    assert sums[1].tolist() == [[[0, 0], [0, 0], [0.5, 1]], [[0.25, 2], [0, 0], [2, 3]]]  # 3 is above the last


SUMS = np.zeros((4, 3, 2), np.float32)
SUMS[0] = [[0.1, 0.2], [-0.5, 0.3], [0.2, 0.1]]
SUMS[1] = [[1, 1], [0, 0], [-1, 0.5]]


@pytest.mark.parametrize(
    ("settings", "recorded"),
    [
        ([0.0, 0.0, 0.0, 0.0], [[0, 1, 2], [0.65333325, 3, 0], [1, 0, 0], [[0.8], [-1], [0]], [[-1.9999995], [2], [0]]]),
        ([0.1, 1.0, 0.05, 0.7], [[1], [0.8949999], [0], [[-0.45]], [[0.6]]]),
    ],
)
def test_the_best_splits(session, settings, recorded):
    found = session.run(boosted_trees.calculate_best_gains([0, 3], [SUMS], *settings, max_splits=4))
    for (made,), expected in zip(found, recorded, strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-6)


BUCKETS = np.array([[0, 1, 2, 3], [1, 0, 1, 0]], np.int32)  # of two features


def grown(pruning: int = 0) -> TreeEnsemble:
    """A tree of two layers: by the first feature, then the right side by the second."""
    trees = TreeEnsemble("trees")
    trees.create(0, b"")
    trees.grow([Split(0, 0, 1, 2.0, 0.5, -0.5)], 2, pruning)
    trees.grow([Split(2, 1, 0, -1.0, 0.25, 0.75)], 2, pruning)
    return trees


def test_trees_say_what_their_leaves_have():
    trees = grown()
    assert trees.logits(BUCKETS).tolist() == [0.5, 0.5, 0.25, -0.25]
    assert (len(trees.trees), trees.finalized, trees.layers_attempted, trees.trees_attempted) == (2, 1, 2, 1)
    features, logits = trees.paths(BUCKETS)
    assert features == [[0], [0], [0, 1], [0, 1]]
    assert logits == [[0, 0.5], [0, 0.5], [0, -0.5, 0.25], [0, -0.5, -0.25]]


@pytest.mark.parametrize("pruning", [0, POST_PRUNING])
def test_changes_since_an_earlier_layer_add_up(pruning):
    trees = TreeEnsemble("trees")
    trees.create(0, b"")
    nothing = np.zeros(4, np.int32)
    total = np.zeros(4, np.float32)
    where = (nothing, nothing - 1)
    for split in (Split(0, 0, 1, 2.0, 0.5, -0.5), Split(2, 1, 0, -1.0, 0.25, 0.75), Split(0, 1, 0, 1.0, 0.1, 0.2)):
        trees.grow([split], 2, pruning)
        change, *where = trees.changes(BUCKETS, *where)
        total += change
        np.testing.assert_allclose(total, trees.logits(BUCKETS), rtol=1e-6)


def test_splits_that_gain_nothing_are_taken_back():
    assert grown(PRE_PRUNING).logits(BUCKETS).tolist() == [0.5, 0.5, -0.5, -0.5]
    trees = grown(POST_PRUNING)
    assert trees.logits(BUCKETS).tolist() == [0.5, 0.5, -0.5, -0.5]
    assert len(trees.trees[0]) == 3


@pytest.mark.parametrize("pruning", [0, POST_PRUNING])
def test_trees_are_restored(session, pruning):
    trees = grown(pruning)
    other = boosted_trees.tree_ensemble_resource(shared_name="other")
    with pytest.raises(FailedPreconditionError, match="has not been created"):
        session.run(boosted_trees.get_ensemble_states(other))
    session.run(boosted_trees.create_ensemble(other, 3, trees.serialized()))
    session.run(boosted_trees.create_ensemble(other, 9, ""))  # which does nothing the second time
    stamp, serialized = session.run(boosted_trees.serialize_ensemble(other))
    assert (stamp, serialized) == (3, trees.serialized())
    logits = boosted_trees.predict(other, list(BUCKETS), logits_dimension=1)
    assert session.run(logits)[:, 0].tolist() == trees.logits(BUCKETS).tolist()
    assert list(session.run(boosted_trees.get_ensemble_states(other))[1:4]) == [2, 1, 2]


def test_ties_go_to_the_first_feature_and_bias_is_centered(session):
    trees = boosted_trees.tree_ensemble_resource(shared_name="t")
    session.run(boosted_trees.create_ensemble(trees, 0, ""))
    assert session.run(boosted_trees.center_bias(trees, [[-1.0]], [[2.0]], 0.0, 0.0))
    one, contribution = [np.float32([1])] * 2, [np.float32([[1]])] * 2
    session.run(
        boosted_trees.update_ensemble(
            *(trees, [7, 3], [np.int32([0])] * 2, one, [np.int32([0])] * 2, contribution, contribution, 2, 0.5),
            pruning_mode=0,
        )
    )
    debug = boosted_trees.example_debug_outputs(trees, list(np.zeros((8, 1), np.int32)), logits_dimension=1)
    path = boosted_trees.DebugOutput.FromString(session.run(debug)[0])
    assert (list(path.feature_ids), list(path.logits_path)) == ([3], [0.5, 1.0])


@pytest.mark.parametrize(
    "steps", [[(1.0, True), (-0.01005, True), (0.0098, False)], [(0.0, True), (0.0, False), (1.0, True)]]
)
def test_centering_goes_on_until_the_bias_moves_by_a_hundredth_of_itself(session, steps):
    trees = boosted_trees.tree_ensemble_resource(shared_name="t")
    session.run(boosted_trees.create_ensemble(trees, 0, ""))
    for gradient, goes_on in steps:
        assert session.run(boosted_trees.center_bias(trees, [[gradient]], [[1.0]], 0.0, 0.0)) == goes_on


# --- features of several dimensions, and examples without a value: recorded from TensorFlow 1.15 ----------------------


def test_sums_by_node_dimension_and_bucket(session):
    gradients, hessians = np.float32([[0.5], [0.25], [2]]), np.float32([[1], [2], [3]])
    made = tree_splits.aggregate_stats([1, 0, 1], gradients, hessians, [[0, -1], [1, 1], [0, 1]], 3, 2)
    assert made.shape == (3, 2, 3, 2)
    sums = session.run(made)
    assert sums[0].tolist() == [[[0, 0], [0.25, 2], [0, 0]], [[0, 0], [0.25, 2], [0, 0]]]
    assert sums[1].tolist() == [[[2.5, 4], [0, 0], [0, 0]], [[0, 0], [2, 3], [0.5, 1]]]
    assert not sums[2].any()
    there, values = [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1]], [0, 1, 1, 0, 1]
    indices, stored, shape = session.run(
        tree_splits.sparse_aggregate_stats([1, 0, 1], gradients, hessians, there, values, [3, 2], 3, 2)
    )
    assert shape.tolist() == [3, 2, 3, 2]
    assert stored.tolist() == sums[tuple(indices.T)].tolist()
    assert indices[::2, :3].tolist() == [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1], [1, 1, 2]]
    with pytest.raises(InvalidArgumentError, match=r"Nodes must be in \[0, 1\)"):
        session.run(tree_splits.aggregate_stats([1, 0, 1], gradients, hessians, [[0], [1], [0]], 1, 2))


PAIRS = np.zeros((3, 2, 4, 2), np.float32)  # the last bucket has examples without a value
PAIRS[0, :, :3] = [[1, 1], [0, 0], [-1, 1]]
PAIRS[1, 0], PAIRS[1, 1] = [[1, 1], [2, 1], [0, 0], [-1, 2]], [[1, 1], [0, 0], [2, 2], [-1, 1]]


def best(session, split, *summary, **attrs):
    nodes, *found = session.run(split([0, 3], *summary, 0.0, 0.0, 0.0, 0.5, logits_dimension=1, **attrs))
    return [nodes.tolist(), *(part.reshape(-1).tolist() for part in found)]


def test_examples_without_a_value_go_to_the_side_that_is_better(session):
    left, right = b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT"
    made = best(session, tree_splits.calculate_best_split, PAIRS)
    assert made == [[0, 1], [2, 4], [0, 0], [0, 1], [-1, -1.5], [1, 0.5], [left, right]]
    indices = np.argwhere(PAIRS.any(-1))
    indices = np.concatenate([np.insert(indices, 3, part, axis=1) for part in (0, 1)]).astype(np.int32)
    made = best(session, tree_splits.sparse_calculate_best_split, indices, PAIRS[tuple(indices.T)], PAIRS.shape)
    assert made == [[0, 1], [2, 4], [0, 0], [0, 1], [-1, -1.5], [1, 0.5], [right, right]]
    made = best(session, tree_splits.calculate_best_split, PAIRS, split_type="equality")
    assert made[:4] == [[0, 1], [2, 3], [0, 0], [0, 1]]
    assert made[6] == [b"EQUALITY_DEFAULT_RIGHT"] * 2


def test_hessians_of_several_logits_are_diagonals_or_matrices(session):
    diagonal = np.float32([[2, -1, 1, 2], [-1, 3, 2, 1], [0, 0, 0, 0]])
    whole = np.insert(diagonal, [3, 3], 0, axis=1)
    found = [
        session.run(tree_splits.calculate_best_split([0, 1], sums[np.newaxis, np.newaxis], 0.5, 1.0, 0.0, 0.0, 2))
        for sums in (diagonal, whole)
    ]
    for of_diagonal, of_whole in zip(*(parts[1:6] for parts in found), strict=True):
        np.testing.assert_allclose(of_diagonal, of_whole, rtol=1e-5)
    np.testing.assert_allclose(found[0][4:6], [[[-1, 1 / 3]], [[1 / 3, -1.5]]], rtol=1e-6)


def test_splits_keep_the_dimension(session):
    trees = boosted_trees.tree_ensemble_resource(shared_name="t")
    session.run(boosted_trees.create_ensemble(trees, 0, ""))
    splits = ([[2], [3]], [[0], [0]], [[2.0], [2.5]], [[1], [0]], [[[0.5]], [[0.25]]], [[[1.0]], [[-1.0]]])
    types = [["INEQUALITY_DEFAULT_LEFT"]] * 2
    session.run(boosted_trees.update_ensemble_v2(trees, [0, 1], *splits, types, 3, 0.5, PRE_PRUNING))
    root, low, high = EnsembleProto.FromString(session.run(boosted_trees.serialize_ensemble(trees))[1]).trees[0].nodes
    split = root.bucketized_split
    assert (split.feature_id, split.dimension_id, split.threshold, root.metadata.gain) == (1, 3, 0, 2.5)
    assert (low.leaf.scalar, high.leaf.scalar) == (0.125, -0.5)
