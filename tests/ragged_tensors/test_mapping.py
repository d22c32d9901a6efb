"""Functions of the rows of ragged tensors, and of rows that have one number."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.ragged_tensors.mapping import RaggedTensorType, map_fn
from tfexp.ragged_tensors.segments import segment_sum

ROWS = [[3, 1, 4], [], [1, 5, 9, 2]]
NESTED = [[[1, 2], [3]], [], [[4, 5, 6], [], [7]]]


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def listed(tensor):
    with tf.Session() as session:
        value = session.run(tensor)
    return value.to_list() if hasattr(value, "to_list") else np.asarray(value).tolist()


def test_map_fn_of_ragged_rows():
    rows, nested = tf.ragged.constant(ROWS), tf.ragged.constant(NESTED)
    assert listed(tf.map_fn(tf.reduce_sum, rows, dtype=tf.int32)) == [8, 0, 17]
    assert listed(tf.map_fn(lambda row: row + 1, rows)) == [[4, 2, 5], [], [2, 6, 10, 3]]
    assert listed(tf.map_fn(lambda row: row[:, :1], nested)) == [[[1], [3]], [], [[4], [], [7]]]
    sums = tf.map_fn(lambda row: tf.reduce_sum(row, 1), nested, RaggedTensorType(tf.int32, 1))
    assert listed(sums) == [[3, 3], [], [15, 0, 7]]


def test_map_fn_to_ragged_rows():
    made = map_fn(tf.range, tf.constant([2, 0, 3]), RaggedTensorType(tf.int32, 1))
    assert listed(made) == [[0, 1], [], [0, 1, 2]]
    pairs = tf.map_fn(lambda x: (x[0] * x[1], x[1]), (tf.ragged.constant(ROWS), tf.constant([1, 2, 3])))
    assert listed(pairs[0]) == [[3, 1, 4], [], [3, 15, 27, 6]] and listed(pairs[1]) == [1, 2, 3]
    with pytest.raises(ValueError, match=r"declared ragged rank \(2\) mismatches the result \(0\)"):
        map_fn(tf.range, tf.constant([2]), RaggedTensorType(tf.int32, 2))


@pytest.mark.parametrize(
    ("kind", "expected"),
    {
        "sum": [[4, 6, 13, 2], [], []],
        "prod": [[3, 5, 36, 2], [], []],
        "max": [[3, 5, 9, 2], [], []],
        "min": [[1, 1, 4, 2], [], []],
        "mean": [[2, 3, 6.5, 2], [], []],
        "sqrt_n": [[4 / 2**0.5, 6 / 2**0.5, 13 / 2**0.5, 2], [], []],
    }.items(),
)
def test_segments(kind, expected):
    rows = tf.cast(tf.ragged.constant(ROWS), tf.float64)
    found = listed(getattr(tf.math, f"unsorted_segment_{kind}")(rows, [0, 1, 0], 3))
    assert [len(row) for row in found] == [4, 0, 0]
    np.testing.assert_allclose(found[0], expected[0])


def test_segments_of_rows_of_rows_and_of_values():
    assert listed(segment_sum(tf.ragged.constant(NESTED), [0, 1, 0], 2)) == [[[5, 7, 6], [3], [7]], []]
    numbers = tf.ragged.constant([[0, 1, 0], [], [1, 1, 0, 0]])
    assert listed(segment_sum(tf.ragged.constant(ROWS), numbers, 2)) == [18, 7]
    with pytest.raises(ValueError, match="int32 or int64"):
        segment_sum(tf.ragged.constant(ROWS), [0.0, 1.0, 2.0], 3)
    others = tf.ragged.constant([[0, 1], [1], [1, 1, 0, 0]])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"prefix of data\.shape"):
        session.run(segment_sum(tf.ragged.constant(ROWS), others, 2))


def test_functions_of_each_element_of_several_ragged_tensors():
    rows, words = tf.ragged.constant(ROWS), tf.ragged.constant([["a"], ["b", "c"]])
    assert listed(tf.add_n([rows, rows])) == [[6, 2, 8], [], [2, 10, 18, 4]]
    assert listed(tf.clip_by_value(rows, 2, 4)) == [[3, 2, 4], [], [2, 4, 4, 2]]
    assert listed(tf.strings.join([words, "x"])) == [[b"ax"], [b"bx", b"cx"]]


def test_what_is_known_to_be_wrong_is_said_at_once():
    for ids, rows, message in (([0, 0, 2], 2, r"got nrows=2, value_rowids\[-1\]=2"), ([0, 2], None, "incompatible")):
        with pytest.raises(ValueError, match=message):
            tf.RaggedTensor.from_value_rowids([1, 2, 3], ids, rows)
    with pytest.raises(ValueError, match="row_splits must have dtype int32 or int64"):
        tf.RaggedTensor.from_row_splits([1], [0.0, 1.0])
    with pytest.raises(ValueError, match=r"axis=-5 out of bounds: expected -2<=axis<2"):
        tf.reduce_sum(tf.ragged.constant(ROWS), -5)
