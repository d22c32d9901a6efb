"""The spec of a value of any kind. Source: `tensorflow.python.framework.type_spec`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensorSpec, SparseTensorValue
from tfexp.graph.type_spec import TensorSpec, TypeSpec

# What has no `_type_spec` of its own: (class, function, whether it is for subclasses, too), by latest registration first.
_CONVERTERS: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec], allow_subclass: bool = False
) -> None:
    """`converter_fn` gives the specs of values of that type."""
    _CONVERTERS.insert(0, (type_object, converter_fn, allow_subclass))


register_type_spec_from_value_converter(SparseTensorValue, SparseTensorSpec.from_value)


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a value: its own, a registered converter's, or that of the tensor which it becomes. Else TypeError."""
    own = getattr(value, "_type_spec", None)
    if isinstance(own, TypeSpec):
        return own
    for kind, converter, allow_subclass in _CONVERTERS:
        if type(value) is kind or (allow_subclass and isinstance(value, kind)):
            return converter(value)
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}") from error
    return TensorSpec(tensor.shape, tensor.dtype.base_dtype)
