"""`tf.contrib.framework`: shapes and types of tensors, checked as early as they are known. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape, size
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.reduce import reduce_all, reduce_sum


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """The tensor, with a check at run time where it is not known to have that shape: sizes, or a tensor of them.

    ValueError where it is known not to have it, and for sizes that are no integers.
    """
    tensor = convert_to_tensor(tensor)
    known = static_value(expected_shape) if isinstance(expected_shape, Tensor) else expected_shape
    if known is not None and not isinstance(known, TensorShape):
        kind = np.asarray(known).dtype
        if kind.kind not in "iu":
            raise ValueError(f"Invalid dtype {kind} for shape {known} expected of tensor {tensor.name}.")
        known = TensorShape(known)
    found = tensor.get_shape()
    if known is not None:
        if not found.is_compatible_with(known):
            raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {known}, got {found}.")
        if found.is_fully_defined() or not known.is_fully_defined():
            return tensor
    sizes = known.as_list() if known is not None else expected_shape
    with name_scope(f"{tensor.op.name}/assert_shape", values=[tensor]):
        wanted, actual = convert_to_tensor(sizes, name="expected_shape"), shape(tensor)
        same = cond(
            equal(rank(tensor), size(wanted)),
            lambda: reduce_all(equal(actual, cast(wanted, actual.dtype))),
            lambda: constant(False),
        )
        check = Assert(same, [f"Wrong shape for {tensor.name} [expected] [actual].", wanted, actual])
        checked = with_dependencies([check], tensor)
    if known is not None:
        checked.set_shape(known)
    return checked


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """`with_shape` of another tensor's shape."""
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        known = expected_tensor.get_shape()
        return with_shape(known if known.is_fully_defined() else shape(expected_tensor), tensor)


def assert_scalar_int(tensor: Any, name: str | None = None) -> Tensor:
    """The tensor. ValueError where it is not one integer."""
    with name_scope(name, "assert_scalar_int", [tensor]):
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
        if tensor.get_shape().ndims != 0:
            raise ValueError(f"Expected scalar shape for {tensor.name}, saw shape: {tensor.get_shape()}.")
        return tensor


def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Any:
    """The sum of all elements of all tensors. ValueError without any."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [reduce_sum(tensor, name=f"{tensor.op.name}/sum") for tensor in tensors]
        return sums[0] if len(sums) == 1 else add_n(sums, name=scope)
