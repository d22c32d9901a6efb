"""Tridiagonal matrices: systems of equations, and products with them.

`compact` diagonals are [..., 3, m]: the superdiagonal (its last element is not looked at), the main diagonal, and the
subdiagonal (its first one is not looked at); `sequence` is the three of them apart, `matrix` the matrices themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, array_pad, reduce
from tfexp.ops.array_order import matrix_transpose
from tfexp.ops.complex_numbers import conj
from tfexp.ops.diagonal import matrix_diag_part
from tfexp.ops.elementwise_unary import neg
from tfexp.ops.linalg import check_stacks
from tfexp.ops.shape_rules import merged_dims, required_dim, with_rank_at_least

tridiagonal_solve_op = define_op(
    "TridiagonalSolve(diagonals: T, rhs: T) -> (output: T) {partial_pivoting: bool = true; perturb_singular: bool = false; "
    "T: type in [double,float,complex64,complex128]}"
)
tridiagonal_matmul_op = define_op(
    "TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> (output: T) {T: type in [double,float,complex64,"
    "complex128]}"
)


@tridiagonal_solve_op.shape
def _(diagonals: InputShape, rhs: InputShape) -> TensorShape:
    d, r = with_rank_at_least(diagonals, 2).known_dims, with_rank_at_least(rhs, 2).known_dims
    if d is not None and r is not None:
        required_dim(d[-2], 3)
        merged(TensorShape(d[:-2]), TensorShape(r[:-2]))
        merged_dims(d[-1], r[-2])
    return rhs


@tridiagonal_solve_op.kernel("CPU")
def _(ctx: Any, diagonals: np.ndarray, rhs: np.ndarray, *, partial_pivoting: bool) -> np.ndarray:
    check_stacks(diagonals, rhs)
    m = diagonals.shape[-1]
    if diagonals.shape[-2] != 3 or rhs.shape[-2] != m:
        raise InvalidArgumentError(
            None,
            None,
            f"Expected diagonals [..., 3, m] and rhs [..., m, k], got {list(diagonals.shape)} and {list(rhs.shape)}",
        )
    if rhs.size == 0:
        return rhs.copy()
    upper, main, lower = (np.moveaxis(diagonals[..., i, :], -1, 0)[..., None].copy() for i in range(3))
    b = np.moveaxis(rhs, -2, 0).copy()
    return np.moveaxis(_eliminated(upper, main, lower, b, partial_pivoting), 0, -2)


def _eliminated(u: np.ndarray, d: np.ndarray, low: np.ndarray, b: np.ndarray, pivoting: bool) -> np.ndarray:
    """Solves the systems by elimination; every argument has the rows in its first dimension, and is overwritten.

    A step needs the one before it: rows follow one another, while all systems and all right-hand sides go together.
    Exchanging two rows brings a second superdiagonal about (as in LAPACK's gttrf).
    """
    m = d.shape[0]
    second = np.zeros_like(u)
    u[m - 1] = 0
    for i in range(m - 1):
        if pivoting:
            swap = np.abs(low[i + 1]) > np.abs(d[i])
            pivot, other = np.where(swap, low[i + 1], d[i]), np.where(swap, d[i], low[i + 1])
            above, below = np.where(swap, d[i + 1], u[i]), np.where(swap, u[i], d[i + 1])
            second[i], after = np.where(swap, u[i + 1], 0), np.where(swap, 0, u[i + 1])
            here, there = np.where(swap, b[i + 1], b[i]), np.where(swap, b[i], b[i + 1])
        else:
            pivot, other, above, below, after, here, there = d[i], low[i + 1], u[i], d[i + 1], u[i + 1], b[i], b[i + 1]
        _check_pivot(pivot, pivoting)
        factor = other / pivot
        d[i], u[i], b[i] = pivot, above, here
        d[i + 1] = below - factor * above
        u[i + 1] = after - factor * second[i]
        b[i + 1] = there - factor * here
    _check_pivot(d[m - 1], pivoting)
    b[m - 1] /= d[m - 1]
    for i in range(m - 2, -1, -1):
        beyond = second[i] * b[i + 2] if i + 2 < m else 0
        b[i] = (b[i] - u[i] * b[i + 1] - beyond) / d[i]
    return b


def _check_pivot(pivot: np.ndarray, pivoting: bool) -> None:
    if not np.all(pivot):
        message = "Input matrix is not invertible."
        if not pivoting:
            message = "The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True."
        raise InvalidArgumentError(None, None, message)


@tridiagonal_matmul_op.shape
def _(superdiag: InputShape, maindiag: InputShape, subdiag: InputShape, rhs: InputShape) -> TensorShape:
    result, dims = with_rank_at_least(rhs, 2), rhs.known_dims
    diagonals = merged(superdiag, merged(maindiag, subdiag))
    d = with_rank_at_least(diagonals, 2).known_dims
    if d is not None and dims is not None:
        required_dim(d[-2], 1)
        merged(TensorShape(d[:-2]), TensorShape(dims[:-2]))
        merged_dims(d[-1], dims[-2])
    return result


@tridiagonal_matmul_op.kernel("CPU")
def _(ctx: Any, superdiag: np.ndarray, maindiag: np.ndarray, subdiag: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    expected = (*rhs.shape[:-2], 1, *rhs.shape[-2:-1])
    for what, diagonal in (("superdiagonal", superdiag), ("main diagonal", maindiag), ("subdiagonal", subdiag)):
        if diagonal.shape != expected:
            text = f"Invalid {what} shape. It is {dims_text(diagonal.shape)}, not {dims_text(expected)}."
            raise InvalidArgumentError(None, None, text)
    above, middle, below = (np.swapaxes(d, -1, -2) for d in (superdiag, maindiag, subdiag))
    result = middle * rhs
    result[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return np.asarray(result)


# --- gradients -------------------------------------------------------------------------------------------------------


def _transposed(diagonals: Tensor) -> Tensor:
    """The compact diagonals of the transposed matrices."""
    main = diagonals[..., 1, :]
    dims = diagonals.shape.known_dims
    if dims is not None and None not in dims:
        zeros = array_fill.zeros([*dims[:-2], 1], dtype=diagonals.dtype)
    else:
        zeros = array_fill.zeros(array_join.concat([array.shape(diagonals)[:-2], [1]], axis=0), dtype=diagonals.dtype)
    above = array_join.concat([diagonals[..., 2, 1:], zeros], axis=-1)
    below = array_join.concat([zeros, diagonals[..., 0, :-1]], axis=-1)
    return array_join.stack([above, main, below], axis=-2)


def _against(x: Tensor, y: Tensor) -> Tensor:
    """The diagonals [..., 3, m] of the outer products x adjoint(y)."""
    main = reduce.reduce_sum(x * y, -1)
    dims = x.shape.known_dims
    if dims is not None and None not in dims:
        zeros = array_fill.zeros([*dims[:-2], 1, dims[-1]], dtype=x.dtype)
    else:
        whole = array.shape(x)
        zeros = array_fill.zeros(array_join.concat([whole[:-2], [1], whole[-1:]], axis=0), dtype=x.dtype)
    above = reduce.reduce_sum(x * array_join.concat([y[..., 1:, :], zeros], -2), -1)
    below = reduce.reduce_sum(x * array_join.concat([zeros, y[..., :-1, :]], -2), -1)
    return array_join.stack([above, main, below], axis=-2)


@tridiagonal_solve_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    diagonals, x = op.inputs[0], op.outputs[0]
    grad_rhs = tridiagonal_solve_op(
        _transposed(diagonals),
        grad,
        partial_pivoting=op.get_attr("partial_pivoting"),
        perturb_singular=op.get_attr("perturb_singular"),
    )
    return [neg(_against(grad_rhs, x)), grad_rhs]


def _moved(x: Tensor, up: bool) -> Tensor:
    """x [..., m, k] with its rows moved by one, and zeros for the row that comes in."""
    outer = array_fill.zeros([array.rank(x) - 2, 2], dtype=dtypes.int32)
    along = constant([[0, 1], [0, 0]] if up else [[1, 0], [0, 0]])
    paddings = array_join.concat([outer, along], axis=0)
    return array_pad.pad(x[..., 1:, :] if up else x[..., :-1, :], paddings)


@tridiagonal_matmul_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    above, main, below = (matrix_transpose(conj(op.inputs[i])) for i in range(3))
    rhs = conj(op.inputs[3])
    grad_above = reduce.reduce_sum(_moved(rhs, up=True) * grad, axis=-1)
    grad_main = reduce.reduce_sum(rhs * grad, axis=-1)
    grad_below = reduce.reduce_sum(_moved(rhs, up=False) * grad, axis=-1)
    grad_rhs = _moved(above * grad, up=False) + main * grad + _moved(below * grad, up=True)
    return [*(array.expand_dims(g, -2) for g in (grad_above, grad_main, grad_below)), grad_rhs]


# --- the functions ---------------------------------------------------------------------------------------------------


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """x of A x = rhs [..., m, k] or [..., m], for tridiagonal A. `tf.linalg.tridiagonal_solve`."""
    compact = _compact(diagonals, diagonals_format, full=False)
    rhs = convert_to_tensor(rhs)
    if compact.shape.rank is None or rhs.shape.rank is None:
        raise ValueError("Expected diagonals and rhs of known ranks")
    if compact.shape.rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {compact.shape.rank}")
    if rhs.shape.rank not in (compact.shape.rank, compact.shape.rank - 1):
        raise ValueError(
            f"Expected the rank of rhs to be {compact.shape.rank - 1} or {compact.shape.rank}, got {rhs.shape.rank}"
        )
    batch, batch_of_rhs = compact.shape[:-2], rhs.shape[: compact.shape.rank - 2]
    if not batch.is_compatible_with(batch_of_rhs):
        raise ValueError(f"Batch shapes {batch} and {batch_of_rhs} are incompatible")
    count, size = compact.shape.as_list()[-2:]
    if count not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {count}")
    known = rhs.shape.as_list()[-1 if transpose_rhs or rhs.shape.rank < compact.shape.rank else -2]
    if None not in (size, known) and size != known:
        raise ValueError(f"Expected number of left-hand sided and right-hand sides to be equal, got {size} and {known}")

    def solve(columns: Tensor) -> Tensor:
        return tridiagonal_solve_op(compact, columns, partial_pivoting=partial_pivoting, name=name)

    if rhs.shape.rank == compact.shape.rank - 1:
        if conjugate_rhs:
            rhs = conj(rhs)
        return array.squeeze(solve(array.expand_dims(rhs, -1)), -1)
    if transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    return solve(rhs)


def _compact(diagonals: Any, diagonals_format: str, full: bool = True) -> Tensor:
    """The diagonals as rows. Those of a sequence are all as long as the middle one, unless not `full`."""
    if diagonals_format == "compact":
        return convert_to_tensor(diagonals)
    if diagonals_format == "sequence":
        above, main, below = (convert_to_tensor(d) for d in diagonals)
        if not full:
            above, below = _lengthened(above, main, behind=True), _lengthened(below, main, behind=False)
        return array_join.stack([above, main, below], axis=-2)
    if diagonals_format == "matrix":
        diagonals = convert_to_tensor(diagonals)
        rows, columns = diagonals.shape.as_list()[-2:] if diagonals.shape.rank else (None, None)
        if None not in (rows, columns) and rows != columns:
            raise ValueError(f"Expected last two dimensions of diagonals to be same, got {rows} and {columns}")
        return matrix_diag_part(diagonals, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def _lengthened(diagonal: Tensor, main: Tensor, behind: bool) -> Tensor:
    """A diagonal beside the middle one, with a 0 where it has an element less. ValueError for any other length."""
    length, full = diagonal.shape.with_rank_at_least(1)[-1].value, main.shape.with_rank_at_least(1)[-1].value
    if length is None or full is None or length == full:
        return diagonal
    if length != full - 1:
        raise ValueError(f"Expected {full - 1} or {full} elements beside a diagonal of {full}, got {length}")
    return array_pad.pad(diagonal, [[0, 0]] * (len(diagonal.shape.as_list()) - 1) + [[0, 1] if behind else [1, 0]])


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """The products of tridiagonal matrices with rhs [..., m, k]. `tf.linalg.tridiagonal_matmul`."""
    if diagonals_format == "sequence":
        above, main, below = (convert_to_tensor(d) for d in diagonals)
    else:
        compact = _compact(diagonals, diagonals_format)
        above, main, below = compact[..., 0, :], compact[..., 1, :], compact[..., 2, :]
    above, main, below = (array.expand_dims(d, -2) for d in (above, main, below))
    return tridiagonal_matmul_op(above, main, below, rhs, name=name)
