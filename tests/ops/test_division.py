"""Rows of division in all its kinds."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

BY_ZERO = [Error([np.int32([1, 2]), np.int32([1, 0])], InvalidArgumentError, "Integer division by zero")]
SIGNS = [np.int32([7, -7, 7, -7]), np.int32([2, 2, -2, -2])]
FLOAT_SIGNS = [np.float32([1, -1, 7, -7, 5, 0]), np.float32([0.1, 0.1, 2, 2, 0, 0])]
INF, NAN = np.inf, np.nan


def real(op, **options):
    options = {"low": 0.5, "dtypes": ["float32", "float64", "float16", "complex64"], **options}
    return OpCase(op, [(2, 3), (3,)], lambda x, y: x * y**-1.0, **options)


CASES = [
    real(
        "RealDiv",
        errors=[
            Error([(2, 3), (5,)], ValueError, "Dimensions must be equal, but are 3 and 5"),
            Error([np.int32(1), np.int32(2)], InvalidArgumentError, "No OpKernel was registered"),
        ],
    ),
    OpCase("RealDiv", [np.float32([1, -1, 0]), np.float32([0, 0, 0])], np.float32([INF, -INF, NAN]), label="zero"),
    real("Div", errors=BY_ZERO),
    OpCase("Div", SIGNS, np.int32([3, -3, -3, 3]), label="integers"),
    real("DivNoNan", dtypes=["float32", "float64", "complex64"]),
    OpCase("DivNoNan", [np.float32([1, NAN, 6]), np.float32([0, 0, 3])], np.float32([0, 0, 2]), label="zero"),
    OpCase("FloorDiv", SIGNS, np.int32([3, -4, -4, 3]), gradient=(), errors=BY_ZERO),
    OpCase("FloorDiv", [(2, 3), (3,)], lambda x, y: np.floor(x / y), low=0.5, gradient=(), label="drawn"),
    OpCase("FloorDiv", FLOAT_SIGNS, np.float32([10, -10, 3, -4, INF, NAN]), gradient=(), label="floats"),
    OpCase("FloorMod", SIGNS, np.int32([1, 1, -1, -1]), errors=BY_ZERO),
    OpCase(
        "FloorMod",
        [(2, 3), (3,)],
        lambda x, y: x - y * np.floor(x / y),
        low=0.5,
        high=3.0,
        label="drawn",
        second=False,
        dtypes=["float32", "float64"],
        tolerance=1e-5,
    ),
    OpCase(
        "FloorMod",
        [np.float32([7, -7, 5, -7, INF, 1, -1, 6]), np.float32([-2, 2, 0, -2, 2, INF, INF, -3])],
        np.float32([-1, 1, NAN, -1, NAN, 1, INF, 0]),
        label="floats",
    ),
]
test_rows = op_tests(CASES)
