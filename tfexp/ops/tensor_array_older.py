"""The ops of TensorArray in GraphDefs from before version 26: handles are strings (`…V2`), before version 16 references.

They do what the present ops of their names do; no gradients go through them, as in TensorFlow. `TensorArrayPack` and
`TensorArrayUnpack` are from before there was a choice of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import Kernel
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.handle_ops import behind_strings, string_handle
from tfexp.ops.shape_rules import unknown_shapes
from tfexp.ops.tensor_array_ops import (
    Elements,
    tensor_array_close_op,
    tensor_array_concat_op,
    tensor_array_gather_op,
    tensor_array_op,
    tensor_array_read_op,
    tensor_array_scatter_op,
    tensor_array_size_op,
    tensor_array_split_op,
    tensor_array_write_op,
)

# --- what gives a handle ----------------------------------------------------------------------------------------------

array_op = unknown_shapes(
    define_op(
        "TensorArray(size: int32) -> (handle: ref string) {dtype: type; dynamic_size: bool = false; "
        "clear_after_read: bool = true; tensor_array_name: string = ''; element_shape: shape = unknown} #stateful"
    )
)
array_v2_op = define_op(
    "TensorArrayV2(size: int32) -> (handle: string) {dtype: type; element_shape: shape = unknown; "
    "dynamic_size: bool = false; clear_after_read: bool = true; tensor_array_name: string = ''} #stateful",
    writes_refs=False,
)
grad_op = unknown_shapes(
    define_op("TensorArrayGrad(handle: string, flow_in: float) -> (grad_handle: ref string) {source: string} #stateful")
)
grad_v2_op = define_op(
    "TensorArrayGradV2(handle: string, flow_in: float) -> (grad_handle: string) {source: string} #stateful",
    writes_refs=False,
)


@array_v2_op.shape
def _(size: InputShape) -> TensorShape:
    return TensorShape([2])


@grad_v2_op.shape
def _(handle: InputShape, flow_in: InputShape) -> TensorShape:
    return TensorShape([2])


def _make(ctx: Any, size: Array, **attrs: Any) -> Array:
    elements, _ = tensor_array_op.kernels["CPU"].function(ctx, size, identical_element_shapes=False, **attrs)
    return string_handle("_tensor_arrays", elements)


def _make_gradient(ctx: Any, handle: Elements, flow_in: Array, *, source: str) -> Array:
    return string_handle("_tensor_array_grads", handle.gradient(source))


for _op in (array_op, array_v2_op):
    _op.kernels["CPU"] = Kernel(_make)
    _op.not_differentiable()
for _op in (grad_op, grad_v2_op):
    _op.kernels["CPU"] = behind_strings(Kernel(_make_gradient))
    _op.not_differentiable()

# --- what takes one ---------------------------------------------------------------------------------------------------


def _define_older(present: Op) -> Sequence[Op]:
    """The op as it was before version 16, and before version 26."""
    signature = present.signature
    first = define_op(
        signature.replace("V3(handle: resource", "(handle: ref string").removesuffix(" #stateful"), writes_refs=False
    )
    second = define_op(signature.replace("V3(handle: resource", "V2(handle: string"), writes_refs=False)
    for op in (first, second):
        op.kernels["CPU"] = behind_strings(present.kernels["CPU"])
    unknown_shapes(first)
    second.shape_rule = present.shape_rule
    return first, second


for _present in (tensor_array_write_op, tensor_array_read_op, tensor_array_scatter_op, tensor_array_split_op):
    _define_older(_present)
for _present in (tensor_array_size_op, tensor_array_close_op):
    for _op in _define_older(_present):
        _op.not_differentiable()
_, gather_v2_op = _define_older(tensor_array_gather_op)
_, concat_v2_op = _define_older(tensor_array_concat_op)


@gather_v2_op.shape
def _(handle: InputShape, indices: InputShape, flow_in: InputShape) -> TensorShape:
    return TensorShape(None)


@concat_v2_op.shape
def _(handle: InputShape, flow_in: InputShape) -> list[TensorShape]:
    return [TensorShape(None), TensorShape([None])]


# --- all elements -----------------------------------------------------------------------------------------------------

pack_op = define_op(
    "TensorArrayPack(handle: ref string, flow_in: float) -> (value: dtype) {dtype: type; element_shape: shape = unknown}",
    writes_refs=False,
)
unpack_op = define_op(
    "TensorArrayUnpack(handle: ref string, value: T, flow_in: float) -> (flow_out: float) {T: type}", writes_refs=False
)


@pack_op.kernel("CPU")
def _(ctx: Any, handle: Elements, flow_in: Array, *, element_shape: TensorShape) -> Array:
    every = np.arange(len(handle.places))
    packed: Array = tensor_array_gather_op.kernels["CPU"].function(ctx, handle, every, flow_in, element_shape=element_shape)
    return packed


@unpack_op.kernel("CPU")
def _(ctx: Any, handle: Elements, value: Array, flow_in: Array) -> Any:
    if value.ndim == 0:
        raise InvalidArgumentError(None, None, "Input value for unpack must be at least a vector but received shape: []")
    count = len(value)
    if handle.dynamic_size:
        handle.grow(count)
    if count != len(handle.places):
        raise InvalidArgumentError(
            None, None, f"Input value must have first dimension equal to the array size ({count} vs. {len(handle.places)})"
        )
    return tensor_array_scatter_op.kernels["CPU"].function(ctx, handle, np.arange(count), value, flow_in)


for _op in (pack_op, unpack_op):
    unknown_shapes(_op).kernels["CPU"] = behind_strings(_op.kernels["CPU"])
