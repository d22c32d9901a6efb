"""Slots: variables that an optimizer keeps beside another (momenta, moments), in its shape and place. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.graph.scopes import colocate_with
from tfexp.graph.tensor import Tensor
from tfexp.ops import array
from tfexp.ops.array_fill import zeros
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.resource_variables import is_resource_variable
from tfexp.ops.variable_base import Variable, node_name
from tfexp.ops.variable_scope import get_variable, get_variable_scope, variable_scope


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A slot `<primary>/<name>` that starts as the tensor `val`."""
    validate_shape = val.get_shape().is_fully_defined()
    with variable_scope(None, node_name(primary) + "/" + name):
        if not colocate_with_primary:
            return _slot_variable(primary, val, "", validate_shape, None, None)
        with colocate_with(primary):
            return _slot_variable(primary, val, "", validate_shape, None, None)


def create_slot_with_initializer(
    primary: Any,
    initializer: Callable[..., Any],
    shape: TensorShape,
    dtype: Any,
    name: str,
    colocate_with_primary: bool = True,
) -> Any:
    """A slot that starts as `initializer(shape)`."""
    validate_shape = shape.is_fully_defined()
    with variable_scope(None, node_name(primary) + "/" + name):
        if not colocate_with_primary:
            return _slot_variable(primary, initializer, "", validate_shape, shape, dtype)
        with colocate_with(primary):
            return _slot_variable(primary, initializer, "", validate_shape, shape, dtype)


def create_zeros_slot(primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True) -> Any:
    """A slot of zeros in the shape of `primary`, also when that is only known at run time."""
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, zeros_initializer(), shape, dtype, name, colocate_with_primary)
    source = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(array.shape(source), dtype=dtype), name, colocate_with_primary)


def _kind_of(primary: Any) -> bool | None:
    """Whether a slot is behind a handle: as the variable is beside which it stands; None for what is no variable."""
    return is_resource_variable(primary) if isinstance(primary, Variable) else None


def _slot_variable(primary: Any, val: Tensor | Any, scope: str, validate_shape: bool, shape: Any, dtype: Any) -> Any:
    surrounding = get_variable_scope()
    partitioner = surrounding.partitioner
    surrounding.set_partitioner(None)
    try:
        slot = get_variable(
            scope,
            initializer=val,
            trainable=False,
            use_resource=_kind_of(primary),
            shape=shape,
            dtype=dtype,
            validate_shape=validate_shape,
        )
    finally:
        surrounding.set_partitioner(partitioner)
    info = getattr(primary, "_save_slice_info", None)
    if info is not None:
        # The slot of one part of a partitioned variable is a part itself, of the whole slot.
        own_name = slot.name[len(node_name(primary)) + 1 : -len(":0")]
        slot._set_save_slice_info(
            Variable.SaveSliceInfo(
                f"{info.full_name}/{own_name}", list(info.full_shape), list(info.var_offset), list(info.var_shape)
            )
        )
    return slot
