"""`tensorflow.python.framework.subscribe`: what is to happen whenever a tensor has been computed. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.graph.control_flow import in_context
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.variable_base import VariableV2

SideEffect = Callable[[Tensor], Any]


def subscribe(tensors: Any, side_effects: SideEffect | Sequence[SideEffect]) -> Any:
    """The tensors, in their structure, each behind what `side_effects`, functions that make nodes of it, are to do.

    What took a tensor before takes it from there; handles of resources stay as they are. TypeError for what is neither a
    tensor, a variable nor a list, tuple or dict of these.
    """
    wanted: list[SideEffect] = [side_effects] if callable(side_effects) else list(side_effects)
    if isinstance(tensors, VariableV2):
        tensors = convert_to_tensor(tensors)
    if isinstance(tensors, Tensor):
        if tensors.dtype is dtypes.resource:
            return tensors
        with tensors.graph.as_default(), in_context(tensors.op._get_control_flow_context()):
            return _subscribe(tensors, wanted)
    if isinstance(tensors, dict):
        return {key: subscribe(value, wanted) for key, value in tensors.items()}
    if isinstance(tensors, tuple) and hasattr(tensors, "_fields"):
        return type(tensors)(*(subscribe(value, wanted) for value in tensors))
    if isinstance(tensors, (list, tuple)):
        return type(tensors)(subscribe(value, wanted) for value in tensors)
    raise TypeError(
        f"subscribe takes tensors, and lists, tuples and dicts of them; {tensors!r} has invalid type {type(tensors)}"
    )


def _subscribe(tensor: Tensor, side_effects: Sequence[SideEffect]) -> Tensor:
    for known in (tensor.op, *tensor.consumers()):
        if _is_subscription(known):
            with _scope(known.inputs[0]):
                known._add_control_inputs(_nodes(known.inputs[0], side_effects))
            return known.outputs[0]
    takers = [(op, i) for op in dict.fromkeys(tensor.consumers()) for i, one in enumerate(op.inputs) if one is tensor]
    waiting = list(tensor.op._control_outputs)
    with _scope(tensor), control_dependencies(_nodes(tensor, side_effects)):
        subscribed: Tensor = identity(tensor)
    for op, index in takers:
        op._update_input(index, subscribed)
    for op in waiting:
        op._remove_control_inputs([tensor.op])
        op._add_control_input(subscribed.op)
    return subscribed


@contextmanager
def _scope(tensor: Tensor) -> Iterator[None]:
    with name_scope(f"{tensor.op.name}/subscription/"), tensor.graph.device(tensor.op.device):
        yield


def _is_subscription(op: Operation) -> bool:
    return op.type == "Identity" and op.name.startswith(f"{op.inputs[0].op.name}/subscription/Identity")


def _is_subscribed_identity(tensor: Tensor) -> bool:
    return _is_subscription(tensor.op)


def _nodes(tensor: Tensor, side_effects: Sequence[SideEffect]) -> list[Operation]:
    made = [one for side_effect in side_effects for one in nest.flatten(side_effect(tensor))]
    return [getattr(one, "op", one) for one in made]
