"""The second versions of MatrixDiag and its relatives, of TensorFlow 1.15 and 2.0: the third ones, aligned to the left."""

from __future__ import annotations

from typing import Any

from tfexp.core.op import Op, define_op
from tfexp.core.shape import TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import zeros, zeros_like
from tfexp.ops.diagonal import matrix_diag_part_v3, matrix_diag_v3, matrix_set_diag_v3

_LEFT = {"align": "LEFT_LEFT"}

matrix_diag_v2 = define_op(
    "MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> (output: T) {T: type}"
)
matrix_diag_part_v2 = define_op("MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> (diagonal: T) {T: type}")
matrix_set_diag_v2 = define_op("MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> (output: T) {T: type}")


def _as_third(op: Op, third: Op) -> None:
    """All but the gradients: TensorFlow's forget the alignment, and so are wrong where diagonals differ in length."""

    @op.shape
    def _(*inputs: Any) -> TensorShape:
        assert third.shape_rule is not None
        found: TensorShape = third.shape_rule(*inputs, **_LEFT)
        return found

    @op.kernel("CPU")
    def _(ctx: Any, *inputs: Any) -> Any:
        return third.kernels["CPU"].compute(ctx, *inputs, **_LEFT)


_as_third(matrix_diag_v2, matrix_diag_v3)
_as_third(matrix_diag_part_v2, matrix_diag_part_v3)
_as_third(matrix_set_diag_v2, matrix_set_diag_v3)


@matrix_diag_v2.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [matrix_diag_part_v2(grad, op.inputs[1], zeros([], grad.dtype)), None, None, None, None]


@matrix_diag_part_v2.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [matrix_set_diag_v2(zeros_like(op.inputs[0]), grad, op.inputs[1]), None, None]


@matrix_set_diag_v2.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    diagonal, k = op.inputs[1:3]
    return [matrix_set_diag_v2(grad, zeros_like(diagonal), k), matrix_diag_part_v2(grad, k, zeros([], grad.dtype)), None]
