"""Rows of NthElement, and of the ops that go from one order of dimensions to another."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

CASES = [
    OpCase(
        "NthElement",
        [(2, 7), np.int32(3)],
        lambda x, n: np.sort(x, -1)[:, n],
        dtypes=["float32", "float64", "float16", "int32", "uint8"],
        second=False,
        errors=[
            Error([(), np.int32(0)], ValueError, "at least rank 1 but is rank 0"),
            Error([(3,), np.int32(5)], ValueError, "Input must have last dimension > n = 5 but is 3", constants=True),
            Error([(3,), np.int32(-1)], ValueError, "Need n >= 0, got -1", constants=True),
            Error([(3,), np.int32(5)], InvalidArgumentError, "Input must have at least n+1 columns, which is 6, but has 3"),
            Error([(3,), np.int32(-7)], InvalidArgumentError, "Need n >= 0, got -7"),
        ],
    ),
    OpCase(
        "NthElement",
        [(2, 5, 3), np.int32(0)],
        lambda x, n: x.max(-1),
        attrs={"reverse": True},
        second=False,
        label="reverse",
    ),
    OpCase("DataFormatDimMap", [np.int32([[0, 3], [-4, 1]])], np.int32([[0, 1], [0, 2]]), gradient=()),
    OpCase(
        "DataFormatDimMap",
        [np.int64([2, -1])],
        np.int64([0, 3]),
        attrs={"src_format": "NHWC", "dst_format": "WHNC"},
        gradient=(),
        label="any letters",
        errors=[
            Error([np.int32([4])], InvalidArgumentError, "Source dimensions must be in the range [-4, 4)"),
            Error([np.int32([0])], InvalidArgumentError, "must determine a permutation", attrs={"src_format": "ABCD"}),
        ],
    ),
    OpCase(
        "DataFormatVecPermute",
        [np.int32([[7, 4], [9, 3], [4, 5], [5, 1]])],
        np.int32([[9, 3], [4, 5], [7, 4], [5, 1]]),
        attrs={"dst_format": "HWNC"},
        gradient=(),
        errors=[
            Error([np.int32([1, 2, 3])], InvalidArgumentError, "input must have 4 rows"),
            Error([np.int32([[1, 2, 3]] * 4)], InvalidArgumentError, "Second dimension of 2D input must be of size 2"),
            Error([np.int32(3)], ValueError, "Shape must be at least rank 1 and at most rank 2 but is rank 0"),
        ],
    ),
    OpCase("DataFormatVecPermute", [np.int32([5, 7])], np.int32([5, 7]), gradient=(), label="inner dimensions"),
]
test_rows = op_tests(CASES)
