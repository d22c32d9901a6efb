"""Plain operations among layers: what a program computes from layers' outputs without a layer becomes one of its own.

Source: `TensorFlowOpLayer`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import json_format
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tfexp.core import nest
from tfexp.core.op import get_op
from tfexp.graph.attrs import from_proto
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.importer import input_types
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.dependencies import is_symbolic
from tfexp.keras.engine.node import Node, alone, history_of, may_have_history

PREFIX = "tf_op_layer_"


class TensorFlowOpLayer(Layer):
    """One operation. node_def: its NodeDef, as a message, JSON text or dict; constants: {number of an input: its value}."""

    def __init__(
        self, node_def: Any, name: str, constants: dict[Any, Any] | None = None, trainable: bool = True, dtype: Any = None
    ):
        super().__init__(name=PREFIX + name.removeprefix(PREFIX), trainable=trainable, dtype=dtype)
        if isinstance(node_def, NodeDef):
            self.node_def = node_def
        elif isinstance(node_def, (str, bytes)):
            self.node_def = json_format.Parse(node_def, NodeDef())
        else:
            self.node_def = json_format.ParseDict(node_def, NodeDef())
        self.constants = {int(index): value for index, value in (constants or {}).items()}
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        attrs = {key: from_proto(value)[1] for key, value in self.node_def.attr.items()}
        given, every = iter(nest.flatten(inputs)), []
        for index, (dtype, _) in enumerate(input_types(get_op(self.node_def.op), attrs)):
            constant = self.constants.get(index)
            every.append(next(given) if constant is None else convert_to_tensor(constant, dtype=dtype))
        node = get_default_graph().add_node(self.node_def.op, every, attrs, name=self.node_def.name)
        return alone(list(node.outputs))

    def get_config(self) -> dict[str, Any]:
        constants = {
            index: np.asarray(backend.get_value(value) if isinstance(value, Tensor) else value).tolist()
            for index, value in self.constants.items()
        }
        return {
            "name": self.name.removeprefix(PREFIX),
            "trainable": self.trainable,
            "dtype": self.dtype,
            "node_def": json_format.MessageToDict(self.node_def),
            "constants": constants,
        }


def give_history(tensors: Any) -> list[TensorFlowOpLayer]:
    """Make layers of the operations between layers' outputs and these tensors, which then are layers' outputs, too."""
    made = []
    for tensor in nest.flatten(tensors):
        if (
            is_symbolic(tensor)
            and history_of(tensor) is None
            and may_have_history(tensor._graph)
            and comes_from_layer(tensor)
        ):
            made += [_make_layer(op) for op in _in_order(tensor.op)]
    return made


def comes_from_layer(tensor: Tensor) -> bool:
    """Whether a layer's output goes into it. What was found not to stays so: layers' outputs come before what uses them."""
    seen, stack = {tensor}, [tensor]
    while stack:
        one = stack.pop()
        if history_of(one) is not None:
            return True
        if not getattr(one, "_without_keras_history", False):
            befores = set(one.op.inputs) - seen
            seen |= befores
            stack.extend(befores)
    for one in seen:
        one._without_keras_history = True  # type: ignore[attr-defined]
    return False


def _in_order(last: Operation) -> list[Operation]:
    """The operations from layers' outputs to `last`, each after those that it reads from."""
    found: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(last, False)]
    open_: set[Operation] = set()
    while stack:
        op, done = stack.pop()
        if done:
            found[op] = None
        elif op not in open_:
            open_.add(op)
            stack.append((op, True))
            befores = [tensor for tensor in op.inputs if history_of(tensor) is None and comes_from_layer(tensor)]
            stack.extend((tensor.op, False) for tensor in reversed(befores))
    return list(found)


def _value_of(tensor: Tensor) -> Any:
    """An input that no layer made: its value where it has one, else the tensor itself."""
    if isinstance(tensor._graph, FunctionGraph):
        for outer, inner in tensor._graph.captured.items():
            if inner is tensor and outer._graph.is_eager:
                return outer
    known = constant_value(tensor)
    return tensor if known is None else known


def _make_layer(op: Operation) -> TensorFlowOpLayer:
    inputs, constants = [], {}
    for index, tensor in enumerate(op.inputs):
        if history_of(tensor) is not None:
            inputs.append(tensor)
        else:
            constants[index] = _value_of(tensor)
    layer = TensorFlowOpLayer(op.node_def, op.name, constants)
    Node(layer, inputs, list(op.outputs))
    return layer
