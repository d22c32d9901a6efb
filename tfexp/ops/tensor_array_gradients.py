"""Gradients of the ops of TensorArray: a read adds to the array of gradients, a write reads from it."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.tensor_array_ops import (
    tensor_array_concat_op,
    tensor_array_gather_op,
    tensor_array_read_op,
    tensor_array_scatter_op,
    tensor_array_split_op,
    tensor_array_write_op,
)


def _source(grad: Tensor) -> str:
    """Which call of tf.gradients `grad` belongs to: its name scope, up to the last part that starts with "gradients"."""
    parts = grad.name.split("/")
    found = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not found:
        raise ValueError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: {grad.name}. This means that a "
            "tf.gradients op with this op in its dependency path has a custom name that does not start with 'gradients'. "
            "Please make sure all calls to tf.gradients that have non-empty `name` arguments use names that start with "
            "'gradients'."
        )
    return "/".join(parts[: found[-1] + 1])


def _gradients_of(handle: Tensor, dtype: dtypes.DType, flow: Tensor, source: str) -> TensorArray:
    array = TensorArray(dtype, handle=handle, flow=flow, colocate_with_first_write_call=False)
    return array.grad(source=source, flow=flow)


def _after_write(op: Operation, flow: Tensor) -> tuple[TensorArray, Tensor]:
    """The gradients of what `op` wrote, once all that was read of it has given its gradients (which `flow` tells)."""
    source = _source(flow)
    flow_out = identity(op.outputs[0], name="flow_out")
    with control_dependencies([flow_out]):
        flow = identity(flow, name="write_barrier")
    return _gradients_of(op.inputs[0], op.attrs["T"], flow, source), flow


@tensor_array_read_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    handle, index, flow = op.inputs
    array = _gradients_of(handle, op.attrs["dtype"], flow, _source(grad))
    return [None, None, array.write(index, grad).flow]


@tensor_array_write_op.gradient
def _(op: Operation, flow: Tensor) -> list[Any]:
    array, flow = _after_write(op, flow)
    return [None, None, array.read(op.inputs[1]), flow]


@tensor_array_gather_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    handle, indices, flow = op.inputs
    array = _gradients_of(handle, op.attrs["dtype"], flow, _source(grad))
    return [None, None, array.scatter(indices, grad).flow]


@tensor_array_scatter_op.gradient
def _(op: Operation, flow: Tensor) -> list[Any]:
    array, flow = _after_write(op, flow)
    return [None, None, array.gather(op.inputs[1]), flow]


@tensor_array_concat_op.gradient
def _(op: Operation, grad: Tensor, _: Any) -> list[Any]:
    handle, flow = op.inputs
    array = _gradients_of(handle, op.attrs["dtype"], flow, _source(grad))
    return [None, array.split(grad, lengths=op.outputs[1]).flow]


@tensor_array_split_op.gradient
def _(op: Operation, flow: Tensor) -> list[Any]:
    array, flow = _after_write(op, flow)
    return [None, array.concat(), None, flow]
