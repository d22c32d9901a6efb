"""Initial values that depend on other variables.

`tf.Variable(v * 2)` must work when one `run` initializes `v` and the new variable in no particular order. So the part of
the initial value's graph that reads variables is built a second time (nodes named `<original>_<new variable>`), with each
variable replaced by its `initialized_value()`. The graph is TensorFlow's, node for node, and so are its limits: where that
value is itself made from a third variable, the third must have been initialized before. Source: TF 1.15's reference
variables.
"""

from __future__ import annotations

from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

_VARIABLES = ("Variable", "VariableV2")
# These say something about the variable itself, and may see it without a value.
_TAKEN_AS_THEY_ARE = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp")


def without_uninitialized_reads(initial_value: Tensor, name: str) -> Tensor:
    """`initial_value`, or a copy of its graph that reads no uninitialized variable, for the new variable `name`."""
    if _has_cycle(initial_value.op):
        return initial_value  # a loop's body has no order in which it could be copied
    copies = _Copies(name)
    return copies.of(initial_value)


def _has_cycle(start: Operation) -> bool:
    on_path: set[Operation] = set()
    finished: set[Operation] = set()
    pending = [(start, False)]
    while pending:
        op, leaving = pending.pop()
        if leaving:
            on_path.discard(op)
            finished.add(op)
        elif op in on_path:
            return True
        elif op not in finished:
            on_path.add(op)
            pending.append((op, True))
            pending.extend((before, False) for before in _before(op) if before not in finished)
    return False


def _before(op: Operation) -> list[Operation]:
    return [*op._control_inputs, *(t.op for t in op._inputs)]


class _Copies:
    """The copy (perhaps the original) of each node before an initial value."""

    def __init__(self, name: str):
        self._name = name
        self._copies: dict[Operation, Operation] = {}

    def of(self, tensor: Tensor) -> Tensor:
        pending = [tensor.op]
        while pending:
            op = pending[-1]
            if op in self._copies:
                pending.pop()
                continue
            missing = [] if op.type in (*_VARIABLES, *_TAKEN_AS_THEY_ARE) else self._missing(op)
            if missing:
                # One at a time, so that copies are made in the order of the inputs.
                pending.append(missing[0])
                continue
            self._copies[op] = self._copy(op)
            pending.pop()
        return self._found(tensor)

    def _missing(self, op: Operation) -> list[Operation]:
        return [t.op for t in op._inputs if t.op not in self._copies]

    def _found(self, tensor: Tensor) -> Tensor:
        copy = self._copies[tensor.op]
        return copy.outputs[tensor.value_index] if copy is not tensor.op else tensor

    def _copy(self, op: Operation) -> Operation:
        if op.type in _TAKEN_AS_THEY_ARE:
            return op
        if op.type in _VARIABLES:
            return _initialized_value_of(op) or op
        inputs = [self._found(t) for t in op._inputs]
        if all(new is old for new, old in zip(inputs, op._inputs, strict=True)):
            return op
        # What has been read through a reference is a plain value now.
        op_type = "Switch" if op.type == "RefSwitch" else op.type
        dtypes = [t.dtype.base_dtype for t in op.outputs] if op_type != op.type else [t.dtype for t in op.outputs]
        copied: Operation = op.graph.add_node(
            op_type, inputs, dict(op.attrs), name=f"{op.name}_{self._name}/".replace(":", "_"), output_dtypes=dtypes
        )
        return copied


def _initialized_value_of(op: Operation) -> Operation | None:
    """The node that gives a known variable's value even before it is initialized; None for one in no collection."""
    name = f"{op.name}:0"
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if _name_of(variable) == name:
                value: Tensor = variable.initialized_value()
                return value.op
    return None


def _name_of(variable: Any) -> str | None:
    return getattr(variable, "name", None)
