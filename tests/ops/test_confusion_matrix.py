"""tf.confusion_matrix against counts made by hand."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(*args, **kwargs):
    return tf.Session().run(tf.confusion_matrix(*args, **kwargs))


def test_pairs_are_counted():
    expected = np.zeros((5, 5), np.int32)
    for pair in [(1, 2), (2, 2), (4, 4), (2, 2)]:
        expected[pair] += 1
    np.testing.assert_array_equal(run([1, 2, 4, 2], [2, 2, 4, 2]), expected)
    np.testing.assert_array_equal(run([[1], [2], [4], [2]], [2, 2, 4, 2]), expected)
    np.testing.assert_array_equal(run([1, 2, 4, 2], [2, 2, 4, 2], num_classes=7)[:5, :5], expected)


def test_weights_are_summed():
    result = run([0, 1, 1], [1, 0, 0], weights=[0.5, 2.0, 0.25], dtype=tf.float32)
    np.testing.assert_array_equal(result, np.float32([[0, 0.5], [2.25, 0]]))


@pytest.mark.parametrize(
    ("labels", "predictions", "message"),
    [
        ([-1, 0], [0, 0], "`labels` contains negative values"),
        ([0, 0], [0, -2], "`predictions` contains negative values"),
        ([3, 0], [0, 0], "`labels` out of bound"),
        ([0, 0], [0, 3], "`predictions` out of bound"),
    ],
)
def test_numbers_that_are_no_class(labels, predictions, message):
    fed = [tf.placeholder(tf.int32, [None]) for _ in range(2)]
    matrix = tf.confusion_matrix(*fed, num_classes=3)
    with pytest.raises(InvalidArgumentError, match=message):
        tf.Session().run(matrix, dict(zip(fed, (labels, predictions), strict=True)))


def test_what_is_no_vector():
    with pytest.raises(ValueError, match="must have rank 2"):
        tf.confusion_matrix([[1, 2], [0, 0]], [[1, 2], [0, 0]])
    for labels, predictions in [([1, 2], [[1, 2]]), ([[1, 2]], [1, 2])]:
        with pytest.raises(ValueError, match="an not squeeze dim"):
            tf.confusion_matrix(labels, predictions)
