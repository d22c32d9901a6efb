"""Diagonals of matrices: taken out, put in, made into matrices; identity matrices; bands.

`MatrixDiagV3` and its relatives know several diagonals at once: k = [lowest, highest], 0 the main one, packed into the
rows of a matrix, highest first, and padded on the side that `align` says (`RIGHT_LEFT`: upper ones to the right).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, elementwise_binary, reduce
from tfexp.ops.array import require_scalar
from tfexp.ops.shape_rules import with_rank, with_rank_at_least, with_rank_at_most

# --- the diagonal of a tensor of even rank --------------------------------------------------------------------------

diag_op = define_op(
    "Diag(diagonal: T) -> (output: T) {T: type in [bfloat16,half,float,double,int32,int64,complex64,complex128]}"
)


@diag_op.shape
def _(diagonal: InputShape) -> TensorShape:
    return with_rank_at_least(diagonal, 1).concatenate(diagonal)


@diag_op.kernel("CPU")
def _(ctx: Any, diagonal: np.ndarray) -> np.ndarray:
    if not diagonal.ndim:
        raise InvalidArgumentError(None, None, "Input must be at least rank 1, got 0")
    return np.diag(diagonal.ravel()).reshape(diagonal.shape * 2)


@diag_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return diag_part_op(grad)


diag_part_op = define_op(
    "DiagPart(input: T) -> (diagonal: T) {T: type in [bfloat16,half,float,double,int32,int64,complex64,complex128]}"
)


@diag_part_op.shape
def _(input: InputShape) -> TensorShape:
    dims = input.known_dims
    if dims is None:
        return TensorShape(None)
    if not dims or len(dims) % 2:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {len(dims)}")
    half = len(dims) // 2
    return merged(TensorShape(dims[:half]), TensorShape(dims[half:]))


@diag_part_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray) -> np.ndarray:
    shown = dims_text(input.shape)
    if not input.ndim or input.ndim % 2:
        raise InvalidArgumentError(None, None, f"The rank of the tensor should be even and positive, got shape {shown}")
    middle = input.ndim // 2
    half = input.shape[:middle]
    for i in range(middle):
        if input.shape[i] != input.shape[i + middle]:
            raise InvalidArgumentError(None, None, f"Invalid shape {shown}: dimensions {i} and {i + middle} do not match.")
    size = int(np.prod(half))
    return np.diagonal(input.reshape(size, size)).reshape(half).copy()


@diag_part_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return diag_op(grad)


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of shape s + s with `diagonal`, of shape s, on its diagonal, and zeros. `tf.diag`."""
    return diag_op(diagonal, name=name)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal, of shape s, of a tensor of shape s + s. `tf.diag_part`."""
    return diag_part_op(input, name=name)


# --- diagonals of the innermost matrices ----------------------------------------------------------------------------

matrix_diag_v3 = define_op(
    "MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> (output: T) {T: type;"
    " align: string in ['LEFT_RIGHT','RIGHT_LEFT','LEFT_LEFT','RIGHT_RIGHT'] = 'RIGHT_LEFT'}"
)
matrix_diag_part_v3 = define_op(
    "MatrixDiagPartV3(input: T, k: int32, padding_value: T) -> (diagonal: T) {T: type; align: string in "
    "['LEFT_RIGHT','RIGHT_LEFT','LEFT_LEFT','RIGHT_RIGHT'] = 'RIGHT_LEFT'}"
)
matrix_set_diag_v3 = define_op(
    "MatrixSetDiagV3(input: T, diagonal: T, k: int32) -> (output: T) {T: type; align: string in ['LEFT_RIGHT',"
    "'RIGHT_LEFT','LEFT_LEFT','RIGHT_RIGHT'] = 'RIGHT_LEFT'}"
)


def _band(k: Any, rows: int | None = None, columns: int | None = None) -> tuple[int, int]:
    """The lowest and the highest diagonal that k asks for; ValueError where matrices of such sizes, if known, lack them."""
    if np.ndim(k) > 1:
        raise ValueError(f"diag_index must be a scalar or vector, received shape: {dims_text(np.shape(k))}")
    values = np.ravel(k).tolist()
    if len(values) not in (1, 2):
        raise ValueError(f"diag_index must have only one or two elements, received {len(values)} elements.")
    low, high = values[0], values[-1]
    if rows is not None and columns is not None:
        for which, index in (("lower", low), ("upper", high)):
            if index and not -rows < index < columns:
                raise ValueError(f"{which}_diag_index is out of bound: {index}. It must be between {-rows} and {columns}")
    if low > high:
        raise ValueError(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _placed(rows: int, columns: int, low: int, high: int, align: str) -> Iterator[tuple[int, slice, np.ndarray, np.ndarray]]:
    """For each diagonal from the highest: (its row when packed, its columns when packed, matrix rows, matrix columns)."""
    longest = _longest(rows, columns, low, high)
    upper_left, lower_left = align.startswith("LEFT"), align.endswith("LEFT")
    for d in range(high, low - 1, -1):
        length = min(rows + min(d, 0), columns - max(d, 0))
        left = (d >= 0 and upper_left) or (d <= 0 and lower_left)
        start = 0 if left else longest - length
        i = np.arange(max(length, 0)) + max(0, -d)
        yield high - d, slice(start, start + max(length, 0)), i, i + d


def _matrix_dims(longest: int, low: int, high: int, rows: int, columns: int) -> tuple[int, int]:
    """The matrix with diagonals of that length; -1 stands for the least that will do, square if both are -1."""
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    else:
        rows = least_rows if rows == -1 else rows
        columns = least_columns if columns == -1 else columns
    if rows < least_rows or columns < least_columns or (rows != least_rows and columns != least_columns):
        raise ValueError(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal: "
            f"{rows} x {columns} for {longest} elements"
        )
    return rows, columns


def _check_rank(what: str, value: np.ndarray, least: int) -> None:
    if value.ndim < least:
        text = f"{what} must be at least {least}-dim, received shape: {dims_text(value.shape)}"
        raise InvalidArgumentError(None, None, text)


def _matrix_diag(diagonal: np.ndarray, low: int, high: int, rows: int, columns: int, padding: Any, align: str) -> np.ndarray:
    _check_rank("diagonal", diagonal, 1)
    rows, columns = _matrix_dims(diagonal.shape[-1], low, high, rows, columns)
    batch = diagonal.shape[:-1] if low == high else diagonal.shape[:-2]
    packed = diagonal[..., np.newaxis, :] if low == high else diagonal
    result = np.full((*batch, rows, columns), padding, diagonal.dtype)
    for row, part, i, j in _placed(rows, columns, low, high, align):
        result[..., i, j] = packed[..., row, part]
    return result


@matrix_diag_v3.kernel("CPU")
def _(ctx: Any, diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any, *, align: str) -> np.ndarray:
    low, high = _band(k)
    require_scalar("num_rows", num_rows)
    require_scalar("num_cols", num_cols)
    return _matrix_diag(diagonal, low, high, int(num_rows), int(num_cols), padding_value, align)


@matrix_diag_v3.shape
def _(diagonal: InputShape, k: InputShape, num_rows: InputShape, num_cols: InputShape, padding: InputShape) -> TensorShape:
    dims = with_rank_at_least(diagonal, 1).known_dims
    with_rank_at_most(k, 1)
    for scalar in (num_rows, num_cols, padding):
        with_rank(scalar, 0)
    if dims is None or k.value is None:
        return TensorShape(None)
    low, high = _band(k.value)
    batch = dims[:-1] if low == high else dims[:-2]
    rows, columns = (None if v.value is None else int(v.value) for v in (num_rows, num_cols))
    longest = dims[-1]
    if longest is None or rows is None or columns is None:
        return TensorShape([*batch, *(None if d in (None, -1) else d for d in (rows, columns))])
    return TensorShape([*batch, *_matrix_dims(longest, low, high, rows, columns)])


@matrix_diag_v3.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [matrix_diag_part(grad, k=op.inputs[1], align=op.get_attr("align")), None, None, None, None]


def _matrix_diag_part(matrix: np.ndarray, low: int, high: int, padding: Any, align: str) -> np.ndarray:
    rows, columns = matrix.shape[-2:]
    packed = np.full((*matrix.shape[:-2], high - low + 1, _longest(rows, columns, low, high)), padding, matrix.dtype)
    for row, part, i, j in _placed(rows, columns, low, high, align):
        packed[..., row, part] = matrix[..., i, j]
    return packed[..., 0, :] if low == high else packed


@matrix_diag_part_v3.kernel("CPU")
def _(ctx: Any, input: np.ndarray, k: Any, padding_value: Any, *, align: str) -> np.ndarray:
    _check_rank("input", input, 2)
    return _matrix_diag_part(input, *_band(k, *input.shape[-2:]), padding_value, align)


@matrix_diag_part_v3.shape
def _(input: InputShape, k: InputShape, padding_value: InputShape) -> TensorShape:
    dims = with_rank_at_least(input, 2).known_dims
    with_rank_at_most(k, 1)
    with_rank(padding_value, 0)
    if dims is None or k.value is None:
        return TensorShape(None)
    rows, columns = dims[-2:]
    low, high = _band(k.value, rows, columns)
    longest = None if rows is None or columns is None else _longest(rows, columns, low, high)
    return TensorShape([*dims[:-2], *([] if low == high else [high - low + 1]), longest])


@matrix_diag_part_v3.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    matrix, k = op.inputs[:2]
    align = op.get_attr("align")
    dims = matrix.shape.known_dims
    if dims is not None and None not in dims[-2:]:
        rows, columns = dims[-2:]
        return [matrix_diag(grad, k=k, num_rows=rows, num_cols=columns, align=align), None, None]
    return [matrix_set_diag(array_fill.zeros_like(matrix), grad, k=k, align=align), None, None]


def _matrix_set_diag(matrix: np.ndarray, diagonal: np.ndarray, low: int, high: int, align: str) -> np.ndarray:
    _check_rank("diagonal", diagonal, 1)
    result = np.array(matrix)
    rows, columns = matrix.shape[-2:]
    packed = diagonal[..., np.newaxis, :] if low == high else diagonal
    wanted = (*matrix.shape[:-2], high - low + 1, _longest(rows, columns, low, high))
    if packed.shape != wanted:
        message = (
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the "
            f"longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: {dims_text(matrix.shape)}\n"
            f"Diagonal shape: {dims_text(diagonal.shape)}"
        )
        raise InvalidArgumentError(None, None, message)
    for row, part, i, j in _placed(rows, columns, low, high, align):
        result[..., i, j] = packed[..., row, part]
    return result


@matrix_set_diag_v3.kernel("CPU")
def _(ctx: Any, input: np.ndarray, diagonal: np.ndarray, k: Any, *, align: str) -> np.ndarray:
    _check_rank("input", input, 2)
    return _matrix_set_diag(input, diagonal, *_band(k, *input.shape[-2:]), align)


@matrix_set_diag_v3.shape
def _(input: InputShape, diagonal: InputShape, k: InputShape) -> TensorShape:
    with_rank_at_least(diagonal, 1)
    with_rank_at_most(k, 1)
    dims = with_rank_at_least(input, 2).known_dims
    if dims is not None and k.value is not None:
        low, high = _band(k.value)
        with_rank(diagonal, len(dims) - 1 if low == high else len(dims))
    return input


@matrix_set_diag_v3.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    diagonal, k = op.inputs[1:3]
    align = op.get_attr("align")
    if diagonal.shape.is_fully_defined():
        zeros = array_fill.zeros(diagonal.shape, dtype=grad.dtype)
    else:
        zeros = array_fill.zeros(array.shape(diagonal), dtype=grad.dtype)
    return [matrix_set_diag(grad, zeros, k=k, align=align), matrix_diag_part(grad, k=k, align=align), None]


# The first versions, of graphs made by older programs: the main diagonal only.


def matrix_diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices [..., n, n] with the vectors [..., n] on their diagonals (see the module for k). `tf.matrix_diag`."""
    return matrix_diag_v3(diagonal, k, num_rows, num_cols, _padding(padding_value, diagonal), align=align, name=name)


def matrix_diag_part(
    input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """The diagonals [..., min(m, n)] of matrices [..., m, n] (see the module for k). `tf.matrix_diag_part`."""
    return matrix_diag_part_v3(input, k, _padding(padding_value, input), align=align, name=name)


def matrix_set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Matrices with other diagonals (see the module for k). `tf.matrix_set_diag`."""
    return matrix_set_diag_v3(input, diagonal, k, align=align, name=name)


def _padding(value: Any, like: Any) -> Any:
    """Python's 0 as that of a bool tensor, whose only numbers are False and True."""
    is_bool = getattr(like, "dtype", None) == dtypes.bool
    return bool(value) if is_bool and not isinstance(value, Tensor) else value


matrix_band_part_op = define_op(
    "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> (band: T) {T: type; Tindex: type in [int32,"
    "int64] = int64}"
)


@matrix_band_part_op.shape
def _(input: InputShape, num_lower: InputShape, num_upper: InputShape) -> TensorShape:
    return with_rank_at_least(input, 2)


@matrix_band_part_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, num_lower: Any, num_upper: Any) -> np.ndarray:
    if input.ndim < 2:
        raise InvalidArgumentError(None, None, f"input must be at least 2-dim, received shape: {list(input.shape)}")
    rows, columns = input.shape[-2:]
    for name, number, limit, what in (("num_lower", num_lower, rows, "rows"), ("num_upper", num_upper, columns, "columns")):
        require_scalar(name, number)
        if number > limit:
            raise InvalidArgumentError(
                None, None, f"{name} must be negative or less or equal to number of {what} ({limit}) got: {number}"
            )
    distance = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    keep = np.ones((rows, columns), np.bool_)
    if num_lower >= 0:
        keep &= distance >= -int(num_lower)
    if num_upper >= 0:
        keep &= distance <= int(num_upper)
    return np.where(keep, input, input.dtype.type(0))


@matrix_band_part_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [matrix_band_part_op(grad, op.inputs[1], op.inputs[2]), None, None]


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices with zeros outside a band of so many lower and upper diagonals (negative: all). `tf.matrix_band_part`."""
    if isinstance(num_upper, Tensor) and not isinstance(num_lower, Tensor):
        num_lower = np.asarray(num_lower, num_upper.dtype.as_numpy_dtype)
    return matrix_band_part_op(input, num_lower, num_upper, name=name)


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sums of the diagonals of matrices [..., m, n]. `tf.trace`."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return reduce.reduce_sum(matrix_diag_part(x), [-1], name=scope)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Identity matrices [*batch_shape, num_rows, num_columns]. `tf.eye`."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        columns = num_rows if num_columns is None else num_columns
        batch: Any = [] if batch_shape is None else batch_shape
        if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
            shorter: Any = elementwise_binary.minimum(num_rows, columns)
            batch = convert_to_tensor(batch, name="shape", dtype=dtypes.int32)
        else:
            shorter = min(int(num_rows), int(columns))
            is_square = int(num_rows) == int(columns)
        diagonal_shape = _joined(batch, [shorter])
        if is_square:
            return matrix_diag(array_fill.ones(diagonal_shape, dtype=dtype))
        shape = _joined(batch, [num_rows, columns])
        diagonal = array_fill.ones(diagonal_shape, dtype=dtype)
        return matrix_set_diag(array_fill.zeros(shape, dtype=dtype), diagonal)


def _joined(batch: Any, dims: list[Any]) -> Any:
    """The shape of matrices [*batch, *dims]: a tensor where the batch's is one."""
    return array_join.concat([batch, dims], 0) if isinstance(batch, Tensor) else [*TensorShape(batch).as_list(), *dims]
