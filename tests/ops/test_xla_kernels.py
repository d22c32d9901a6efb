"""Every op that can be compiled computes the same compiled, on the rows of all other files here.

All rows of an op, in each of their dtypes, are compiled as one segment. A row is left out where a plan would leave the node
to NumPy: strings and quantized types.
"""

from __future__ import annotations

import importlib
import pathlib

import numpy as np
import pytest

import tfexp as tf
from tests.ops import harness
from tests.ops.harness import OpCase, build_constant
from tfexp.core.op import flatten_args, get_op
from tfexp.plan.segment import Member, Segment, Spec, can_hold, static_flags

pytest.importorskip("jax", reason="the xla extra is not installed: pip install 'tfexp[xla]'")

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
# What XLA computes in another order, or with approximations of its own.
TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-11, "complex128": 1e-11}


def _rows() -> dict[str, list[OpCase]]:
    """The rows of all families whose op has an XLA kernel, by op."""
    folder, own = pathlib.Path(__file__).parent, pathlib.Path(__file__).stem
    for file in sorted(folder.glob("test_*.py")):
        if file.stem not in (own, "test_completeness"):
            importlib.import_module(f"tests.ops.{file.stem}")
    rows: dict[str, list[OpCase]] = {}
    for case in harness.CASES:
        if "XLA" in get_op(case.op).kernels:
            rows.setdefault(case.op, []).append(case)
    return rows


ROWS = _rows()


class _AllRows:
    """One segment of all rows of an op."""

    def __init__(self, op: str):
        self.op = get_op(op)
        self.members: list[Member] = []
        self.inputs: list[tuple[int, Spec]] = []
        self.constants: list[tuple[int, np.ndarray]] = []
        self.results: dict[int, Spec] = {}
        self.fed: list[np.ndarray] = []
        self.expected: list[tuple[str, np.ndarray]] = []
        self.count = 0
        for case in ROWS[op]:
            for dtype in case.dtypes:
                self._add(case, dtype)

    def _number(self) -> int:
        self.count += 1
        return self.count

    def _add(self, case: OpCase, dtype: str) -> None:
        arrays = case.arrays(dtype)
        with tf.Graph().as_default():
            outputs = build_constant(self.op, arrays, case.attrs)
            if not outputs:
                return
            node = outputs[0].op
        kernel = self.op.kernels["XLA"]
        flat, static = flatten_args(arrays), static_flags(self.op, node.attrs, kernel)
        held = all(can_hold(t.dtype) for t in (*node.inputs, *node.outputs))
        if not held or not kernel.takes(t.dtype for t, fixed in zip(node.inputs, static, strict=True) if not fixed):
            return
        numbers = []
        for array, is_static in zip(flat, static, strict=True):
            numbers.append(self._number())
            if is_static:
                self.constants.append((numbers[-1], array))
            else:
                self.inputs.append((numbers[-1], Spec(array.shape, array.dtype)))
                self.fed.append(array)
        results = [self._number() for _ in outputs]
        for number, output, wanted in zip(results, outputs, case.expected(arrays), strict=True):
            self.results[number] = Spec(wanted.shape, np.dtype(output.dtype.as_numpy_dtype))
            self.expected.append((f"{case.id} {dtype}", wanted))
        through = (False,) * len(flat)
        member = Member(case.id, self.op, dict(node.attrs), kernel, tuple(numbers), through, static, tuple(results))
        self.members.append(member)

    def segment(self) -> Segment:
        made = tuple(n for member in self.members for n in member.outputs)
        return Segment(
            "rows", DEVICE, tuple(self.members), tuple(self.inputs), tuple(self.constants), (), made, self.results
        )
