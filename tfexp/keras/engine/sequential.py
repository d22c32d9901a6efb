"""`Sequential`: layers one after the other. Source: `tf.keras.Sequential`, TF 1.15."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_layer import Input, InputLayer
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.node import alone, history_of, masks_of, shape_of
from tfexp.ops.trackable import variables_made


class Sequential(Model):
    """Layers by argument or `add`. With a shape of inputs from the first one it is built at once, else by its first call."""

    _object_identifier = "_tf_keras_sequential"

    def __init__(self, layers: Any = None, name: str | None = None):
        super().__init__(name=name)
        vars(self)["_layers"] = []  # as they were added, behind an input layer where the shape of inputs is known
        self.supports_masking = True
        self._compute_output_and_mask_jointly = True
        for layer in layers if isinstance(layers, (list, tuple)) else [layers] if layers is not None else []:
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers as they were added: without the input layer that stands before them."""
        layers = self._layers
        return list(layers[1:] if layers and isinstance(layers[0], InputLayer) else layers)

    @property
    def dynamic(self) -> bool:
        return any(layer.dynamic for layer in self.layers)

    @property  # type: ignore[misc]
    def input_spec(self) -> Any:
        """That of the first layer."""
        return self.layers[0].input_spec if self.layers else None

    def add(self, layer: Any) -> None:
        """Put a layer behind those that there are. TypeError for what is none, ValueError for several outputs."""
        history = history_of(layer)
        if history is not None and isinstance(history.layer, InputLayer):  # what `Input` gives stands for its layer
            layer = history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        self.built = False
        if not self._layers:
            self._begin_with(layer)
            return
        if self.outputs:
            output = layer(self.outputs[0])
            if isinstance(output, (list, tuple)):
                raise TypeError(_SEVERAL)
            self._init_graph_network(self.inputs, [output], name=self.name)
        else:
            self._layers.append(layer)
            variables_made(self)

    def _begin_with(self, layer: Any) -> None:
        if isinstance(layer, InputLayer):
            output: Any = alone(layer.inbound_nodes[0].output_tensors)
            self._init_graph_network([output], [output], name=self.name)
            return
        first, shape = layer, getattr(layer, "_batch_input_shape", None)
        while shape is None and isinstance(first, Model) and first.layers:
            first = first._layers[0]
            shape = getattr(first, "_batch_input_shape", None)
        if isinstance(first, Model) and shape is None and not first.layers:
            raise ValueError("An empty Model cannot be used as a Layer.")
        if shape is None:
            self._layers.append(layer)
            variables_made(self)
            return
        given = Input(batch_shape=shape, dtype=first.dtype, name=f"{layer.name}_input")
        output = layer(given)
        if len(nest.flatten(output)) != 1:
            raise ValueError(_SEVERAL)
        output = nest.flatten(output)[0]
        self._init_graph_network([given], [output], name=self.name)

    def pop(self) -> None:
        """Take away the last layer. TypeError if there is none."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self.built = False
        if not self._is_graph_network:
            self._layers.pop()
            return
        remaining = self.layers[:-1]
        self.layers[-1]._inbound_nodes[:] = []
        if not remaining:
            vars(self)["_layers"], vars(self)["_is_graph_network"] = [], False
            self.inputs, self.outputs, self._built_of = [], [], None
            self._inbound_nodes[:] = []
            return
        remaining[-1]._outbound_nodes[:] = []
        self._init_graph_network(self.inputs, [remaining[-1].output], name=self.name)

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        """Of a subclass that was not built of inputs, too, the layers by their numbers."""
        numbered = {f"layer-{number}": layer for number, layer in enumerate(self._layers[: self._built_of])}
        found = {**dict(super()._checkpoint_children()), **numbered}
        return [(name, part) for name, part in found.items() if name != "_layers"]

    def _init_graph_network(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super()._init_graph_network(inputs, outputs, name, **kwargs)
        self.supports_masking = True

    def build(self, input_shape: Any = None) -> None:
        """Make the variables, for inputs of this shape with the batch."""
        if self._is_graph_network:
            self.built = True
            return
        if input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        super().build(input_shape)

    build.by_drawing = True  # type: ignore[attr-defined]

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        if self._is_graph_network:
            return super().call(inputs, training=training, mask=mask)
        outputs = inputs
        for layer in self.layers:
            arguments: dict[str, Any] = {}
            names = layer._call_parameters()[0]
            if "mask" in names:
                arguments["mask"] = mask
            if "training" in names:
                arguments["training"] = training
            outputs = layer(outputs, **arguments)
            mask = masks_of(outputs)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = input_shape
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        outputs = self.call(inputs, mask=mask)
        return masks_of(outputs)

    # --- use ------------------------------------------------------------------------------------------------------------

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The outputs for the examples, as probabilities."""
        return self.predict(x, batch_size=batch_size, verbose=verbose)

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The most probable class of each example; with one output, whether it is above one half."""
        probabilities = self.predict(x, batch_size=batch_size, verbose=verbose)
        if probabilities.shape[-1] > 1:
            return np.argmax(probabilities, axis=-1)
        return (probabilities > 0.5).astype("int32")

    # --- as configuration -----------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        layers = [{"class_name": type(layer).__name__, "config": copy.deepcopy(layer.get_config())} for layer in self.layers]
        if self._is_graph_network and layers:  # an InputLayer is not among them
            layers[0]["config"].setdefault("batch_input_shape", shape_of(self.inputs[0]))
        config: dict[str, Any] = {"name": self.name, "layers": layers}
        if not self._is_graph_network and self._built_shape is not None:
            config["build_input_shape"] = self._built_shape
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The model that `get_config` describes, or a list of its layers as older versions wrote."""
        from tfexp.keras.layers.serialization import deserialize  # layers stand above the engine, which finds them by name

        named = isinstance(config, dict)
        model = cls(name=config.get("name") if named else None)
        for one in config["layers"] if named else config:
            model.add(deserialize(one, custom_objects=custom_objects))
        shape = config.get("build_input_shape") if named else None
        if not model.inputs and shape:
            model.build(shape)
        return model


_SEVERAL = (
    "All layers in a Sequential model should have a single output tensor. For multi-output layers, use the functional API."
)
