"""`tf.debugging.assert_shapes`."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError

ONES = (2, 3)


@pytest.mark.parametrize(
    "symbols", [("N", "Q"), "NQ", (2, 3), (None, 3), (".", "."), (..., 3), ("*", 2, "Q"), (..., "N", "Q")]
)
def test_shapes_that_hold(symbols):
    with tf.Graph().as_default():
        node = tf.debugging.assert_shapes({tf.ones(ONES): symbols})
        assert node.type == "NoOp"


@pytest.mark.parametrize(
    ("symbols", "text"),
    [
        (("N", 4), r"fail\.  Specified explicitly\.  Tensor ones:0 dimension 1 must have size 4\.  Received size 3"),
        ((..., 4), "Tensor ones:0 dimension -1 must have size 4"),
        (("N", "N"), "Specified by tensor ones:0 dimension 0.  Tensor ones:0 dimension 1 must have size 2"),
        (("N", "Q", "D"), "Tensor ones:0 must have rank 3.  Received rank 2"),
        ((..., 1, 2, 3), "must have rank at least 3"),
        ((), r"must have rank in \(0, 1\)"),
        ("N", r"must have rank in \(0, 1\)"),
        ("*", "Tensor ones:0 dimension -1 must have size 1"),
        (("N", "*"), "shape index 1.  Symbol `...` or `\\*` .* is only allowed as the first entry"),
        (3, "fail.  Tensor ones:0.  Specified shape must be an iterable.*: 3$"),
    ],
)
def test_shapes_known_not_to_hold(symbols, text):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        tf.debugging.assert_shapes([(tf.ones(ONES), symbols)], message="fail")


@pytest.mark.parametrize(
    ("symbols", "value", "text"),
    [
        (("N", "Q"), [1], "[fail.  ] [Tensor x:0 must have rank] [2] [Received shape: ] [1]"),
        (
            ("N", 3),
            [[1, 2]],
            "[Specified explicitly] [Tensor x:0 dimension] [1] [must have size] [3] [Received shape: ] [1 2]",
        ),
        (("D", "Q"), [[1, 2]], "[Specified by tensor y:0 dimension 0] [Tensor x:0 dimension] [0] [must have size] [5]"),
        (("D", "Q"), np.ones((5, 2)), None),
        ((..., "D"), np.ones((2, 3, 5)), None),
    ],
)
def test_shapes_of_a_run(symbols, value, text):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.int32, name="x"), tf.placeholder(tf.int32, [None], name="y")
        node = tf.debugging.assert_shapes([(y, "D"), (x, symbols)], message="fail")
        feeds = {x: value, y: np.ones(5)}
        if text is None:
            session.run(node, feeds)
            return
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(node, feeds)
        assert text in caught.value.message


@pytest.mark.parametrize("symbols", [(), (1,), "N", (None,), "*", (True,), None])
def test_a_scalar_is_a_vector_of_one(symbols):
    with tf.Graph().as_default():
        tf.debugging.assert_shapes([(tf.constant(1), symbols), (tf.constant([1]), symbols)])
        for wrong in ((2,), (..., 2), ("2",), (2.0,)):
            with pytest.raises(ValueError, match=r"must have size 2\.  Received size 1"):
                tf.debugging.assert_shapes([(tf.constant(1), wrong)])


def test_a_size_of_a_scalar_that_the_run_finds():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32)
        node = tf.debugging.assert_shapes([(x, "N"), (tf.constant(1), "N")])
        session.run(node, {x: 3})
        session.run(node, {x: [3]})
        with pytest.raises(InvalidArgumentError, match="must have size"):
            session.run(node, {x: [3, 4]})
