"""Products of matrices, and biases. Source: `tf.keras.backend`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import known_data_format
from tfexp.ops import array, nn_bias
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.matmul import matmul
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.sparse import sparse_tensor_dense_matmul
from tfexp.ops.tensor_products import tensordot


def dot(x: Any, y: Any) -> Tensor:
    """The last axis of `x` with the last but one of `y` (its only one): [..., k] and [..., k, n] -> [..., ..., n].

    `x` may be a SparseTensor.
    """
    if isinstance(x, SparseTensor):
        return sparse_tensor_dense_matmul(x, y)
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    rank, other = x.shape.ndims, y.shape.ndims
    if rank is not None and other is not None and (rank > 2 or other > 2):
        return tensordot(x, y, [[rank - 1], [max(other - 2, 0)]])
    return matmul(x, y)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Tensor:
    """For each example, axis `axes[0]` of `x` with axis `axes[1]` of `y`; at least [batch, 1].

    Axes are counted with the batch's, which is 0. One number stands for both; by default it is the last of `x` and the last
    but one of `y` (the last of a matrix). ValueError for axes and shapes that do not go together.
    """
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    of_x, of_y = x.shape.as_list(), y.shape.as_list()
    shapes = f"shapes {tuple(of_x)} and {tuple(of_y)}"
    if len(of_x) < 2 or len(of_y) < 2:
        raise ValueError(f"Cannot do batch_dot on inputs with rank < 2. Received inputs with {shapes}.")
    if None not in (of_x[0], of_y[0]) and of_x[0] != of_y[0]:
        raise ValueError(f"Cannot do batch_dot on inputs with different batch sizes. Received inputs with {shapes}.")
    first, second = _contracted(axes, len(of_x), len(of_y))
    if None not in (of_x[first], of_y[second]) and of_x[first] != of_y[second]:
        raise ValueError(
            f"Cannot do batch_dot on inputs with {shapes} with axes={[first, second]}. x.shape[{first}] != "
            f"y.shape[{second}] ({of_x[first]} != {of_y[second]})."
        )
    if len(of_x) == 2 and len(of_y) == 2:
        return reduce_sum(x * y, axis=1, keepdims=True)
    if len(of_x) == 3 and len(of_y) == 3:
        return matmul(x, y, transpose_a=first == 1, transpose_b=second == 2)
    rows, kept_rows = _as_matrices(x, first, last=True)
    columns, kept_columns = _as_matrices(y, second, last=False)
    product = matmul(rows, columns)
    result = array.reshape(product, concat([array.shape(x)[:1], kept_rows, kept_columns], 0))  # type: ignore[index]
    result.set_shape([of_x[0], *_without(of_x, first), *_without(of_y, second)])
    return result


def _contracted(axes: Any, of_x: int, of_y: int) -> tuple[int, int]:
    """The axes to be multiplied, counted from the front."""
    if axes is None:
        first, second = of_x - 1, of_y - 1 if of_y == 2 else of_y - 2
    else:
        first, second = (axes, axes) if isinstance(axes, int) else axes
    if any(isinstance(axis, (list, tuple)) for axis in (first, second)):
        raise ValueError(f"Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: {axes}")
    first, second = first + of_x if first < 0 else first, second + of_y if second < 0 else second
    if 0 in (first, second):
        raise ValueError(
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch dimension to your "
            "inputs using K.expand_dims(x, 0)"
        )
    return first, second


def _without(dims: list[Any], axis: int) -> list[Any]:
    return [size for i, size in enumerate(dims) if i not in (0, axis)]


def _as_matrices(x: Tensor, axis: int, last: bool) -> tuple[Tensor, Tensor]:
    """[batch, others, size of axis] (or [batch, size of axis, others]), and the sizes of the other axes."""
    rank = len(x.shape.as_list())
    others = [i for i in range(1, rank) if i != axis]
    order = [0, *others, axis] if last else [0, axis, *others]
    if order != list(range(rank)):
        x = transpose(x, order)
    dims: Any = array.shape(x)
    kept = dims[1:-1] if last else dims[2:]
    sizes = [dims[:1], [-1], dims[-1:]] if last else [dims[:2], [-1]]
    return array.reshape(x, concat(sizes, 0)), kept


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Tensor:
    """`x` plus a bias of its channels, or of all that one example has ([..., channels], reshaped for 'channels_first').

    ValueError for an unknown format, and for a bias of another rank.
    """
    data_format = known_data_format(data_format)
    x, bias = convert_to_tensor(x), convert_to_tensor(bias)
    rank, of_bias = x.shape.ndims, bias.shape.ndims
    if of_bias not in (1, None if rank is None else rank - 1):
        raise ValueError(f"Unexpected bias dimensions {of_bias}, expect to be 1 or {(rank or 0) - 1} dimensions")
    first = data_format == "channels_first" and rank is not None and rank > 2
    if of_bias == 1:
        return nn_bias.bias_add(x, bias, data_format="NCHW" if first else "NHWC")
    if first:  # its elements, taken in the order in which they stand
        sizes = bias.shape.as_list()
        bias = array.reshape(bias, [sizes[-1], *sizes[:-1]])
    result: Tensor = x + array.expand_dims(bias, 0)
    return result
