"""Functions of tensors that pick, repeat and drop parts of ragged ones."""

from __future__ import annotations

import pytest

import tfexp as tf
from tfexp.ragged_tensors.segments import segment_sum

ROWS = [[1, 2], [3], []]
DEEP = [[[1, 2], [3]], [[4]]]


def ragged(value, **settings):
    return tf.ragged.constant(value, **settings)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tf.tile(ragged(ROWS), [2, 3]), [[1, 2, 1, 2, 1, 2], [3, 3, 3], []] * 2),
        (lambda: tf.tile(ragged(DEEP), [1, 2, 2]), [[[1, 2, 1, 2], [3, 3]] * 2, [[4, 4]] * 2]),
        (lambda: tf.tile(ragged([[[1], [2]]], ragged_rank=1), [1, 1, 2]), [[[1, 1], [2, 2]]]),
        (lambda: tf.batch_gather(ragged(ROWS), ragged([[1], [0, 0], []], dtype=tf.int32)), [[2], [3, 3], []]),
        (lambda: tf.batch_gather(ragged(DEEP), ragged([[1, 0], [0]])), [[[3], [1, 2]], [[4]]]),
        (lambda: tf.batch_gather(ragged(DEEP), ragged([[[1], [0]], [[0, 0]]])), [[[2], [3]], [[4, 4]]]),
        (lambda: tf.gather_nd(ragged(ROWS), [[1], [0]]), [[3], [1, 2]]),
        (lambda: tf.gather_nd(ragged(ROWS), [[1, 0], [0, 1]]), [3, 2]),
        (lambda: tf.gather_nd(ragged(DEEP), [[0, 0, 1], [1, 0, 0]]), [2, 4]),
        (lambda: tf.gather_nd(ragged(DEEP), [[[0, 1], [1, 0]]]), [[[3], [4]]]),
        (lambda: tf.squeeze(ragged([[[1, 2]], [[3]]]), [1]), [[1, 2], [3]]),
        (lambda: tf.squeeze(ragged([[[1], [3]]]), [0, -1]), [1, 3]),
        (
            lambda: tf.where(ragged([[True, False], [True]]), ragged([[1, 2], [3]]), ragged([[4, 5], [6]])),
            [[1, 5], [3]],
        ),
        (lambda: tf.dynamic_partition(ragged(ROWS), [0, 1, 0], 2)[0], [[1, 2], []]),
        (lambda: tf.dynamic_partition(ragged(ROWS), ragged([[0, 1], [0], []], dtype=tf.int32), 3)[0], [1, 3]),
        (lambda: tf.dynamic_partition([1, 2, 3], tf.constant([0, 1, 0]), 2)[0], [1, 3]),
        (lambda: tf.where([True, False], ragged([[1, 2], [3]]), ragged([[4], [6, 7]])), [[1, 2], [6, 7]]),
        (lambda: tf.where(ragged([[[True, False], [True]], [], [[False, True]]])), [[0, 0, 0], [0, 1, 0], [2, 0, 1]]),
    ],
)
def test_values(make, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(make())
        assert (found.to_list() if hasattr(found, "to_list") else found.tolist()) == expected


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tf.tile(ragged(ROWS), [2, 1, 1]), ValueError, "incompatible"),
        (lambda: tf.squeeze(ragged(ROWS)), ValueError, "must have an axis argument"),
        (lambda: tf.squeeze(ragged(ROWS), [1]), tf.errors.InvalidArgumentError, "axis = 1.* is not squeezable"),
        (lambda: tf.gather_nd(ragged(ROWS), [[1, 1]]), tf.errors.InvalidArgumentError, "assertion failed"),
        (lambda: tf.where(ragged([[True]]), ragged(ROWS)), ValueError, "both None or both non-None"),
        (lambda: tf.where(ragged([[True]]), ragged(DEEP), ragged(ROWS)), ValueError, "identical ragged splits"),
        (lambda: tf.dynamic_partition(ragged(ROWS), [0, 1, 0], 2.0), TypeError, "must be a non-negative integer"),
        (lambda: tf.batch_gather(ragged(ROWS), 1), ValueError, "rank must be at least 1"),
        (lambda: tf.batch_gather(ragged(DEEP), [[[0]], [[0]]]), ValueError, "batch shape from indices does not match"),
    ],
)
def test_what_cannot_be(make, error, text):
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(error, match=text):
        session.run(make())


def test_a_range_that_does_not_move():
    with tf.Graph().as_default(), tf.Session() as session:
        delta = tf.placeholder_with_default([0, 1], [2])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Requires delta != 0"):
            session.run(tf.ragged.range([0, 5], [3, 7], delta))


def test_tiles_are_counted_by_any_integers() -> None:
    with tf.Session() as session:
        assert session.run(tf.tile(ragged(ROWS), tf.constant([2, 1], tf.int32))).to_list() == ROWS * 2
    with pytest.raises(TypeError, match="multiples must be an integer tensor"):
        tf.tile(ragged(ROWS), [2.0, 1.0])


def test_rows_are_not_chosen_by_a_condition_of_another_length() -> None:
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\) are incompatible"):
        tf.where(tf.constant([True, False]), ragged(ROWS), ragged(ROWS))


def test_what_only_a_step_can_refuse():
    """An empty row has no size 1, whatever is known of it before."""
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not squeezable"):
            session.run(tf.squeeze(ragged([[[]], []]), [2]))
        wrong = tf.RaggedTensor.from_row_splits([1, 2, 3], [2, 3], validate=False)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"First value of ragged splits must be 0. It is 2"):
            session.run(wrong.to_sparse())


def test_sparse_tensors_of_which_little_is_known():
    with tf.Graph().as_default(), tf.Session() as session:
        dims, places = (tf.placeholder(tf.int64) for _ in range(2))
        found = tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0]], [7], dims))
        assert session.run(found, {dims: [2, 3]}).to_list() == [[7], []]
        for sparse in (tf.SparseTensor(places, [7], dims), tf.SparseTensor([[0]], [7], [2])):
            with pytest.raises(ValueError, match=r"rank\(st_input\) must be 2"):
                tf.RaggedTensor.from_sparse(sparse)
        with pytest.raises(TypeError, match="Expected SparseTensor, got list"):
            tf.RaggedTensor.from_sparse([[1]])


def test_segments_of_nothing_and_ragged_ones_of_plain_data():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.ragged.segment_ids_to_row_splits([])).tolist() == [0]
        with pytest.raises(ValueError, match="segment_ids is ragged and data is not"):
            segment_sum([1, 2, 3], ragged([[0, 1], [2]]), 3)
