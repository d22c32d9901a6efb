"""Rows for the element-wise families."""

from __future__ import annotations

import numpy as np

from tests.ops.harness import Error, OpCase, op_tests

CASES = [OpCase("Mul", [(2, 3), (3,)], np.multiply, dtypes=["float32", "int32", "complex64"],
               errors=[Error([(2, 3), (5,)], ValueError, "Dimensions must be equal, but are 3 and 5")]),
        OpCase("Tanh", [(2, 3)], np.tanh),
        ]
test_rows = op_tests(CASES)
