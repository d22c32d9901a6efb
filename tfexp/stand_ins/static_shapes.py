"""`tensorflow.python.framework.common_shapes`: what is known of shapes before a step. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape


def has_fully_defined_shape(tensor: Any) -> bool:
    """Whether every size is known; an eager tensor's are."""
    known: bool = tensor.shape.is_fully_defined()
    return known


def rank(tensor: Any) -> int | None:
    """The number of dimensions; None where it is not known."""
    known: int | None = tensor.shape.rank
    return known


def is_broadcast_compatible(shape_x: Any, shape_y: Any) -> bool:
    """Whether tensors of these shapes are known to broadcast: not where a rank is unknown."""
    one, other = TensorShape(shape_x), TensorShape(shape_y)
    if one.rank is None or other.rank is None:
        return False
    sizes = zip(reversed(one.as_list()), reversed(other.as_list()), strict=False)
    return all(a == b or 1 in (a, b) or None in (a, b) for a, b in sizes)


def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> Any:
    """What the op's own rule says: the shapes of a node's outputs."""
    return {"shapes": [output.shape.as_proto() for output in op.outputs]}
