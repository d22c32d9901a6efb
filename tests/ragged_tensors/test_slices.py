"""Slices of the rows of ragged tensors, and rows from their ends."""

import numpy as np
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


def test_places_and_steps_of_slices_may_be_tensors():
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.ragged.constant(ROWS)
        assert session.run(rows[:, tf.constant(1) :]).to_list() == [row[1:] for row in ROWS]
        for step in (1, 2, -1, -2):
            for start in (None, -2, 1):
                found = rows[:, start :: tf.constant(step)]
                assert session.run(found).to_list() == [row[start::step] for row in ROWS]


def test_rows_are_counted_from_the_end():
    with tf.Graph().as_default(), tf.Session() as session:
        rows, nested = tf.ragged.constant(ROWS), tf.ragged.constant(NESTED)
        for at in (-1, -3, 2):
            for place in (at, np.int64(at), tf.constant(at)):
                assert session.run(rows[place]).tolist() == ROWS[at]
        assert session.run(nested[-1, -3]).tolist() == [4, 5, 6]
        assert session.run(rows[-1, -1]) == 2
        for place in (3, -4):
            with pytest.raises(ValueError, match=f"slice index {place} of dimension 0 out of bounds"):
                rows[place]
        at = tf.placeholder(tf.int32, [])
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 3 of dimension 0 out of bounds"):
            session.run(rows[at], {at: 3})


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (0.5, "Only integers, slices"),
        ("x", "Only integers, slices"),
        ((slice(None), slice(0.5, None)), "slice offsets must be integers or None"),
        ((slice(None), slice(None, "x")), "slice offsets must be integers or None"),
        ((slice(None), slice(None, None, 0.5)), "slice strides must be integers or None"),
    ],
)
def test_what_is_no_place(key, message):
    with tf.Graph().as_default(), pytest.raises(TypeError, match=message):
        tf.ragged.constant(ROWS)[key]


def test_reverse():
    with tf.Graph().as_default(), tf.Session() as session:
        rows, nested = tf.ragged.constant(ROWS), tf.ragged.constant(NESTED)
        assert session.run(tf.reverse(rows, [0])).to_list() == ROWS[::-1]
        assert session.run(tf.reverse(nested, [0, -1])).to_list() == [[row[::-1] for row in rows] for rows in NESTED[::-1]]
        with pytest.raises(ValueError, match=r"axis=\[4\] out of bounds"):
            tf.reverse(rows, [4])
