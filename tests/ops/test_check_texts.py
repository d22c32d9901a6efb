"""What assertions say in eager execution, as recorded from TensorFlow 1.15."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

MATRIX = np.int32([[1, 2], [3, 4]])
FLOATS = np.float32([1, -2, 3])


@pytest.fixture(autouse=True)
def eagerly():
    with eager_mode():
        yield


def said(call):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        call()
    return caught.value.message.splitlines()


def test_where_values_differ():
    assert said(lambda: tf.assert_equal(MATRIX, MATRIX + 1, message="hello")) == [
        "hello",
        "Condition x == y did not hold.",
        "Indices of first 3 different values:",
        "[[0 0]",
        " [0 1]",
        " [1 0]]",
        "Corresponding x values:",
        "[1 2 3]",
        "Corresponding y values:",
        "[2 3 4]",
        "First 3 elements of x:",
        "[1 2 3]",
        "First 3 elements of y:",
        "[2 3 4]",
    ]


@pytest.mark.parametrize(("summarize", "last"), [(-1, "[2 3 4 5]"), (2, "[2 3]"), (0, "Condition x < y did not hold.")])
def test_how_much_is_shown(summarize, last):
    assert said(lambda: tf.assert_less(MATRIX + 1, MATRIX + 1, summarize=summarize))[-1] == last


def test_data_of_the_caller():
    data = [tf.range(9), "word", np.arange(5), tf.constant(7), tf.constant(["a", "b"]), tf.constant(FLOATS)]
    assert said(lambda: tf.assert_greater(1, 2, data=data)) == [
        "['0', '1', '2', '...']",
        "word",
        "[0 1 2 3 4]",
        "7",
        "[\"b'a'\", \"b'b'\"]",
        "['1.0', '-2.0', '3.0']",
    ]


@pytest.mark.parametrize(
    ("check", "lines"),
    [
        (tf.assert_positive, ["Condition x > 0 did not hold element-wise:", "x (shape=(3,) dtype=float32) = "]),
        (tf.assert_non_positive, ["Condition x <= 0 did not hold element-wise:x (shape=(3,) dtype=float32) = "]),
    ],
)
def test_against_zero(check, lines):
    assert said(lambda: check(FLOATS, message="m")) == ["m", *lines, "['1.0', '-2.0', '3.0']"]


def test_eager_tensors_are_called_what_they_are_like():
    with pytest.raises(ValueError, match=r"Tensor shape=\(3,\) dtype=float32 must have rank 2\."):
        tf.assert_rank(FLOATS, 2)


def test_what_holds_gives_nothing():
    checks = (
        tf.assert_equal(MATRIX, MATRIX),
        tf.assert_positive(MATRIX),
        tf.assert_rank(MATRIX, 2),
    )
    assert checks == (None,) * 3
