"""What runs after what: `tf.no_op`, `tf.group`, `tf.tuple` and `with_dependencies`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.op import get_op
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly, get_default_graph, name_scope
from tfexp.graph.tensor import Tensor


def no_op(name: str | None = None) -> Any:
    """A node that does nothing; useful for its control edges. Source: `tf.no_op`."""
    return None if executing_eagerly() else get_op("NoOp")(name=name)


def _group_on_device(device: str, dependencies: Sequence[Operation], name: str | None = None) -> Any:
    graph = get_default_graph()
    with graph.control_dependencies(dependencies):
        if not device:
            return no_op(name=name)
        with graph.device(device):
            return no_op(name=name)


def group(*inputs: Any, **kwargs: Any) -> Any:
    """A node that runs after all `inputs` (ops, tensors, IndexedSlices; nested). Source: `tf.group`.

    None in eager execution, where everything has run.

    With inputs on several devices, there is one node for each, and one after those. TypeError for inputs that are neither.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    if executing_eagerly():
        return None
    with name_scope(name, "group_deps", inputs) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[str, list[Operation]] = {}
        for value in nest.flatten(inputs):
            element = value._as_graph_element() if hasattr(value, "_as_graph_element") else value
            if not hasattr(element, "device"):
                raise TypeError(f"Expected tf.group() expected Tensor arguments not '{value}' with type '{type(value)}'")
            op = getattr(value, "op", None)  # of a variable that was assigned to, the assignment
            if not isinstance(op, Operation):
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
    """`output_tensor`, once `dependencies` have run. Source: `control_flow_ops.with_dependencies`.

    Itself in eager execution, where everything has run.
    """
    if executing_eagerly():
        return output_tensor
    graph = get_default_graph()
    with (
        name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope,
        # What is no tensor yet becomes one twice: the one to be near, and the one that waits.
        graph.colocate_with(output_tensor if hasattr(output_tensor, "op") else convert_to_tensor(output_tensor)),
        graph.control_dependencies(dependencies),
    ):
        if isinstance(output_tensor, IndexedSlices):
            values = get_op("Identity")(output_tensor.values, name=scope)
            return IndexedSlices(values, output_tensor.indices, output_tensor.dense_shape)
        return get_op("Identity")(convert_to_tensor(output_tensor), name=scope)


def tuple(tensors: Sequence[Any], name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """`tensors` (or IndexedSlices, None), none of them there before all are, and after `control_inputs`. `tf.tuple`."""
    if executing_eagerly():
        return list(tensors)
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        tensors = [t if t is None or isinstance(t, Operation) or hasattr(t, "op") else convert_to_tensor(t) for t in tensors]
        gates = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for value in control_inputs or []:
            element = value._as_graph_element() if hasattr(value, "_as_graph_element") else value
            if not isinstance(element, (Tensor, Operation)):
                raise TypeError(f"Control input must be Operation or Tensor: {value}")
            gates.append(element if isinstance(element, Operation) else element.op)
        # One order whatever the order of `tensors`, so that equal graphs have equal nodes.
        gates = sorted(set(gates), key=lambda op: op._id)
        if not gates:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*gates)
        return [None if t is None else _behind(gate, t) for t in tensors]


def _behind(gate: Operation, value: Any) -> Any:
    """`value`, or a node that runs after that operation, once `gate` has run."""
    if not isinstance(value, Operation):
        return with_dependencies([gate], value)
    with get_default_graph().control_dependencies([gate]):
        return group(value)
