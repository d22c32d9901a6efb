"""Functions of another program's library, to be called here: from FunctionDefs to `ConcreteFunction`s."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto import function_pb2

from tfexp.core import nest
from tfexp.functions.concrete import ConcreteFunction
from tfexp.graph.calls import called_by_node
from tfexp.graph.function import Function, build_body
from tfexp.graph.graph import Graph
from tfexp.graph.handles import capture_handle
from tfexp.graph.results import Results
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import TracedGraph
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops.calls import forget_function, function_name


class ImportedLibrary:
    """The functions of a library that some are asked for: `definitions` has those, by the library's names.

    What these call is in the library of `graph`, under names that are new here, for as long as somebody may call them.
    KeyError: one that is wanted is not there.
    """

    def __init__(self, graph: Graph, library: function_pb2.FunctionDefLibrary, wanted: Iterable[str]):
        theirs = {definition.signature.name: definition for definition in library.function}
        gradients = {gradient.function_name: gradient.gradient_func for gradient in library.gradient}
        self.graph = graph
        self.definitions = {name: theirs[name] for name in wanted}
        names: dict[str, str] = {}
        pending = list(self.definitions)
        while pending:
            name = pending.pop()
            called = {other for node in theirs[name].node_def for other in called_by_node(node) if other in theirs}
            new = (called | {gradients[name]} if name in gradients else called) - set(names)
            names.update({other: _name_here(other) for other in new})
            pending.extend(new)
        for name, here in names.items():
            function = Function.from_definition(_renamed(theirs[name], here, names), graph._functions)
            function.gradient_name = names.get(gradients.get(name, ""))
            graph._functions[here] = function
            if graph.outermost.is_eager:
                weakref.finalize(self, forget_function, graph._functions, function)
        self._names = names

    def concrete_function(self, name: str, captured: Sequence[Tensor], signature: Any, results: Any) -> ImportedFunction:
        """One that was wanted, to be called in the graph, and in functions there.

        captured: the tensors of the graph that its last arguments stand for. signature: (positional arguments, keyword
        arguments), a TensorSpec for each tensor. results: the structure that it returns, a TensorSpec for each tensor.
        """
        definition = _renamed(self.definitions[name], _name_here(name), self._names)
        return ImportedFunction(_Imported(self.graph, definition, captured, signature, results), needs=self)


class ImportedFunction(ConcreteFunction):
    """One whose `structured_outputs` are what was written down of its results: a TensorSpec for each tensor."""

    @property
    def structured_outputs(self) -> Any:
        return self.output_specs


def _name_here(name: str) -> str:
    return function_name(name.removeprefix("__inference_"))


def _renamed(definition: function_pb2.FunctionDef, name: str, names: Mapping[str, str]) -> function_pb2.FunctionDef:
    """The definition under a new name, with what it calls by its new names."""
    copy = function_pb2.FunctionDef()
    copy.CopyFrom(definition)
    copy.signature.name = name
    for node in copy.node_def:
        node.op = names.get(node.op, node.op)
        if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            node.attr.pop("_gradient_op_type", None)  # a rule that TensorFlow registered in the process that wrote it
        for value in node.attr.values():
            for function in [value.func] if value.WhichOneof("value") == "func" else value.list.func:
                function.name = names.get(function.name, function.name)
    return copy


class _Imported:
    """What a `ConcreteFunction` asks of its trace, of a function that was traced elsewhere."""

    def __init__(
        self,
        outer: Graph,
        definition: function_pb2.FunctionDef,
        captured: Sequence[Tensor],
        signature: Any,
        results: Any,
    ):
        self.name = definition.signature.name
        self.graph = TracedGraph(self.name, outer)
        inputs, outputs = build_body(definition, self.graph)
        count = len(inputs) - len(captured)
        self.arguments = inputs[:count]
        for inner, tensor in zip(inputs[count:], captured, strict=True):
            capture_handle(inner, tensor)
            self.graph.captured[tensor] = inner
        leaves = nest.flatten(signature)
        specs = [leaf for leaf in leaves if isinstance(leaf, TensorSpec)]
        self.argument_names = [spec.name or tensor.op.name for spec, tensor in zip(specs, self.arguments, strict=True)]
        self.constants = [leaf for leaf in leaves if not isinstance(leaf, TensorSpec)]
        self.structured_input_signature = signature
        self.results = Results(_with_tensors(results, outputs))
        names = [arg.name for arg in definition.signature.output_arg]
        self.function = Function(self.name, self.graph, inputs, outputs, definition.attr, names)
        outer._functions[self.name] = self.function


def _with_tensors(structure: Any, outputs: Sequence[Tensor]) -> Any:
    """The tensors in the places of their specs, which say more of their shapes than the body does."""
    following = iter(outputs)

    def put(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            return leaf
        tensor = next(following)
        tensor.set_shape(leaf.shape)
        return tensor

    return nest.map_structure(put, structure)
