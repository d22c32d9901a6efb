"""Attributes: native Python values in an `Operation`, `AttrValue` protos in a NodeDef.

Native: type -> DType, shape -> TensorShape, string -> str (bytes that are no UTF-8 survive as surrogates), tensor ->
TensorProto, func -> NameAttrList, int, float (that float32 has), bool; list(...) -> list of these.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from tensorboard.compat.proto import attr_value_pb2, tensor_pb2
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tfexp.core import dtypes
from tfexp.core.op import Attr
from tfexp.core.shape import TensorShape, as_shape
from tfexp.core.text import snake_case

_SCALAR_FIELDS = {
    "type": "type",
    "int": "i",
    "float": "f",
    "bool": "b",
    "string": "s",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def as_text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")


def normalize(attr: Attr, value: Any, op_name: str) -> Any:
    """`value` as the native value of `attr`; TypeError or ValueError, naming op and attr, when it cannot be one."""
    try:
        if attr.kind.startswith("list("):
            if not isinstance(value, (list, tuple)):
                raise TypeError(f"Expected list for {attr.name!r} argument to {snake_case(op_name)!r} Op, not {value!r}.")
            kind = attr.kind[5:-1]
            values = [_normalize_one(kind, v, attr.name) for v in value]
            if attr.minimum is not None and len(values) < attr.minimum:
                raise ValueError(
                    f"Attr {attr.name!r} of {op_name!r} Op passed list of length {len(values)} less than "
                    f"minimum {attr.minimum}."
                )
        else:
            kind, value = attr.kind, _normalize_one(attr.kind, value, attr.name)
            if attr.minimum is not None and value < attr.minimum:
                raise ValueError(f"Attr {attr.name!r} of {op_name!r} Op passed {value} less than minimum {attr.minimum}.")
            values = [value]
    except TypeError as error:
        raise TypeError(f"{error} (attr {attr.name!r} of {op_name!r})") from None
    if attr.allowed is not None:
        for one in values:
            check_allowed(attr, one, op_name)
    return values if attr.kind.startswith("list(") else value


def check_allowed(attr: Attr, value: Any, op_name: str, parameter: str | None = None) -> None:
    """Raise TypeError (types) or ValueError (strings) when `value` is not in the attr's list.

    `parameter` is the input that the value was inferred from.
    """
    if attr.allowed is None or value in attr.allowed:
        return
    if isinstance(value, dtypes.DType):
        if value.base_dtype in attr.allowed:
            return
        choices = ", ".join(t.name for t in attr.allowed)
        raise TypeError(
            f"Value passed to parameter {(parameter or attr.name)!r} has DataType {value.name} not in list of "
            f"allowed values: {choices} (op {op_name})"
        )
    choices = '", "'.join(map(str, attr.allowed))
    raise ValueError(f'Attr {attr.name!r} of {op_name!r} Op passed string {value!r} not in: "{choices}".')


def _normalize_one(kind: str, value: Any, name: str) -> Any:
    if kind == "type":
        try:
            return dtypes.as_dtype(value)
        except TypeError:
            raise TypeError(f"Expected DataType for argument {name!r} not {value!r}.") from None
    if kind == "shape":
        try:
            return as_shape(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"Error converting {value!r} (arg name = {name}) to a TensorShape: {error}") from None
    if kind == "string":
        if not isinstance(value, (str, bytes)):
            raise _wrong(kind, value, name)
        return as_text(value)
    if kind == "bool":
        if not isinstance(value, (bool, np.bool_)):
            raise _wrong(kind, value, name)
        return bool(value)
    if kind in ("int", "float"):
        try:
            number = float(value)
            if kind == "float":
                return ctypes.c_float(number).value  # what a NodeDef holds
            if number.is_integer():
                return int(value)
        except (TypeError, ValueError):
            pass
        raise _wrong(kind, value, name)
    if kind == "tensor":
        if not isinstance(value, tensor_pb2.TensorProto):
            raise TypeError(f"Expected TensorProto, got {type(value).__name__}")
        return value
    return value


def _wrong(kind: str, value: Any, name: str) -> TypeError:
    return TypeError(f"Expected {kind} for argument {name!r} not {value!r}.")


def to_proto(kind: str, value: Any) -> AttrValue:
    """A native value of that kind as an AttrValue."""
    proto = AttrValue()
    write_proto(proto, kind, value)
    return proto


def write_proto(proto: AttrValue, kind: str, value: Any) -> None:
    """Have an empty AttrValue hold a native value of that kind."""
    if kind.startswith("list("):
        proto.list.SetInParent()
        element = kind[5:-1]
        field = getattr(proto.list, _SCALAR_FIELDS[element])
        if element in ("shape", "tensor", "func"):
            field.extend(_raw(element, v) for v in value)
        else:
            field.extend([_raw(element, v) for v in value])
    elif kind in ("shape", "tensor", "func"):
        getattr(proto, _SCALAR_FIELDS[kind]).CopyFrom(_raw(kind, value))
    else:
        setattr(proto, _SCALAR_FIELDS[kind], _raw(kind, value))


def _raw(kind: str, value: Any) -> Any:
    if kind == "type":
        return value.as_datatype_enum
    if kind == "string":
        return as_bytes(value)
    if kind == "shape":
        return value.as_proto()
    return value


def from_proto(proto: AttrValue) -> tuple[str, Any]:
    """(kind, native value) of an AttrValue. An empty list has kind `list(int)`: the signature knows better."""
    field = proto.WhichOneof("value")
    if field is None:
        raise ValueError("an attribute without a value")
    if field == "list":
        for kind, name in _SCALAR_FIELDS.items():
            values = getattr(proto.list, name)
            if len(values):
                return f"list({kind})", [_native(kind, v) for v in values]
        return "list(int)", []
    for kind, name in _SCALAR_FIELDS.items():
        if name == field:
            return kind, _native(kind, getattr(proto, name))
    raise ValueError(f"an attribute that holds a {field}")


def _native(kind: str, value: Any) -> Any:
    if kind == "type":
        return dtypes.as_dtype(int(value))
    if kind == "string":
        return as_text(value)
    if kind == "shape":
        return TensorShape(value)
    return value


def kind_of(value: Any) -> str:
    """The kind of a native value that no signature declares (`_class`, `_output_shapes`, …)."""
    if isinstance(value, (list, tuple)):
        return f"list({kind_of(value[0])})" if value else "list(int)"
    for kind, types in _KINDS:
        if isinstance(value, types):
            return kind
    raise TypeError(f"No attribute can hold a {type(value).__name__}: {value!r}")


_KINDS: list[tuple[str, Any]] = [
    ("bool", bool),
    ("int", int),
    ("float", float),
    ("string", (str, bytes)),
    ("type", dtypes.DType),
    ("shape", TensorShape),
    ("tensor", tensor_pb2.TensorProto),
    ("func", attr_value_pb2.NameAttrList),
]
