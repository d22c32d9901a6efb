"""The functions that a SavedModel keeps beside each layer: TensorFlow 1.15 makes the layer of them, without its class.

    keras_api
      call_and_return_conditional_losses  of the inputs, and of `training` where the layer takes it: (outputs, losses)
      activity_regularizer_fn             of the outputs: the loss that the others leave out, of a layer that has such
      layer_regularization_losses         a list of functions without arguments
      layer_metrics                       those by `add_metric`, by name: the functions use their variables
      layers                              those inside

Source: `tf.keras.models.load_model`, TF 1.15, which asks for these.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.core import nest
from tfexp.functions.function import PolymorphicFunction, function
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer, drawn_aside
from tfexp.keras.engine.input_layer import InputLayer
from tfexp.keras.engine.network import Network
from tfexp.keras.engine.node import as_called_with
from tfexp.keras.engine.sequential import Sequential
from tfexp.ops.trackable import Trackable


class _Functions(Trackable):
    """Functions as elements of a list."""

    _object_identifier = "trackable_list_wrapper"

    def __init__(self, functions: list[PolymorphicFunction]):
        self._functions = functions

    def _functions_to_save(self) -> dict[str, Any]:
        return {str(number): one for number, one in enumerate(self._functions)}


class _KerasAPI(Trackable):
    """What is kept beside one layer. specs: of its inputs, with further arguments by name; None where they are not known."""

    def __init__(self, layer: Layer, specs: Any, arguments: dict[str, Any]):
        self.layers = list(layer.layers if isinstance(layer, Network) else layer._inner_layers)
        self.layer_metrics = {metric.name: metric for metric in layer._metrics}
        self.layer_regularization_losses = _Functions([_traced(loss) for loss in layer.losses_of_weights()])
        regularizer = layer._activity_regularizer
        if regularizer is not None:
            outputs = TensorSpec(None, layer.dtype or backend.floatx())
            self.activity_regularizer_fn = _traced(regularizer, outputs)
        if specs is not None:
            with _unregularized(layer):
                self.call_and_return_conditional_losses = _call(layer, specs, arguments)


@contextlib.contextmanager
def beside_each_layer(model: Any) -> Iterator[None]:
    """In the block the model and the layers inside have a `keras_api`, and calls leave nothing behind."""
    layers = _all_layers(model)
    try:
        with drawn_aside(model):
            for layer in layers:
                specs, arguments = _called_with(layer)
                if not layer.dynamic and not hasattr(layer, "keras_api"):
                    layer.keras_api = _KerasAPI(layer, specs, arguments)
                    if isinstance(layer, Sequential) and not layer._is_graph_network and specs is not None:
                        _along(layer, specs)
            yield
    finally:
        for layer in layers:
            vars(layer).pop("keras_api", None)


def _all_layers(layer: Any) -> list[Any]:
    """A layer and those inside, each once; not what only stands for inputs."""
    found = {id(layer): layer}
    for inner in layer._inner_layers:
        if not isinstance(inner, InputLayer):
            found.update((id(one), one) for one in _all_layers(inner))
    return list(found.values())


def _along(model: Sequential, specs: Any) -> None:
    """The layers of a model that knows no calls of these: each takes what the one before gives."""
    for layer in model.layers:
        layer.keras_api = _KerasAPI(layer, specs, {})
        call = layer.keras_api.call_and_return_conditional_losses
        specs = nest.map_structure(TensorSpec.from_tensor, call.concrete_functions[0].structured_outputs[0])


def _called_with(layer: Any) -> tuple[Any, dict[str, Any]]:
    """The specs of the inputs, and the further arguments, that a layer was first called with; None for what has no form."""
    if isinstance(layer, Network) and layer.inputs:
        specs = [TensorSpec(one.shape, one.dtype) for one in layer.inputs]
        return as_called_with(layer, specs), {}
    if not layer._inbound_nodes:
        return None, {}
    node = layer._inbound_nodes[0]
    plain = all(isinstance(one, Tensor) for one in nest.flatten(node.input_tensors))
    if not plain or any(isinstance(one, Tensor) for one in nest.flatten(node.arguments)):
        return None, {}
    return nest.map_structure(lambda one: TensorSpec(one.shape, one.dtype), node.input_tensors), node.arguments


@contextlib.contextmanager
def _unregularized(layer: Layer) -> Iterator[None]:
    """In the block calls leave out what the layer's own regularizer says of outputs: whoever makes it again adds that."""
    regularizer = layer._activity_regularizer
    layer._activity_regularizer = None
    try:
        yield
    finally:
        layer._activity_regularizer = regularizer


def _traced(python_function: Any, *specs: TensorSpec) -> PolymorphicFunction:
    traced = function(python_function, autograph=False)
    traced.get_concrete_function(*specs)
    return traced


def _call(layer: Layer, specs: Any, arguments: dict[str, Any]) -> PolymorphicFunction:
    def with_losses(inputs: Any, **phase: Any) -> tuple[Any, list[Any]]:
        outputs = layer(inputs, **{**arguments, **phase})
        return outputs, layer.losses_made_in(get_default_graph())

    def call(inputs: Any) -> Any:
        return with_losses(inputs)

    def call_in_phase(inputs: Any, training: Any = None) -> Any:
        return with_losses(inputs, training=training)

    if not layer._takes("training"):
        traced = function(call, autograph=False)
        traced.get_concrete_function(specs)
        return traced
    traced = function(call_in_phase, autograph=False)
    for training in (True, False):
        traced.get_concrete_function(specs, training)
    return traced
