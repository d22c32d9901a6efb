"""Python structures as messages: what a SavedModel says of a function's arguments and results. Source: struct.proto."""

from __future__ import annotations

import inspect
from collections import namedtuple
from typing import Any

from tensorboard.compat.proto.saved_object_graph_pb2 import FunctionSpec
from tensorboard.compat.proto.struct_pb2 import StructuredValue

from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.type_spec import TensorSpec


def encode(value: Any) -> StructuredValue:
    """NotImplementedError for what the message has no place for."""
    proto = StructuredValue()
    if value is None:
        proto.none_value.SetInParent()
    elif isinstance(value, bool):
        proto.bool_value = value
    elif isinstance(value, int):
        proto.int64_value = value
    elif isinstance(value, float):
        proto.float64_value = value
    elif isinstance(value, str):
        proto.string_value = value
    elif isinstance(value, TensorSpec):
        spec = proto.tensor_spec_value
        spec.name, spec.dtype = value.name or "", value.dtype.as_datatype_enum
        spec.shape.CopyFrom(value.shape.as_proto())
    elif isinstance(value, TensorShape):
        proto.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, DType):
        proto.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        proto.named_tuple_value.name = type(value).__name__
        for field, part in zip(value._fields, value, strict=True):
            proto.named_tuple_value.values.add(key=field, value=encode(part))
    elif isinstance(value, tuple):
        proto.tuple_value.SetInParent()
        proto.tuple_value.values.extend(map(encode, value))
    elif isinstance(value, list):
        proto.list_value.SetInParent()
        proto.list_value.values.extend(map(encode, value))
    elif isinstance(value, dict):
        proto.dict_value.SetInParent()
        for key, part in value.items():
            proto.dict_value.fields[key].CopyFrom(encode(part))
    else:
        raise NotImplementedError(f"A SavedModel has no form for {value!r}, of {type(value)}, in a function's signature")
    return proto


def decode(proto: StructuredValue) -> Any:
    """NotImplementedError for values that are made of several tensors."""
    kind = proto.WhichOneof("kind")
    if kind in (None, "none_value"):
        return None
    if kind in ("bool_value", "int64_value", "float64_value", "string_value"):
        return getattr(proto, kind)
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        spec = getattr(proto, kind)
        return TensorSpec(as_shape(spec.shape), as_dtype(spec.dtype), spec.name or None)
    if kind == "tensor_shape_value":
        return as_shape(proto.tensor_shape_value)
    if kind == "tensor_dtype_value":
        return as_dtype(proto.tensor_dtype_value)
    if kind == "list_value":
        return [decode(part) for part in proto.list_value.values]
    if kind == "tuple_value":
        return tuple([decode(part) for part in proto.tuple_value.values])
    if kind == "dict_value":
        return {key: decode(part) for key, part in sorted(proto.dict_value.fields.items())}
    if kind == "named_tuple_value":
        pairs = proto.named_tuple_value.values
        return namedtuple(proto.named_tuple_value.name, [pair.key for pair in pairs])(*[decode(p.value) for p in pairs])
    raise NotImplementedError(f"A function of the SavedModel takes or gives a {kind}, which cannot be read: {proto}")


# --- the parameters of a function -----------------------------------------------------------------------------------------

FullArgSpec = namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations")


def encode_parameters(signature: inspect.Signature, input_signature: Any) -> FunctionSpec:
    """Parameters as `inspect.getfullargspec` says them, and the `input_signature` of a `tf.function`."""
    by_kind: dict[Any, list[inspect.Parameter]] = {}
    for parameter in signature.parameters.values():
        by_kind.setdefault(parameter.kind, []).append(parameter)
    kinds = inspect.Parameter
    positional = [*by_kind.get(kinds.POSITIONAL_ONLY, []), *by_kind.get(kinds.POSITIONAL_OR_KEYWORD, [])]
    named = by_kind.get(kinds.KEYWORD_ONLY, [])
    defaults = tuple([p.default for p in positional if p.default is not p.empty])
    spec = FullArgSpec(
        args=[p.name for p in positional],
        varargs=next((p.name for p in by_kind.get(kinds.VAR_POSITIONAL, [])), None),
        varkw=next((p.name for p in by_kind.get(kinds.VAR_KEYWORD, [])), None),
        defaults=defaults or None,
        kwonlyargs=[p.name for p in named],
        kwonlydefaults={p.name: p.default for p in named if p.default is not p.empty} or None,
        annotations={},
    )
    return FunctionSpec(fullargspec=encode(spec), input_signature=encode(input_signature))


def decode_parameters(proto: FunctionSpec) -> tuple[inspect.Signature, Any]:
    """(parameters, input signature); a method is without its object."""
    spec = decode(proto.fullargspec)
    kinds = inspect.Parameter
    names = spec.args[1:] if proto.is_method else spec.args
    defaults = list(spec.defaults or ())[-len(names) :] if names else []
    required = len(names) - len(defaults)
    found = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=kinds.empty if i < required else defaults[i - required])
        for i, name in enumerate(names)
    ]
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    with_defaults = spec.kwonlydefaults or {}
    found += [kinds(name, kinds.KEYWORD_ONLY, default=with_defaults.get(name, kinds.empty)) for name in spec.kwonlyargs]
    if spec.varkw:
        found.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    input_signature = decode(proto.input_signature)
    return inspect.Signature(found), input_signature if input_signature is None else tuple(input_signature)
