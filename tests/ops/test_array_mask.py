"""Rows of choosing by condition; boolean and sequence masks."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ANY = ["float32", "int32", "string"]
EVERY = [*ANY, "float64", "float16", "bfloat16", "int8", "bool", "complex64", "complex128"]
MASK = np.array([[True, False, True], [False, False, True]])

CASES = [
    OpCase("Select", [MASK, (2, 3), (2, 3)], np.where, dtypes=EVERY),
    OpCase(
        "Select",
        [np.array([True, False]), (2, 3), (2, 3)],
        lambda c, t, e: np.stack([t[0], e[1]]),
        dtypes=ANY,
        label="rows",
        errors=[
            Error(
                [np.array([True] * 5), (2, 3), (2, 3)],
                ValueError,
                "Dimension 0 in both shapes must be equal, but are 5 and 2",
            ),
            Error([np.array([True] * 5), (2, 3), (2, 3)], InvalidArgumentError, "Number of batches of 'then' must match"),
            Error([MASK, (2, 3), (2, 5)], ValueError, "Dimension 1 in both shapes must be equal, but are 3 and 5"),
            Error([MASK, (2, 3), (2, 5)], InvalidArgumentError, "Input 0: [2,3] != input 2: [2,5]"),
            Error([MASK, (2, 5), (2, 5)], InvalidArgumentError, "Input 0: [2,3] != input 1: [2,5]"),
            Error([MASK[0], (2,), (2,)], InvalidArgumentError, "Input 0: [3] != input 1: [2]"),
            Error([MASK[0], (), ()], InvalidArgumentError, "'then' must be at least a vector, but saw shape: []"),
            Error([MASK[0], (2, 5), (2, 5)], InvalidArgumentError, "Number of batches of 'then' must match size of 'cond'"),
            Error([MASK[0], (3, 5), (3, 2)], InvalidArgumentError, "same size.  but received: [3,5] vs. [3,2]"),
        ],
    ),
    OpCase("Select", [np.array(True), (2, 3), (2, 3)], lambda c, t, e: t, label="scalar"),
    OpCase(
        "SelectV2",
        [MASK, (3,), (2, 1)],
        np.where,
        dtypes=EVERY,
        errors=[
            Error([MASK, (5,), (2, 1)], ValueError, "Dimensions must be equal"),
            Error([MASK, (5,), (2, 1)], InvalidArgumentError, "must be broadcastable"),
        ],
    ),
    OpCase("SelectV2", [np.array(True), (2, 3), ()], lambda c, t, e: t, label="scalars"),
    OpCase("Where", [MASK], lambda c: np.int64([[0, 0], [0, 2], [1, 2]]), gradient=()),
    OpCase("Where", [np.float32([0, 3, np.nan, 0])], lambda x: np.int64([[1], [2]]), gradient=(), label="numbers"),
]
test_rows = op_tests(CASES)


def test_boolean_mask() -> None:
    x = np.arange(30.0, dtype=np.float32).reshape(2, 3, 5)
    with tf.Graph().as_default(), tf.Session() as session:
        unknown = tf.placeholder(tf.bool, [None, 3])
        both, rows, inner = (
            tf.boolean_mask(x, unknown),
            tf.boolean_mask(x, [False, True]),
            tf.boolean_mask(x, [True, False, True], axis=1),
        )
        assert both.shape.as_list() == [None, 5]
        values = session.run([both, rows, inner], {unknown: MASK})
        with pytest.raises(ValueError, match="incompatible"):
            tf.boolean_mask(x, [True, False, True])
        with pytest.raises(ValueError, match="mask cannot be scalar"):
            tf.boolean_mask(x, True)
        with pytest.raises(ValueError, match="Number of mask dimensions must be specified"):
            tf.boolean_mask(x, tf.placeholder(tf.bool))
    for value, wanted in zip(values, [x[MASK], x[1:], x[:, ::2]], strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_sequence_mask() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        lengths = tf.placeholder(tf.int32, [None])
        fitting, wide = tf.sequence_mask(lengths), tf.sequence_mask(lengths, 5, tf.float32)
        short, long = session.run([fitting, wide], {lengths: [1, 3]})
        with pytest.raises(ValueError, match="maxlen must be scalar"):
            tf.sequence_mask(lengths, [1, 2])
    assert short.tolist() == [[True, False, False], [True, True, True]]
    assert long.tolist() == [[1, 0, 0, 0, 0], [1, 1, 1, 0, 0]]


def test_choosing_is_exact() -> None:
    """Neither what is not chosen nor signs of zero leave a trace."""
    t, e = np.float32([np.nan, -0.0, np.inf, 1]), np.float32([1, np.inf, np.nan, -0.0])
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.float32, [4])
        value = session.run(tf.where([True, True, False, False], x, y), {x: t, y: e})
        np.testing.assert_array_equal(value.view(np.int32), np.concatenate([t[:2], e[2:]]).view(np.int32))
