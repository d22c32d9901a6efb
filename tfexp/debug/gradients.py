"""Gradients of tensors in the middle of a graph: nodes behind these tell what passes back."""

from __future__ import annotations

import re
import uuid
from contextlib import AbstractContextManager
from typing import Any
from weakref import WeakValueDictionary

from tfexp.debug.dump_dir import DebugDumpDir, WatchKeyDoesNotExistInDebugDumpDirError
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import debug_gradient_identity_op
from tfexp.ops.control import debug_gradient_ref_identity_op
from tfexp.ops.variables import Variable

Gradient = Tensor | IndexedSlices

_debuggers: WeakValueDictionary[str, GradientsDebugger] = WeakValueDictionary()


def clear_gradient_debuggers() -> None:
    """No debugger is told of gradients any more. Source: `tensorflow.python.debug.lib.debug_gradients`."""
    _debuggers.clear()


class GradientsDebugger(AbstractContextManager["GradientsDebugger"]):
    """Finds the gradients of chosen tensors, of what is differentiated in its context. Source: `tf_debug.GradientsDebugger`.

        debugger = GradientsDebugger()
        with debugger.watch_gradients_by_tensors(graph, [hidden]):
            train = optimizer.minimize(loss)
        session.run(debugger.gradient_tensor(hidden))

    y_tensor: what is differentiated, of whose graph alone gradients are taken. The only debugger needs no context.
    """

    def __init__(self, y_tensor: Tensor | None = None):
        self._y_tensor = y_tensor
        self._graph: Graph | None = None if y_tensor is None else y_tensor.graph
        self._key = uuid.uuid4().hex
        self._active = False
        self._gradients: dict[str, Gradient] = {}
        _debuggers[self._key] = self

    def __enter__(self) -> GradientsDebugger:
        self._active = True
        return self

    def __exit__(self, *raised: object) -> None:
        self._active = False

    @property
    def y_tensor(self) -> Tensor | None:
        """What is differentiated, if it was given."""
        return self._y_tensor

    @property
    def graph(self) -> Graph | None:
        """The graph of `y_tensor`, or of the first gradient."""
        return self._graph

    def identify_gradient(self, input_tensor: Any) -> Tensor:
        """`input_tensor` as another tensor, the gradient of which is found. ValueError where there is one already."""
        tensor = _as_tensor(input_tensor)
        name = f"{tensor.op.name}_{tensor.value_index}/gradient_debug_{self._key}"
        if name in tensor.graph._by_name:
            raise ValueError(f"The graph already contains an op named {name}")
        identity = debug_gradient_ref_identity_op if tensor.dtype._is_ref_dtype else debug_gradient_identity_op
        with tensor.graph.as_default():
            result: Tensor = identity(tensor, name=f"{name}/")
        return result

    def watch_gradients_by_tensors(self, graph: Graph, tensors: Any) -> GradientsDebugger:
        """`watch_gradients_by_tensor_names` for one or several tensors or variables."""
        several = tensors if isinstance(tensors, (list, tuple)) else [tensors]
        return self._watch(graph, {tensor.name for tensor in several})

    def watch_gradients_by_tensor_names(self, graph: Graph, tensor_name_regex: str) -> GradientsDebugger:
        """Let all that takes a tensor whose name begins as the pattern says take `identify_gradient` of it."""
        names = (tensor.name for op in graph.get_operations() for tensor in op.outputs)
        return self._watch(graph, {name for name in names if re.match(tensor_name_regex, name)})

    def _watch(self, graph: Graph, names: set[str]) -> GradientsDebugger:
        for op in graph.get_operations():
            for tensor in op.outputs:
                if tensor.name in names:
                    self._put_behind(tensor)
        return self

    def _put_behind(self, tensor: Tensor) -> None:
        consumers = dict.fromkeys(tensor.consumers())
        identity = self.identify_gradient(tensor)
        for consumer in consumers:
            for place, given in enumerate(consumer.inputs):
                if given is tensor:
                    consumer._update_input(place, identity)

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Gradient) -> None:
        """Keep a gradient if this debugger is in use. ValueError for one of another graph than its own."""
        if not self._active and len(_debuggers) > 1:
            return
        graph = gradient_tensor.graph
        if self._graph not in (None, graph):
            raise ValueError(f"The gradient of {x_tensor_name} is of another graph than {self._graph}, the debugger's")
        self._graph = graph
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Gradient:
        """The gradient of a tensor, a variable or what has that name. LookupError where none was found; TypeError."""
        if not isinstance(x_tensor, (str, Tensor, Variable)):
            raise TypeError(f"x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type {type(x_tensor)}")
        name = x_tensor if isinstance(x_tensor, str) else x_tensor.name  # type: ignore[union-attr]
        if name not in self._gradients:
            raise LookupError(f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}")
        return self._gradients[name]

    def gradient_tensors(self) -> dict[str, Gradient]:
        """{name of a tensor: its gradient}."""
        return self._gradients


def _as_tensor(value: Any) -> Tensor:
    if isinstance(value, Variable) and value.dtype._is_ref_dtype:
        return value._ref()  # type: ignore[no-any-return]
    return convert_to_tensor(value)


@debug_gradient_identity_op.gradient
@debug_gradient_ref_identity_op.gradient
def _(op: Operation, grad: Gradient) -> Gradient:
    debugger = _debuggers.get(op.name.rpartition("_")[2])
    if debugger is not None:
        debugger.register_gradient_tensor(op.inputs[0].name, grad)
    return grad


def gradient_values_from_dump(grad_debugger: GradientsDebugger, x_tensor: Any, dump: DebugDumpDir) -> list[Any]:
    """The values that the gradient of a tensor had in a dumped step; none where it was not dumped.

    ValueError for a dump of another graph, and as `GradientsDebugger.gradient_tensor`.
    Source: `tf_debug.gradient_values_from_dump`.
    """
    graphs = (grad_debugger.graph, dump.python_graph)
    if None not in graphs and graphs[0] is not graphs[1]:
        raise ValueError(
            f"This GradientsDebugger instance has a graph ({graphs[0]}) that differs from the graph of the DebugDumpDir "
            f"object ({graphs[1]})."
        )
    gradient = grad_debugger.gradient_tensor(x_tensor)
    node, _, output = gradient.name.partition(":")
    try:
        return dump.get_tensors(node, int(output), "DebugIdentity")
    except WatchKeyDoesNotExistInDebugDumpDirError:
        return []
