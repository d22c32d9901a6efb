"""Rows of the ops on ragged tensors; tests/golden/programs/ragged.py has more of TensorFlow's answers."""

from __future__ import annotations

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

OUTER, INNER = np.int64([0, 2, 2, 3]), np.int64([0, 1, 2, 5])
RANK_2 = {"OUTPUT_RAGGED_RANK": 2}
RANK_1 = {"OUTPUT_RAGGED_RANK": 1}


def broken(splits, text, *more, **attrs):
    """That these splits of three values are refused."""
    return Error([[np.int64(splits)], (3,), *more], InvalidArgumentError, text, attrs)


def refusals(*more, **attrs):
    return [
        broken([], "ragged splits may not be empty", *more, **attrs),
        broken([1, 3], "First value of ragged splits must be 0. It is 1", *more, **attrs),
        broken([0, 2, 1, 3], "Ragged splits must be sorted: 2 is followed by 1", *more, **attrs),
        broken([0, 4], "must match the length the corresponding ragged values: 4 and 3", *more, **attrs),
    ]


CASES = [
    OpCase(
        "RaggedRange",
        [Like([3, 9, 1]), Like([7, 2, 1]), Like([2, -3, 5])],
        lambda a, b, c: [np.int64([0, 2, 5, 5]), np.array([3, 5, 9, 6, 3], a.dtype)],
        dtypes=["int32", "int64", "float32", "float64", "bfloat16"],
        gradient=(),
        errors=[
            Error([Like([1, 2]), Like(5), Like(0)], InvalidArgumentError, "Requires delta != 0"),
            Error([Like([1, 2]), Like([1, 2, 3]), Like(1)], InvalidArgumentError, "have the same shape, got [2], [3], []"),
            Error([(2,), (3,), ()], ValueError, "must be equal, but are 2 and 3"),
            Error([(2, 1), (2,), ()], ValueError, "Shape must be at most rank 1 but is rank 2"),
        ],
    ),
    OpCase(
        "RaggedRange",
        [Like(0), Like([2, 3]), Like(1)],
        lambda a, b, c: [np.int64([0, 2, 5]), np.array([0, 1, 0, 1, 2], a.dtype)],
        dtypes=["int32"],
        label="one start for all",
    ),
    OpCase(
        "RaggedGather",
        [[OUTER, INNER], (5, 2), np.int32([2, 0, 0])],
        lambda splits, x, i: [
            np.int64([0, 1, 3, 5]),
            np.int64([0, 3, 4, 5, 6, 7]),
            x[[2, 3, 4, 0, 1, 0, 1]],
        ],
        RANK_2,
        dtypes=["float32", "int16"],
        gradient=[2],
        errors=[
            Error([[OUTER], (3,), np.int32([[1], [-1]])], InvalidArgumentError, "indices[1,0] = -1 is not in", RANK_2),
            Error([[OUTER], (3,), (2,)], ValueError, "OUTPUT_RAGGED_RANK must be", RANK_2, "int32"),
            *refusals(np.int32([0]), **RANK_1),
        ],
    ),
    OpCase(
        "RaggedGather",
        [[OUTER], (3,), np.int64(0)],
        lambda splits, x, i: [x[:2]],
        {"OUTPUT_RAGGED_RANK": 0},
        label="one row",
        gradient=[1],
    ),
    OpCase(
        "RaggedTensorToSparse",
        [[OUTER, INNER], (5,)],
        lambda splits, x: [
            np.int64([[0, 0, 0], [0, 1, 0], [2, 0, 0], [2, 0, 1], [2, 0, 2]]),
            x,
            np.int64([3, 2, 3]),
        ],
        dtypes=["float32", "string"],
        gradient=[2],
        errors=refusals(),
    ),
]
test_rows = op_tests(CASES)


def test_one_vector_of_a_range_tells_how_many_rows_there_are() -> None:
    unknown = tf.placeholder(tf.int32)
    assert tf.raw_ops.RaggedRange(starts=unknown, limits=[5, 3, 2], deltas=1).rt_nested_splits.shape == [4]
    assert tf.raw_ops.RaggedRange(starts=unknown, limits=5, deltas=1).rt_nested_splits.shape.as_list() == [None]
