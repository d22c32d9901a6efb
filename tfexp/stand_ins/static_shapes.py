"""`tensorflow.python.framework`'s `common_shapes`: what is known of shapes before a step. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import tensor_pb2, tensor_shape_pb2

from tfexp.core.shape import TensorShape
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.unpublished import constant_value_as_shape


def ShapeEquals(tensor_proto: Any, shape: Any) -> bool:
    """Whether a TensorProto has that shape: a TensorShapeProto or a list of sizes. `framework.tensor_util`."""
    if not isinstance(tensor_proto, tensor_pb2.TensorProto):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if isinstance(shape, tensor_shape_pb2.TensorShapeProto):
        shape = [dim.size for dim in shape.dim]
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return [dim.size for dim in tensor_proto.tensor_shape.dim] == list(shape)


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


def TensorShapeProtoToList(shape: Any) -> list[int]:
    """The sizes of a TensorShapeProto, -1 for what is not known. `framework.tensor_util`."""
    return [dim.size for dim in shape.dim]


def maybe_set_static_shape(tensor: Any, shape: Any) -> None:
    """In a function's graph `tensor` gets what is known of the values of the tensor `shape`. `framework.tensor_util`."""
    if isinstance(shape, Tensor) and not tensor.shape.is_fully_defined() and get_default_graph().building_function:
        tensor.set_shape(constant_value_as_shape(shape))
