"""`clone_model`: the same architecture, with layers and variables of its own. Source: `tf.keras.models`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.graph.tensor import Tensor
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_layer import Input, InputLayer
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.node import alone, history_of
from tfexp.keras.engine.sequential import Sequential

LayerFunction = Callable[[Any], Any]


def same_layer(layer: Any) -> Any:
    """A new layer of the same configuration."""
    return type(layer).from_config(layer.get_config())


def clone_model(model: Any, input_tensors: Any = None, clone_function: LayerFunction | None = None) -> Any:
    """A model of new layers, on these tensors or on inputs like the model's.

    clone_function: what makes the new layer of each layer but the input layers; by default one of the same configuration.
    ValueError for what is no model of layers joined in advance.
    """
    function = same_layer if clone_function is None else clone_function
    if isinstance(model, Sequential):
        return clone_sequential(model, input_tensors, function)
    return clone_functional(model, input_tensors, function)


def clone_functional(model: Any, input_tensors: Any = None, layer_fn: LayerFunction = same_layer) -> Any:
    """`clone_model` of a model that says from which tensors to which it leads; ValueError for another."""
    if not isinstance(model, Model):
        raise ValueError(f"Expected `model` argument to be a `Model` instance, got {model}")
    if isinstance(model, Sequential):
        raise ValueError(f"Expected `model` argument to be a functional `Model` instance, got a `Sequential`: {model}")
    if not model._is_graph_network:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass model instead. A subclass "
            "says in `call` how its layers go together, which is not known before it is called."
        )
    if not callable(layer_fn):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    inputs = (
        _given(input_tensors, model) if input_tensors is not None else [_input_like(layer) for layer in model._input_layers]
    )
    values: dict[int, Any] = {id(own): one for own, one in zip(model.inputs, inputs, strict=True)}
    clones: dict[Any, Any] = {}
    for node in model._map.nodes:
        made = nest.flatten(node.output_tensors)
        if id(made[0]) in values:
            continue
        layer = node.outbound_layer
        if layer not in clones:
            clones[layer] = layer_fn(layer)
        _call(clones[layer], node, values)
    outputs = [values[id(output)] for output in model.outputs]
    clone = Model(alone(inputs), alone(outputs), name=model.name)
    if model._asides:
        clone._put_aside([values[id(aside)] for aside in model._asides])
    return clone


def _call(clone: Any, node: Any, values: dict[int, Any]) -> None:
    def given(value: Any) -> Any:
        return values.get(id(value), value) if isinstance(value, Tensor) else value

    outputs = clone(nest.map_structure(given, node.input_tensors), **nest.map_structure(given, node.arguments))
    for own, output in zip(nest.flatten(node.output_tensors), nest.flatten(outputs), strict=False):
        values[id(own)] = output


def _input_like(layer: Any) -> Any:
    return Input(
        batch_shape=layer._batch_input_shape, dtype=layer.dtype, sparse=layer.sparse, ragged=layer.ragged, name=layer.name
    )


def _given(input_tensors: Any, model: Any) -> list[Any]:
    """The tensors to build on: a layer's view of those that no layer made."""
    found = []
    for tensor, layer in zip(nest.flatten(input_tensors), model._input_layers, strict=True):
        found.append(
            tensor if history_of(tensor) is not None else Input(tensor=tensor, name=f"input_wrapper_for_{layer.name}")
        )
    return found


def clone_sequential(model: Any, input_tensors: Any = None, layer_fn: LayerFunction = same_layer) -> Sequential:
    """`clone_model` of a Sequential; ValueError for another model."""
    if not isinstance(model, Sequential):
        raise ValueError(f"Expected `model` argument to be a `Sequential` model instance, but got: {model}")
    if input_tensors is None:
        clone = Sequential(name=model.name)
        if model._layers and isinstance(model._layers[0], InputLayer):
            clone.add(_clone_of_input(model._layers[0]))
        for layer in model.layers:
            clone.add(layer_fn(layer))
        return clone
    given = nest.flatten(input_tensors)
    if len(given) != 1:
        raise ValueError("To clone a `Sequential` model, we expect at most one tensor as part of `input_tensors`.")
    tensor = given[0]
    history = history_of(tensor)
    if history is not None and isinstance(history.layer, InputLayer):
        first = history.layer
    else:
        first = InputLayer(input_tensor=tensor, name=f"input_wrapper_for_{model.layers[0].name}")
    clone = Sequential(name=model.name)
    for layer in [first, *map(layer_fn, model.layers)]:
        clone.add(layer)
    return clone


def _clone_of_input(layer: InputLayer) -> Layer:
    return InputLayer(**layer.get_config())
