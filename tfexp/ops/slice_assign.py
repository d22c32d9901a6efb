"""Assignment to a slice of a variable: `variable[1:, 0].assign(value)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError, UnimplementedError
from tfexp.core.kernel import Ref
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_slice import strided_index
from tfexp.ops.resource_state import variable_op
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.slicing import is_mask, slice_of, strided_slice_of
from tfexp.ops.state import buffer_of

strided_slice_assign_op = define_op(
    "StridedSliceAssign(ref: ref T, begin: Index, end: Index, strides: Index, value: T) -> (output_ref: ref T) "
    "{T: type; Index: type in [int32,int64]; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; "
    "new_axis_mask: int = 0; shrink_axis_mask: int = 0}"
)


@strided_slice_assign_op.shape
def _(ref: TensorShape, begin: TensorShape, end: TensorShape, strides: TensorShape, value: TensorShape) -> TensorShape:
    return ref


resource_strided_slice_assign_op = variable_op(
    "ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: T) -> () {T: type; "
    "Index: type in [int32,int64]; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; "
    "shrink_axis_mask: int = 0} #stateful"
)


@resource_strided_slice_assign_op.shape
def _(ref: TensorShape, begin: TensorShape, end: TensorShape, strides: TensorShape, value: TensorShape) -> None:
    with_rank(ref, 0)


@resource_strided_slice_assign_op.kernel("CPU")
def _(ctx: Any, ref: Ref, begin: Any, end: Any, strides: Any, value: Any, **attrs: Any) -> None:
    _assign_part(ref, begin, end, strides, value, attrs)


@strided_slice_assign_op.kernel("CPU")
def _(ctx: Any, ref: Ref, begin: Any, end: Any, strides: Any, value: Any, **attrs: Any) -> Ref:
    return _assign_part(ref, begin, end, strides, value, attrs)


def _assign_part(ref: Ref, begin: Any, end: Any, strides: Any, value: Any, attrs: dict[str, Any]) -> Ref:
    """The result is the whole variable. UnimplementedError for a value of another shape than the slice's."""
    buffer = buffer_of(ref)
    index = strided_index(begin.tolist(), end.tolist(), strides.tolist(), attrs)
    try:
        part = np.shape(buffer[index])
    except IndexError as error:
        raise InvalidArgumentError(None, None, f"{error} (variable {ref.name})") from None
    if 0 in part:  # then a value of any shape will do
        return ref
    if np.shape(value) != part:
        raise UnimplementedError(
            None,
            None,
            f"sliced l-value shape {dims_text(part)} does not match r-value shape {dims_text(np.shape(value))}. Automatic "
            f"broadcasting not yet implemented. (variable {ref.name})",
        )
    buffer[index] = value.copy() if np.may_share_memory(value, buffer) else value
    return ref


def assignable_slice(variable: Any, key: Any) -> Tensor:
    """`variable.value()[key]`, whose `assign(val, name)` changes that part of the variable. `tf.Variable.__getitem__`.

    A boolean mask selects, but cannot be assigned to.
    """
    if is_mask(key):
        return slice_of(variable.value(), key)
    part, bounds, masks = strided_slice_of(variable.value(), key)

    def assign(val: Any, name: str | None = None) -> Any:
        name = name or f"{part._op.name}/_assign"
        if hasattr(variable, "handle"):
            value = convert_to_tensor(val, dtype=variable.dtype)
            op = resource_strided_slice_assign_op(variable.handle, *bounds, value, name=name, **masks)
            return variable._lazy_read(op)
        return strided_slice_assign_op(variable._ref(), *bounds, val, name=name, **masks)

    part.assign = assign  # type: ignore[attr-defined]
    return part
