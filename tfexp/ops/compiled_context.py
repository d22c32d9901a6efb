"""What the nodes of a computation belong to that is compiled as one: clusters of XLA and computations for TPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfexp.graph.control_flow import ControlFlowContext
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity


class CompiledContext(ControlFlowContext):
    """A computation of that name; `kind` is what it is called where another one is refused within it.

    Its nodes bear its name as the attribute `mark`. Those that need nothing of it wait for `pivot`. What they wait for
    outside is waited for by way of an Identity within, or not at all where it has no output.
    """

    mark: ClassVar[str]
    kind: ClassVar[str]

    def __init__(self, name: str, pivot: Operation):
        super().__init__()
        self._name, self._pivot = name, pivot

    def IsXLAContext(self) -> bool:
        return True

    def add_op(self, op: Operation) -> None:
        if self.mark in op._attrs:
            raise ValueError(f"{self.kind} cannot be nested, (operator name: {op.name})")
        op._set_attr(self.mark, self._name)
        outside = [waited for waited in op.control_inputs if not self.holds(waited)]
        op._remove_control_inputs(outside)
        if not op._inputs and not op._control_inputs:
            op._add_control_input(self._pivot)
        for number, tensor in enumerate(op._inputs):
            brought = self.add_value(tensor)
            if brought is not tensor:
                op._update_input(number, brought)
        self._mark_seen(op.outputs)
        with control_dependencies(None), self.entered():
            op._add_control_inputs([identity(waited.outputs[0]).op for waited in outside if waited.outputs])
        if self._outer_context is not None:
            self._outer_context.add_inner_op(op)

    def _add_own_op(self, op: Operation) -> None:
        self.add_op(op)

    def add_inner_op(self, op: Operation) -> None:
        self.add_op(op)

    def add_value(self, tensor: Tensor) -> Tensor:
        if self._outer_context is None or tensor.name in self._values:
            return tensor
        return self._outer_context.add_value(tensor)


def is_flat(made: Any) -> bool:
    """Whether a computation returned nothing, one thing, or a list of things that are no structures."""
    if isinstance(made, (list, tuple)):
        return not any(isinstance(one, (list, tuple, dict)) for one in made)
    return not isinstance(made, dict)


def converted(value: Any, function: str, convert: Callable[[Any], Tensor] = convert_to_tensor) -> Tensor:
    """What a computation returned, as a tensor; ValueError for what is none: `function` is what it calls the computation."""
    try:
        return convert(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f'{function} return values must all either be Operations or convertible to Tensors. Got error: "{error}"'
        ) from error


def tensors_and_operations(
    made: Any, function: str, in_order: str, convert: Callable[[Any], Tensor] = convert_to_tensor
) -> tuple[list[Tensor], list[Operation]]:
    """What a computation returned flat, with a node that runs where it has nothing else to run.

    ValueError for what is no tensor: `function` is what it says the computation is; or for tensors that come after
    operations: `in_order` is what it says.
    """
    listed = [] if made is None else list(made) if isinstance(made, (list, tuple)) else [made]
    always = no_op()
    values = [one if isinstance(one, Operation) else converted(one, function, convert) for one in listed]
    tensors = [one for one in values if isinstance(one, Tensor)]
    operations = [one for one in values if isinstance(one, Operation)]
    if values != [*tensors, *operations]:
        raise ValueError(in_order)
    return tensors, [*operations, always]
