"""`Node`: one call of a layer on tensors of other layers; a tensor's `_keras_history` says from which call it came."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from tfexp.core import nest
from tfexp.graph.graph import Graph
from tfexp.keras.engine.dependencies import graph_of, is_symbolic


class KerasHistory(NamedTuple):
    """Where a tensor came from: the `tensor_index`-th output of the `node_index`-th call of `layer`."""

    layer: Any
    node_index: int
    tensor_index: int


# The graphs in which layers were called on each other's outputs.
_graphs: weakref.WeakSet[Graph] = weakref.WeakSet()


def may_have_history(graph: Graph) -> bool:
    """Whether some tensor of the graph came from a layer: in most graphs there is none, and nothing to look for."""
    return graph in _graphs


def history_of(value: Any) -> KerasHistory | None:
    """The call that made a tensor; None for what no layer made."""
    return getattr(value, "_keras_history", None)


def masks_of(tensors: Any) -> Any:
    """The masks that tensors carry, in the tensors' structure; None for each that has none."""
    return nest.map_structure(lambda tensor: getattr(tensor, "_keras_mask", None), tensors)


def alone(values: Any) -> Any:
    """The one element of a list of one; anything else as it is."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def as_called_with(model: Any, inputs: list[Any]) -> Any:
    """The inputs, in the order of their names, as the model's `call` takes them: by name, as a list, or the one alone."""
    return dict(zip(model.input_names, inputs, strict=True)) if model._takes_named_inputs else alone(inputs)


def shape_of(value: Any) -> Any:
    """A tensor's static shape as a tuple; None for an unknown rank."""
    shape = value.get_shape()
    return None if shape.ndims is None else tuple(shape.as_list())


def _sources(values: Any) -> list[tuple[KerasHistory, Any]]:
    found = ((history_of(value), value) for value in nest.flatten(values))
    return [(history, value) for history, value in found if history is not None]


class Node:
    """A layer's call. `input_tensors`, `output_tensors`: structures as they were passed and came back.

    `arguments`: the call's further arguments by name. Making one joins it to its layer and to those that it reads from.
    """

    def __init__(
        self,
        layer: Any,
        inputs: Any,
        outputs: Any,
        arguments: dict[str, Any] | None = None,
        reads: bool = True,
        makes: bool = True,
    ):
        """reads: it takes its inputs from other layers (an input layer does not). makes: its outputs come from it.

        Neither holds for the node that stands for a model as a whole.
        """
        self.outbound_layer = layer
        self.input_tensors, self.output_tensors = inputs, outputs
        self.arguments = arguments or {}
        # As they are now: a model around the layer will say that its outputs came from the model.
        self._sources = _sources(inputs) if reads else []
        self._sources_of_arguments = _sources(self.arguments) if reads else []
        number = len(layer._inbound_nodes)
        layer._inbound_nodes.append(self)
        for source in dict.fromkeys(history.layer for history, _ in self._sources):
            source._outbound_nodes.append(self)
        if makes:
            for index, tensor in enumerate(nest.flatten(outputs)):
                tensor._keras_history = KerasHistory(layer, number, index)
                _graphs.add(graph_of(tensor))

    def sources(self, include_arguments: bool = False) -> list[tuple[KerasHistory, Any]]:
        """(history, tensor) of each input that a layer made; with those among the further arguments if asked for."""
        return self._sources + self._sources_of_arguments if include_arguments else self._sources

    @property
    def inbound_layers(self) -> Any:
        """The layers it reads from, in the structure of its inputs; one alone as such."""
        found = [history.layer for history, _ in self.sources()]
        return alone(found)

    @property
    def node_indices(self) -> list[int]:
        return [history.node_index for history, _ in self.sources()]

    @property
    def tensor_indices(self) -> list[int]:
        return [history.tensor_index for history, _ in self.sources()]

    @property
    def input_shapes(self) -> Any:
        return nest.map_structure(shape_of, self.input_tensors)

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(shape_of, self.output_tensors)

    def get_config(self) -> dict[str, Any]:
        """Names and numbers of where it reads from and goes to."""
        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": [history.layer.name for history, _ in self.sources()],
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }


def is_keras_tensor(value: Any) -> bool:
    """Whether a layer made it, so that a model may be built from it."""
    return is_symbolic(value) and history_of(value) is not None
