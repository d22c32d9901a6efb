"""Ops without values and ops that decide what runs: NoOp, group, tuple, Switch, Merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.core.kernel import DEAD, Ref
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.control_flow import merge as merge_values
from tfexp.graph.control_flow import switch_ref_or_tensor
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, identity
from tfexp.ops.shape_rules import with_rank

# --- NoOp, group, tuple -----------------------------------------------------------------------------------------------

no_op_op = define_op("NoOp() -> ()")


@no_op_op.shape
def _() -> None:
    return None


@no_op_op.kernel("CPU", "XLA")
def _(ctx: Any) -> None:
    return None


no_op_op.not_differentiable()


def no_op(name: str | None = None) -> Operation:
    """A node that does nothing; useful for its control edges. Source: `tf.no_op`."""
    node: Operation = no_op_op(name=name)
    return node


control_trigger_op = define_op("ControlTrigger() -> ()")


@control_trigger_op.shape
def _() -> None:
    return None


@control_trigger_op.kernel("CPU", takes_dead=True)
def _(ctx: Any) -> None:
    return None


control_trigger_op.not_differentiable()


def _group_on_device(device: str, dependencies: Sequence[Operation], name: str | None = None) -> Operation:
    graph = get_default_graph()
    with graph.control_dependencies(dependencies):
        if not device:
            return no_op(name=name)
        with graph.device(device):
            return no_op(name=name)


def group(*inputs: Any, **kwargs: Any) -> Operation:
    """A node that runs after all `inputs` (ops, tensors, IndexedSlices; nested). Source: `tf.group`.

    With inputs on several devices, there is one node for each, and one after those. TypeError for inputs that are neither.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    with name_scope(name, "group_deps", inputs) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[str, list[Operation]] = {}
        for value in nest.flatten(inputs):
            element = value._as_graph_element() if hasattr(value, "_as_graph_element") else value
            if not hasattr(element, "device"):
                raise TypeError(
                    f"'inputs' should be zero or more (nested) Tensors. Received {value!r} with type {type(value)}"
                )
            op = element if isinstance(element, Operation) else element.op
            by_device.setdefault(element.device, []).append(op)
        if len(by_device) == 1:
            ((device, dependencies),) = by_device.items()
            return _group_on_device(device, dependencies, name=scope)
        graph = get_default_graph()
        nodes = []
        for device in sorted(by_device):
            nodes.append(_group_on_device(device, by_device[device]))
        with graph.control_dependencies(nodes):
            return no_op(name=scope)


def with_dependencies(dependencies: Sequence[Any], output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor`, once `dependencies` have run. Source: `control_flow_ops.with_dependencies`."""
    graph = get_default_graph()
    with (
        name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope,
        graph.colocate_with(output_tensor),
        graph.control_dependencies(dependencies),
    ):
        if isinstance(output_tensor, IndexedSlices):
            values = identity(output_tensor.values, name=scope)
            return IndexedSlices(values, output_tensor.indices, output_tensor.dense_shape)
        return identity(convert_to_tensor(output_tensor), name=scope)


def tuple(tensors: Sequence[Any], name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """`tensors` (or IndexedSlices, None), none of them there before all are, and after `control_inputs`. `tf.tuple`."""
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        gates = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for value in control_inputs or []:
            element = value._as_graph_element() if hasattr(value, "_as_graph_element") else value
            if not isinstance(element, (Tensor, Operation)):
                raise TypeError(f"'control_inputs' must only contain Operation or Tensor. Received: {type(value)}")
            gates.append(element if isinstance(element, Operation) else element.op)
        # One order whatever the order of `tensors`, so that equal graphs have equal nodes.
        gates = sorted(set(gates), key=lambda op: op._id)
        if not gates:
            raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
        gate = group(*gates)
        return [t if t is None or isinstance(t, Operation) else with_dependencies([gate], t) for t in tensors]


# --- Switch and Merge -------------------------------------------------------------------------------------------------

switch_op = define_op("Switch(data: T, pred: bool) -> (output_false: T, output_true: T) {T: type}")


@switch_op.shape
def _(data: InputShape, pred: InputShape) -> list[TensorShape]:
    with_rank(pred, 0)
    return [data, data]


@switch_op.kernel("CPU", view=True)
def _(ctx: Any, data: Array, pred: Array) -> list[Any]:
    return [DEAD, data] if pred else [data, DEAD]


@switch_op.gradient
def _(op: Operation, *grads: Tensor) -> list[Any]:
    context = op._get_control_flow_context()
    if context is None:
        raise LookupError(f"The gradient of Switch {op.name!r} is defined inside tf.cond only")
    return [merge_values(list(grads), name="cond_grad"), None]


ref_switch_op = define_op(
    "RefSwitch(data: ref T, pred: bool) -> (output_false: ref T, output_true: ref T) {T: type} #uninitialized_input",
    writes_refs=False,
)


@ref_switch_op.shape
def _(data: InputShape, pred: InputShape) -> list[TensorShape]:
    with_rank(pred, 0)
    return [data, data]


@ref_switch_op.kernel("CPU", view=True)
def _(ctx: Any, data: Ref, pred: Array) -> list[Any]:
    return [DEAD, data] if pred else [data, DEAD]


@ref_switch_op.gradient
def _(op: Operation, *grads: Tensor) -> list[Any]:
    return [merge_values(list(grads), name="cond_grad"), None]


merge_op = define_op("Merge(inputs: N * T) -> (output: T, value_index: int32) {T: type; N: int >= 1}")


def _merged_shape(inputs: list[InputShape]) -> list[TensorShape]:
    merged = TensorShape(inputs[0])
    for shape in inputs[1:]:
        merged = merged.most_specific_compatible_shape(shape)
    return [merged, TensorShape([])]


merge_op.shape(_merged_shape)


def _alive(inputs: list[Any]) -> list[Any]:
    for i, value in enumerate(inputs):
        if value is not DEAD:
            return [value, np.array(i, np.int32)]
    return [DEAD, DEAD]


@merge_op.kernel("CPU", view=True, takes_dead=True)
def _(ctx: Any, inputs: list[Array]) -> list[Any]:
    return _alive(inputs)


def _merge_gradient(op: Operation, grad: Tensor, _: Any) -> list[Any]:
    source = op.inputs[0].op
    context = source._get_control_flow_context() or op.inputs[1].op._get_control_flow_context()
    if context is None:
        raise LookupError(f"The gradient of Merge {op.name!r} is defined inside tf.cond only")
    return list(switch_ref_or_tensor(grad, context.pred, name="cond_grad"))


merge_op.gradient(_merge_gradient)

ref_merge_op = define_op(
    "RefMerge(inputs: ref N * T) -> (output: ref T, value_index: int32) {T: type; N: int >= 1}", writes_refs=False
)
ref_merge_op.shape(_merged_shape)
ref_merge_op.gradient(_merge_gradient)


@ref_merge_op.kernel("CPU", view=True, takes_dead=True)
def _(ctx: Any, inputs: list[Ref]) -> list[Any]:
    return _alive(inputs)
