"""Every op that can be compiled computes the same compiled, on the rows of all other files here.

A row is left to the op's NumPy kernel where the plan would do so too: strings, quantized types, unknown static inputs.
"""

from __future__ import annotations

import importlib
import pathlib
from typing import Any

import numpy as np
import pytest

from tests.ops import harness
from tests.ops.harness import OpCase, assert_close
from tfexp.core import dtypes as tf_dtypes
from tfexp.core.op import flatten_args, get_op, group_inputs, output_types

jax = pytest.importorskip("jax", reason="the xla extra is not installed: pip install 'tfexp[xla]'")


def _rows() -> dict[str, list[OpCase]]:
    """The rows of all families whose op has an XLA kernel, by op."""
    for file in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        if file.stem not in (pathlib.Path(__file__).stem, "test_completeness"):
            importlib.import_module(f"tests.ops.{file.stem}")
    rows: dict[str, list[OpCase]] = {}
    for case in harness.CASES:
        if "XLA" in get_op(case.op).kernels:
            rows.setdefault(case.op, []).append(case)
    return rows


ROWS = _rows()


@pytest.mark.parametrize("op", sorted(ROWS))
def test_the_compiled_kernel_computes_the_same(op: str) -> None:
    compiled = sum(_compare(case, dtype) for case in ROWS[op] for dtype in case.dtypes)
    assert compiled, f"no row of {op} can be compiled: its XLA kernel is of no use"
