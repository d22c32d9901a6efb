"""Rows of concat, stack, split and tile."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ANY = ["float32", "int32", "string"]

CASES = [
    OpCase(
        "ConcatV2",
        [[(2, 3), (2, 5)], np.int32(-1)],
        lambda xs, axis: np.concatenate(xs, 1),
        dtypes=ANY,
        errors=[
            Error(
                [[(2, 3), (5, 7)], np.int32(0)],
                ValueError,
                "Dimension 0 in both shapes must be equal, but are 3 and 7",
                constants=True,
            ),
            Error([[(2, 3), (5,)], np.int32(0)], ValueError, "Shape must be rank 2 but is rank 1", constants=True),
            Error(
                [[(2, 3), (2, 3)], np.int32(2)], ValueError, "Shape must be at least rank 3 but is rank 2", constants=True
            ),
            Error([[(2, 3), (5, 7)], np.int32(0)], InvalidArgumentError, "ConcatOp : Dimensions of inputs should match"),
            Error([[(2, 3), (5,)], np.int32(0)], InvalidArgumentError, "ConcatOp : Ranks of all input tensors should match"),
            Error(
                [[(2, 3), (2, 3)], np.int32(2)],
                InvalidArgumentError,
                "Expected concatenating dimensions in the range [-2, 2)",
            ),
        ],
    ),
    OpCase("ConcatV2", [[(2, 3)] * 17, np.int32(0)], lambda xs, axis: np.concatenate(xs), label="many"),
    OpCase("Concat", [np.int32(0), [(2, 3), (5, 3)]], lambda axis, xs: np.concatenate(xs), dtypes=ANY),
    OpCase(
        "ConcatOffset",
        [np.int32(1), [np.int32([2, 3, 5]), np.int32([2, 7, 5]), np.int32([2, 1, 5])]],
        [np.int32([0, 0, 0]), np.int32([0, 3, 0]), np.int32([0, 10, 0])],
        gradient=(),
        errors=[
            Error(
                [np.int32(3), [np.int32([2, 3]), np.int32([2, 3])]],
                InvalidArgumentError,
                "Concat dim is out of range: 3 vs. 2",
            ),
            Error(
                [np.int32(0), [np.int32([2, 3]), np.int32([2, 5])]],
                InvalidArgumentError,
                "All dimensions except 0 must match",
            ),
        ],
    ),
    OpCase("Pack", [[(2, 3), (2, 3), (2, 3)]], lambda xs: np.stack(xs, 1), attrs={"axis": 1}, dtypes=ANY),
    OpCase(
        "Pack",
        [[(), (), ()]],
        np.stack,
        dtypes=ANY,
        label="scalars",
        errors=[
            Error([[(2, 3), (2, 5)]], ValueError, "Dimension 1 in both shapes must be equal, but are 3 and 5"),
            Error([[(2, 3), (2,)]], ValueError, "Shapes must be equal rank, but are 2 and 1"),
            Error(
                [[(2, 3), (2,)]],
                InvalidArgumentError,
                "Shapes of all inputs must match: values[0].shape = [2,3] != values[1]",
            ),
            Error([[(2, 3), (2, 3)]], ValueError, "Invalid axis: 3; must be in [-3,3)", attrs={"axis": 3}),
        ],
    ),
    OpCase(
        "Unpack",
        [(2, 3, 5)],
        lambda x: [x[:, 0], x[:, 1], x[:, 2]],
        attrs={"num": 3, "axis": -2},
        dtypes=ANY,
        errors=[
            Error([(2, 7, 5)], ValueError, "Dimension must be 3 but is 7"),
            Error([(2, 7, 5)], InvalidArgumentError, "Input shape axis 1 must equal 3, got shape [2,7,5]"),
        ],
    ),
    OpCase("Unpack", [(2,)], lambda x: [x[0], x[1]], attrs={"num": 2}, dtypes=["float32", "int32"], label="scalars"),
    OpCase(
        "Split",
        [np.int32(1), (2, 6)],
        lambda axis, x: np.split(x, 3, 1),
        attrs={"num_split": 3},
        dtypes=ANY,
        errors=[
            Error(
                [np.int32(1), (2, 5)], ValueError, "Dimension size must be evenly divisible by 3 but is 5", constants=True
            ),
            Error([np.int32(1), (2, 5)], InvalidArgumentError, "Number of ways to split should evenly divide"),
            Error([np.int32(2), (2, 3)], InvalidArgumentError, "-input rank(-2) <= split_dim < input rank (2), but got 2"),
        ],
    ),
    OpCase(
        "SplitV",
        [(2, 10), np.int32([2, -1, 5]), np.int32(-1)],
        lambda x, sizes, axis: [x[:, :2], x[:, 2:5], x[:, 5:]],
        attrs={"num_split": 3},
        dtypes=ANY,
        errors=[
            Error(
                [(2, 10), np.int32([2, 2, 2]), np.int32(1)],
                ValueError,
                "can't split axis of size 10 into pieces of size [2,2,2]",
                constants=True,
            ),
            Error([(2, 10), np.int32([2, 2, 2]), np.int32(1)], InvalidArgumentError, "Got: 6, expected 10"),
            Error(
                [(2, 10), np.int32([-1, -1, 2]), np.int32(1)], InvalidArgumentError, "There can only be one -1 in the input"
            ),
        ],
    ),
    OpCase(
        "Tile",
        [(2, 3), np.int32([2, 5])],
        lambda x, multiples: np.tile(x, (2, 5)),
        dtypes=ANY,
        errors=[
            Error([(2, 3), np.int32([2])], ValueError, "Shape must be rank 2 but is rank 1", constants=True),
            Error(
                [(2, 3), np.int32([2])],
                InvalidArgumentError,
                "Expected multiples argument to be a vector of length 2 but got length 1",
            ),
            Error([(2, 3), np.int32([2, -1])], InvalidArgumentError, "Expected multiples[1] >= 0, but got -1"),
        ],
    ),
]
test_rows = op_tests(CASES)


def test_stack_of_constants_is_a_constant() -> None:
    with tf.Graph().as_default():
        assert tf.stack([1, 2]).op.type == "Const"
        assert tf.stack([tf.constant(1), 2]).op.type == "Pack"
        with pytest.raises(ValueError, match=r"^axis = 4 not in \[-3, 3\)"):
            tf.stack([tf.zeros([2, 3])], axis=4)


def test_nothing_unstacks_to_nothing() -> None:
    assert tf.unstack(np.zeros([0, 3])) == []


def test_unstack_and_split_want_known_numbers() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        with pytest.raises(ValueError, match="Cannot infer num"):
            tf.unstack(x)
        with pytest.raises(ValueError, match="Cannot infer num"):
            tf.split(x, tf.placeholder(tf.int32, [None]))
        with pytest.raises(ValueError, match="Rank-0 tensors are not supported"):
            tf.split(x, tf.constant(2))


def test_concat_of_sparse_gradients() -> None:
    """What concat joined comes apart again although the gradient is that of gathered rows."""
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant(np.arange(6.0).reshape(2, 3)), tf.constant(np.arange(9.0).reshape(3, 3))
        picked = tf.gather(tf.concat([a, b], 0), [4, 0, 4])
        grads = session.run([tf.convert_to_tensor(g) for g in tf.gradients(picked, [a, b])])
    assert grads[0].tolist() == [[1, 1, 1], [0, 0, 0]]
    assert grads[1].tolist() == [[0, 0, 0], [0, 0, 0], [2, 2, 2]]


def test_concat_of_sparse_gradients_along_rows() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.constant(np.ones((2, 3))), tf.constant(np.ones((2, 5)))
        picked = tf.gather(tf.concat([a, b], 1), [1, 1]) * np.arange(8.0)
        grads = session.run([tf.convert_to_tensor(g) for g in tf.gradients(picked, [a, b])])
    assert grads[0].tolist() == [[0, 0, 0], [0, 2, 4]]
    assert grads[1].tolist() == [[0] * 5, [6, 8, 10, 12, 14]]


def test_nothing_tiled_is_nothing_whatever_the_rest() -> None:
    with tf.Graph().as_default():
        tiled = tf.tile(tf.placeholder(tf.float32, [None, 0, 5]), [0, 3, 2])
        assert tiled.shape.as_list() == [0, 0, 10]
        assert tf.tile(tf.placeholder(tf.float32), [0, 3]).shape.as_list() == [0, None]
