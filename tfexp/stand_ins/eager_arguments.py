"""`tensorflow.python.eager.execute` and `.graph_only_ops`: what generated functions make of attributes. Source: TF 1.15.

TypeError for a value of another kind, with the argument's name.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tfexp.core.dtypes import as_dtype
from tfexp.core.op import get_op
from tfexp.core.shape import as_shape
from tfexp.core.text import as_bytes
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import zeros_like


def make_float(v: Any, arg_name: str) -> float:
    if not hasattr(v, "__float__"):
        raise TypeError(f"Expected float for argument '{arg_name}' not {v!r}.")
    return float(v)


def make_int(v: Any, arg_name: str) -> int:
    if isinstance(v, str) or not (hasattr(v, "__int__") or hasattr(v, "__index__")):
        raise TypeError(f"Expected int for argument '{arg_name}' not {v!r}.")
    return int(v)


def make_str(v: Any, arg_name: str) -> bytes:
    if not isinstance(v, (str, bytes)):
        raise TypeError(f"Expected string for argument '{arg_name}' not {v!r}.")
    return as_bytes(v)


def make_bool(v: Any, arg_name: str) -> bool:
    if not isinstance(v, bool):
        raise TypeError(f"Expected bool for argument '{arg_name}' not {v!r}.")
    return v


def make_type(v: Any, arg_name: str) -> int:
    """The number of a dtype."""
    try:
        return as_dtype(v).base_dtype.as_datatype_enum
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{arg_name}' not {v!r}.") from None


def make_shape(v: Any, arg_name: str) -> list[int | None] | None:
    """The sizes of a shape, None for an unknown one; None for an unknown rank."""
    try:
        shape = as_shape(v)
    except TypeError as error:
        raise TypeError(f"Error converting {arg_name} to a TensorShape: {error}.") from None
    except ValueError as error:
        raise ValueError(f"Error converting {arg_name} to a TensorShape: {error}.") from None
    return None if shape.rank is None else shape.as_list()


def make_tensor(v: Any, arg_name: str) -> TensorProto:
    if not isinstance(v, TensorProto):
        raise TypeError(f"Don't know how to convert {v!r} to a TensorProto for argument '{arg_name}'.")
    return v


def graph_placeholder(dtype: Any, shape: Any, name: str | None = None) -> Tensor:
    """A placeholder, in a graph."""
    placeholder: Tensor = get_op("Placeholder")(dtype=as_dtype(dtype), shape=as_shape(shape), name=name)
    return placeholder


graph_zeros_like = zeros_like
