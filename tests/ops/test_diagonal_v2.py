"""Rows of the second versions of MatrixDiag and its relatives: packed diagonals begin at the left."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError


def i32(*values):
    return np.array(values if len(values) > 1 else values[0], np.int32)


def band(x, k, padding):
    """The diagonals k[1], …, k[0] of a matrix, one after the other, from the left."""
    found = [np.diagonal(x, d) for d in range(int(k[1]), int(k[0]) - 1, -1)]
    longest = max(map(len, found))
    return np.stack([np.concatenate([d, np.full(longest - len(d), padding, x.dtype)]) for d in found])


def of_band(d, k, rows, columns, padding):
    """The matrix with these diagonals."""
    result = np.full((rows, columns), padding, d.dtype)
    for row, number in zip(d, range(int(k[1]), int(k[0]) - 1, -1), strict=True):
        for i in range(rows):
            if 0 <= i + number < columns:
                result[i, i + number] = row[min(i, i + number)]
    return result


BAND = i32(-1, 2)
CASES = [
    OpCase("MatrixDiagV2", [(4, 3), BAND, i32(3), i32(4), Like(7)], of_band, dtypes=["float32", "int32"]),
    OpCase(
        "MatrixDiagV2",
        [(2, 3), i32(1), i32(-1), i32(-1), Like(0)],
        lambda d, *_: np.stack([np.diag(row, 1) for row in d]),
        label="one",
        errors=[
            Error([(2, 3), i32(0), i32(2), i32(-1), np.float32(0)], InvalidArgumentError, "not consistent"),
            Error([(2, 3), i32(0), i32(2, 2), i32(-1), np.float32(0)], InvalidArgumentError, "num_rows must be a scalar"),
        ],
    ),
    OpCase(
        "MatrixDiagPartV2",
        [(3, 5), BAND, Like(0)],
        band,
        dtypes=["float32", "int32"],
        errors=[
            Error([(2, 3), i32(5), np.float32(0)], InvalidArgumentError, "lower_diag_index is out of bound"),
            Error([(2, 3), i32([0], [1]), np.float32(0)], ValueError, "Shape must be at most rank 1 but is rank 2"),
        ],
    ),
    OpCase(
        "MatrixSetDiagV2",
        [(3, 5), (4, 3), BAND],
        lambda x, d, k: np.where(np.isnan(m := of_band(d, k, 3, 5, np.nan)), x, m),
        second=False,
        errors=[
            Error([(2, 3, 5), (2, 5), i32(0)], InvalidArgumentError, "is not equal to the longests diagonal"),
            Error([(2, 3, 5), (2, 3), i32([0])[None]], ValueError, "Shape must be at most rank 1 but is rank 2"),
        ],
    ),
]
test_rows = op_tests(CASES)


def test_sizes_are_scalars():
    for sizes in (([3, 3], 3), (3, [3])):
        with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
            tf.raw_ops.MatrixDiagV2(diagonal=[1.0, 2.0, 3.0], k=0, num_rows=sizes[0], num_cols=sizes[1], padding_value=0.0)


def test_what_is_filled_in_is_a_scalar() -> None:
    for make in (tf.matrix_diag, tf.matrix_diag_part):
        with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
            make(np.ones((2, 2)), k=1, padding_value=[1.0])
