"""Slices of the rows of ragged tensors, and rows from their ends."""

import pytest

import tfexp as tf

ROWS = [[3, 1, 4], [], [1, 5, 9, 2]]
NESTED = [[[1, 2], [3]], [], [[4, 5, 6], [], [7]]]


@pytest.mark.parametrize(
    "key",
    [slice(None, None, -1), slice(None, None, 2), slice(-1, 0, -1), slice(5, 0, -2), slice(None, -9, -1), slice(-9, 9)],
)
def test_slices_of_rows_are_those_of_lists(key):
    with tf.Graph().as_default(), tf.Session() as session:
        rows, nested = tf.ragged.constant(ROWS), tf.ragged.constant(NESTED)
        assert session.run(rows[:, key]).to_list() == [row[key] for row in ROWS]
        assert session.run(nested[:, :, key]).to_list() == [[row[key] for row in rows] for rows in NESTED]
        assert session.run(nested[:, key]).to_list() == [row[key] for row in NESTED]


def test_places_of_slices_may_be_tensors_and_steps_may_not():
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.ragged.constant(ROWS)
        assert session.run(rows[:, tf.constant(1) :]).to_list() == [row[1:] for row in ROWS]
        with pytest.raises(ValueError, match="step of a slice of an inner ragged dimension must be known"):
            rows[:, :: tf.constant(2)]


def test_reverse():
    with tf.Graph().as_default(), tf.Session() as session:
        rows, nested = tf.ragged.constant(ROWS), tf.ragged.constant(NESTED)
        assert session.run(tf.reverse(rows, [0])).to_list() == ROWS[::-1]
        assert session.run(tf.reverse(nested, [0, -1])).to_list() == [[row[::-1] for row in rows] for rows in NESTED[::-1]]
        with pytest.raises(ValueError, match=r"axis=\[4\] out of bounds"):
            tf.reverse(rows, [4])
