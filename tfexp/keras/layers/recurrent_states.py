"""States of recurrent cells: zeros of their sizes."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import stack


def size_shape(size: Any) -> TensorShape:
    """The shape of a state, or output, of one example: of a depth or a shape."""
    return as_shape(size if isinstance(size, (list, tuple, TensorShape)) else [size])


def map_sizes(function: Any, sizes: Any) -> Any:
    """`function` of each size in a structure of sizes. A TensorShape is a size, a list or tuple a structure."""
    if isinstance(sizes, TensorShape) or not nest.is_nested(sizes):
        return function(sizes)
    return nest.pack_sequence_as(sizes, [function(size) for size in nest.flatten(sizes)])


def flat_sizes(sizes: Any) -> list[Any]:
    """The sizes in a structure of sizes."""
    return [sizes] if isinstance(sizes, TensorShape) else nest.flatten(sizes)


def zero_states(sizes: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros [batch_size, *size] for each size in the structure `sizes`. batch_size: a number or a scalar."""

    def made(size: Any) -> Any:
        dims = [batch_size, *size_shape(size).as_list()]
        return zeros(stack(dims) if isinstance(batch_size, Tensor) else dims, dtype=dtype)

    return map_sizes(made, sizes)


def initial_state(sizes: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """`zero_states` for a batch like `inputs`; without these of that size and type, else ValueError."""
    if inputs is not None:
        batch_size, dtype = shape(inputs)[0], inputs.dtype  # type: ignore[index]
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}, and there are no inputs"
        )
    return zero_states(sizes, batch_size, dtype)
