"""The shape that two shapes broadcast to, known or computed, and the grids that vectors span."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, size
from tfexp.ops.array_fill import ones
from tfexp.ops.array_join import stack
from tfexp.ops.broadcast import broadcast_args
from tfexp.ops.shape_rules import broadcast_shapes


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape, as a vector, of an element-wise op on tensors of these shapes. `tf.broadcast_dynamic_shape`."""
    result: Tensor = broadcast_args(shape_x, shape_y)
    return result


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The TensorShape that both broadcast to; ValueError without one. `tf.broadcast_static_shape`."""
    try:
        return broadcast_shapes(TensorShape(shape_x), TensorShape(shape_y))
    except ValueError:
        raise ValueError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either "
            f"equal or one of them is 1. Received: {shape_x} and {shape_y}."
        ) from None


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """The coordinates of the grid that the vectors span, one tensor for each.

    With `indexing="xy"` (the default) the first two axes are swapped, as for plots; with "ij" axis i is that of the i-th
    vector. Source: `tf.meshgrid`.
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"{next(iter(kwargs))} is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing parameter must be either 'xy' or 'ij', got '{indexing}'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        # Each vector along its own axis, and size one along the others.
        grids = [reshape(stack(x), [1] * i + [-1] + [1] * (count - 1 - i)) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            grids[0] = reshape(grids[0], [1, -1] + [1] * (count - 2))
            grids[1] = reshape(grids[1], [-1, 1] + [1] * (count - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        filled = ones(sizes, dtype)
        return [grid * filled for grid in grids]
