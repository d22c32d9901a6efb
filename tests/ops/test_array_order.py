"""Rows of transpose, reverse, roll, permutations and distinct values."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ANY = ["float32", "int32", "string"]


def reversed_starts(x, lengths):
    rows = [np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(x, lengths, strict=True)]
    return np.stack(rows)


CASES = [
    OpCase(
        "Transpose",
        [(2, 3, 5), np.int32([2, 0, 1])],
        lambda x, perm: np.einsum("abc->cab", x) if x.dtype != object else x.transpose(2, 0, 1),
        dtypes=ANY,
        errors=[
            Error([(2, 3), np.int32([0, 1, 2])], ValueError, "Dimension must be 2 but is 3"),
            Error([(2, 3), np.int32([0, 5])], ValueError, "perm dim 5 is out of range of input rank 2", constants=True),
            Error([(2, 3), np.int32([0, 0])], InvalidArgumentError, "1 is missing from {0,0}."),
            Error([(2, 3), np.int32([0])], InvalidArgumentError, "transpose expects a vector of size 2"),
        ],
    ),
    OpCase("Transpose", [(2, 3), np.int32([1, 0])], lambda x, perm: x.T, label="matrix"),
    OpCase(
        "ConjugateTranspose",
        [(2, 3), np.int32([1, 0])],
        lambda x, perm: x.T.conj(),
        dtypes=["complex64", "float32"],
    ),
    OpCase(
        "InvertPermutation",
        [np.int32([2, 0, 3, 1])],
        lambda x: np.int32([1, 3, 0, 2]),
        errors=[
            Error([np.int32([1, 1])], InvalidArgumentError, "1 is duplicated in the input."),
            Error([np.int32([0, 2])], InvalidArgumentError, "2 is not between 0 and 2"),
        ],
    ),
    OpCase(
        "ReverseV2",
        [(2, 3, 5), np.int32([-1, 0])],
        lambda x, axes: x[::-1, :, ::-1],
        dtypes=ANY,
        errors=[
            Error([(2, 3), np.int32([3])], InvalidArgumentError, "'axis'[0] = 3 is out of valid range [0, 1]"),
            Error([(2, 3), np.int32([1, -1])], InvalidArgumentError, "axis 1 specified more than once."),
        ],
    ),
    OpCase(
        "ReverseSequence",
        [(3, 5, 2), np.int64([1, 5, 0])],
        reversed_starts,
        attrs={"seq_dim": 1, "batch_dim": 0},
        dtypes=ANY,
        errors=[
            Error([(3, 5), np.int64([1, 7, 0])], InvalidArgumentError, "seq_lens(1) > input.dims(1)"),
            Error([(3, 5), np.int64([1, -1, 0])], InvalidArgumentError, "seq_lens(1) < 0"),
            Error([(3, 5), np.int64([1, 1])], ValueError, "Dimensions must be equal, but are 3 and 2"),
        ],
    ),
    OpCase(
        "ReverseSequence",
        [(5, 3), np.int32([1, 5, 0])],
        lambda x, lengths: reversed_starts(x.T, lengths).T,
        attrs={"seq_dim": 0, "batch_dim": 1},
        label="columns",
    ),
    OpCase(
        "Unique",
        [np.float32([5, 2, 5, 7, 2])],
        [np.float32([5, 2, 7]), np.int32([0, 1, 0, 2, 1])],
        gradient=(),
        errors=[Error([(2, 3)], InvalidArgumentError, "unique expects a 1D vector.")],
    ),
    OpCase(
        "UniqueWithCounts",
        [np.int32([5, 2, 5, 7, 2])],
        [np.int32([5, 2, 7]), np.int64([0, 1, 0, 2, 1]), np.int64([2, 2, 1])],
        attrs={"out_idx": tf.int64},
    ),
    OpCase(
        "ListDiff",
        [np.int32([5, 2, 5, 7, 3]), np.int32([2, 3])],
        [np.int32([5, 5, 7]), np.int32([0, 2, 3])],
        gradient=(),
    ),
]
test_rows = op_tests(CASES)


def test_transpose_without_perm_turns_the_axes_round() -> None:
    x = np.arange(30.0, dtype=np.float32).reshape(2, 3, 5)
    with tf.Graph().as_default(), tf.Session() as session:
        known, unknown = tf.placeholder(tf.float32, [2, None, 5]), tf.placeholder(tf.float32)
        results = [tf.transpose(known), tf.transpose(unknown), tf.matrix_transpose(known), tf.matrix_transpose(unknown)]
        assert results[0].shape.as_list() == [5, None, 2]
        values = session.run(results, {known: x, unknown: x})
    for value, wanted in zip(values, [x.T, x.T, x.swapaxes(1, 2), x.swapaxes(1, 2)], strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_conjugate_is_only_for_complex_numbers() -> None:
    with tf.Graph().as_default():
        assert tf.transpose(tf.zeros([2, 3]), conjugate=True).op.type == "Transpose"
        assert tf.transpose(tf.zeros([2, 3], tf.complex64), conjugate=True).op.type == "ConjugateTranspose"


RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(
    "x",
    [
        RANDOM.integers(-128, 128, 211).astype(np.int8),
        RANDOM.integers(0, 7, 211).astype(np.uint64) + np.uint64(2**64 - 9),
        RANDOM.integers(-3, 3, 211) * 2**61,
        RANDOM.integers(0, 5, 211) + np.int64(-(2**63)),
        RANDOM.integers(0, 2, 211).astype(bool),
        RANDOM.integers(0, 13, 211).astype(np.float16),
        RANDOM.integers(0, 13, 211) * (1 + 2j),
        RANDOM.integers(0, 13, 211).astype("S").astype(object),
        np.zeros(0, np.int32),
    ],
    ids=["int8", "uint64", "far apart", "least int64", "bool", "half", "complex", "string", "none"],
)
def test_distinct_values_come_in_the_order_of_their_first_occurrence(x: np.ndarray) -> None:
    values = list(dict.fromkeys(x.tolist()))
    places = [values.index(one) for one in x.tolist()]
    with tf.Graph().as_default(), tf.Session() as session:
        y, idx, count = session.run(tf.unique_with_counts(tf.placeholder_with_default(x, x.shape)))
    assert (y.tolist(), idx.tolist()) == (values, places)
    assert count.tolist() == [places.count(i) for i in range(len(values))]
    assert y.dtype == x.dtype


def test_nothing_equals_nan_and_the_first_zero_counts() -> None:
    """As TensorFlow 2.21 has it."""
    x = np.float32([np.nan, 1, np.nan, -0.0, 0.0, 1])
    with tf.Graph().as_default(), tf.Session() as session:
        y, idx, count = session.run(tf.unique_with_counts(x))
    np.testing.assert_array_equal(y, [np.nan, 1, np.nan, 0])
    assert np.signbit(y[3])
    assert (idx.tolist(), count.tolist()) == ([0, 1, 2, 3, 3, 1], [1, 2, 1, 2])


def test_the_positions_of_distinct_elements_are_shaped_like_these() -> None:
    with tf.Graph().as_default():
        unknown, known = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [5])
        assert [tf.unique(x)[1].shape.ndims for x in (unknown, known)] == [None, 1]
        assert tf.unique_with_counts(known)[1].shape.as_list() == [5]
