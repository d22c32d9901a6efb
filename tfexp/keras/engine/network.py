"""`Network`: layers as one layer, joined from inputs to outputs or by a subclass's `call`. Source: TF 1.15's Keras."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from tfexp.core import nest
from tfexp.core.log import get_logger
from tfexp.core.shape import TensorShape
from tfexp.core.text import snake_case
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.engine.added import AddLoss, AddMetric
from tfexp.keras.engine.base_layer import Layer, unique_layer_name
from tfexp.keras.engine.call_context import current_call
from tfexp.keras.engine.dependencies import is_symbolic
from tfexp.keras.engine.input_layer import InputLayer
from tfexp.keras.engine.layer_map import LayerMap, map_layers
from tfexp.keras.engine.model_text import to_json, to_yaml
from tfexp.keras.engine.network_config import config_of_network, network_from_config
from tfexp.keras.engine.node import KerasHistory, Node, alone, history_of, masks_of
from tfexp.keras.engine.operation_layer import give_history
from tfexp.keras.engine.shapes import as_tensor_shapes, as_tuples, is_shape, map_shapes, shapes_of
from tfexp.keras.engine.summary import print_summary
from tfexp.keras.mixed_precision.policy import follows_floatx
from tfexp.ops.array_identity import placeholder
from tfexp.ops.trackable import variables_made
from tfexp.ops.variable_base import Variable


class Network(Layer):
    """`Network(inputs, outputs, name)`: what leads from tensors of `Input` to tensors that layers made of them.

    Without these arguments a subclass has layers as attributes and says in `call` how they go together.
    """

    _object_identifier = "_tf_keras_network"
    _books = Layer._books | {"input_names", "output_names", "_nested_inputs", "_nested_outputs", "_asides", "_built_shape"}
    # Where the layers are kept, which a checkpoint has by their numbers.
    _kept_layers = frozenset({"_layers", "_input_layers", "_output_layers", "_output_coordinates"})
    _is_graph_network: bool  # made of inputs and outputs
    _map: LayerMap
    # These are no attributes before inputs and outputs are known, for which programs ask `hasattr`.
    input_names: list[str]
    output_names: list[str]
    _built_of: int | None = None  # as many of its layers are not there only for added losses and metrics
    _built_shape: Any = None

    def __init__(self, *args: Any, **kwargs: Any):
        if len(args) == 2 or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs):
            self._init_graph_network(*args, **kwargs)
        else:
            self._init_subclassed_network(**kwargs)  # that arguments without names are ignored here is 1.15's way

    def __setattr__(self, name: str, value: Any) -> None:
        if "_is_graph_network" not in vars(self) and (isinstance(value, (Layer, Variable))):
            raise RuntimeError(
                "It looks like you are subclassing `Model` and you forgot to call `super(YourClass, self).__init__()`. "
                "Always start with this line."
            )
        super().__setattr__(name, value)
        if isinstance(value, Layer) and hasattr(value, "update_state") and self._setattr_tracking:
            self._keep_metric(value)

    def _keep_metric(self, metric: Any) -> None:
        """Report a metric that is an attribute, in that order; other layers report what their calls add."""
        if not any(metric is other for other in self._metrics):
            self._metrics.append(metric)

    def _begin(self, name: str | None, **kwargs: Any) -> None:
        """As every layer begins, under a name of its own or of its class."""
        super().__init__(name=name or unique_layer_name(snake_case(type(self).__name__)), **kwargs)
        self._casts_inputs = follows_floatx()  # of a mixed policy its layers do, each as its own says
        self.inputs: Any = []
        self.outputs: Any = []
        self._takes_named_inputs = False
        self.supports_masking = False

    def _init_subclassed_network(self, name: str | None = None, dynamic: bool = False, **kwargs: Any) -> None:
        vars(self)["_is_graph_network"] = False
        self._begin(name, dynamic=dynamic, **kwargs)

    def _init_graph_network(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        for key in kwargs:
            if key != "trainable":
                raise TypeError(
                    "Functional models may only specify `name` and `trainable` keyword arguments during initialization. "
                    "Got an unexpected argument:",
                    key,
                )
        vars(self)["_is_graph_network"] = True
        if "_inbound_nodes" not in vars(self):
            self._begin(name, **kwargs)
        give_history(outputs)
        self._nested_inputs, self._nested_outputs = alone(inputs), alone(outputs)
        self.inputs, self.outputs = nest.flatten(inputs), nest.flatten(outputs)
        self._check_ends()
        self._map = map_layers(self.inputs, self.outputs)
        vars(self)["_layers"] = self._map.layers
        self._built_of = len(self._layers)
        self._asides: list[Any] = []  # the outputs of layers that lead to no output of the network: added losses, metrics
        self._input_layers = [history_of(tensor).layer for tensor in self.inputs]  # type: ignore[union-attr]
        self._output_coordinates: list[KerasHistory] = [history_of(tensor) for tensor in self.outputs]  # type: ignore[misc]
        self._output_layers = [layer for layer, _, _ in self._output_coordinates]
        self.input_names = [layer.name for layer in self._input_layers]
        self.output_names = _output_names([layer.name for layer in self._output_layers])
        self.built = True
        self._compute_output_and_mask_jointly = True
        self._inbound_nodes[:] = [node for node in self._inbound_nodes if node.inbound_layers]
        Node(self, self._nested_inputs, self._nested_outputs, reads=False, makes=False)
        self._inbound_nodes.insert(0, self._inbound_nodes.pop())
        variables_made(self)

    def _check_ends(self) -> None:
        kind = type(self).__name__
        if len({id(tensor) for tensor in self.inputs}) != len(self.inputs):
            raise ValueError(
                "The list of inputs passed to the model is redundant. All inputs should only appear once. Found: "
                f"{self.inputs}"
            )
        for tensor in self.inputs:
            history = history_of(tensor)
            if history is None:
                raise ValueError(
                    f"Input tensors to a {kind} must come from `tf.keras.Input`. Received: {tensor} (missing previous layer "
                    "metadata)."
                )
            if not isinstance(history.layer, InputLayer):
                get_logger().warning(
                    "%s inputs must come from `tf.keras.Input` (thus holding past layer metadata), they cannot be the "
                    "output of a previous non-Input layer. Here, a tensor specified as input to %r was not an Input tensor, "
                    "it was generated by layer %s. The tensor that caused the issue was: %s",
                    kind,
                    self.name,
                    history.layer.name,
                    tensor,
                )
        for tensor in self.outputs:
            if history_of(tensor) is None:
                raise ValueError(
                    f"Output tensors to a {kind} must be the output of a TensorFlow `Layer` (thus holding past layer "
                    f"metadata). Found: {tensor}"
                )

    # --- what it has ----------------------------------------------------------------------------------------------------

    @property
    def layers(self) -> list[Any]:
        """The layers, in the order of their depth; of a subclass those in its attributes."""
        return self._inner_layers

    @property
    def _layers_by_depth(self) -> dict[int, list[Any]]:
        return self._map.layers_by_depth

    @property
    def _nodes_by_depth(self) -> dict[int, list[Node]]:
        return self._map.nodes_by_depth

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """The layer of that name or index; ValueError if there is none."""
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} layers."
                )
            return self.layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def stateful(self) -> bool:
        """Whether one of its layers keeps states between batches."""
        return any(getattr(layer, "stateful", False) for layer in self._inner_layers)

    @stateful.setter
    def stateful(self, value: bool) -> None:
        """A model is what its layers are."""

    def reset_states(self) -> None:
        for layer in self.layers:
            if getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self) -> list[Any]:
        """The updates of the layers that keep states."""
        return [update for layer in self.layers if getattr(layer, "stateful", False) for update in layer.updates]

    @property
    def input(self) -> Any:
        return self._nested_inputs if self._is_graph_network else super().input

    @property
    def output(self) -> Any:
        return self._nested_outputs if self._is_graph_network else super().output

    def _assert_weights_created(self) -> None:
        if not self._is_graph_network and "build" in vars(type(self)) and not self.built and not self.dynamic:
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created when the Model is first "
                "called on inputs or `build()` is called with an `input_shape`."
            )

    @property
    def trainable_weights(self) -> list[Any]:
        self._assert_weights_created()
        if not self.trainable:
            return []
        inner = [weight for layer in self._inner_layers for weight in layer.trainable_weights]
        return inner + self._trainable_weights

    @property
    def non_trainable_weights(self) -> list[Any]:
        self._assert_weights_created()
        layers = self._inner_layers
        if self.trainable:
            return [w for layer in layers for w in layer.non_trainable_weights] + self._non_trainable_weights
        inner = [*(w for layer in layers for w in layer.trainable_weights)]
        inner += [w for layer in layers for w in layer.non_trainable_weights]
        return inner + self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self) -> list[Any]:
        """All variables, layer by layer."""
        self._assert_weights_created()
        inner = [weight for layer in self._inner_layers for weight in layer.weights]
        return inner + self._trainable_weights + self._non_trainable_weights

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Keep losses. One that comes from tensors of a network is computed anew on every call of the network."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if not self._takes_aside(loss) or not self._call_aside(AddLoss(unconditional=False), loss):
                super().add_loss(loss, inputs)

    def add_metric(self, value: Any, aggregation: str | None = None, name: str | None = None) -> None:
        """Report a tensor in training. One that comes from tensors of a network is reported on every call of the network."""
        if self._takes_aside(value) and hasattr(value, "_metric_obj"):
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a Functional Model is not "
                "supported. Please pass the Tensor to monitor directly."
            )
        plain = aggregation == "mean" and name is not None
        if not (plain and self._takes_aside(value) and self._call_aside(AddMetric(aggregation, name), value)):
            super().add_metric(value, aggregation, name)

    def _takes_aside(self, value: Any) -> bool:
        return self._is_graph_network and current_call() is None and is_symbolic(value)

    def _call_aside(self, layer: Layer, tensor: Any) -> bool:
        """Call a layer at the network's side, if the tensor comes from layers at all."""
        give_history(tensor)
        if history_of(tensor) is None:
            return False
        self._put_aside([layer(tensor)])
        return True

    def _put_aside(self, outputs: list[Any]) -> None:
        """What leads to these tensors is part of the network; its layers come behind those that there are."""
        self._asides += outputs
        found = map_layers(self.inputs, [*self.outputs, *self._asides])
        known = self._map.layers
        new = [layer for layer in found.layers if not any(layer is other for other in known)]
        self._map = LayerMap([*known, *new], found.layers_by_depth, found.nodes_by_depth)
        vars(self)["_layers"] = self._map.layers
        variables_made(self)

    # --- calling --------------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the variables of a subclass, for inputs of this shape with the batch, by calling it on placeholders."""
        if self._is_graph_network:
            self.built = True
            return
        if input_shape is None:
            raise ValueError("Input shape must be defined when calling build on a model subclass network.")
        if type(self).call is Network.call:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a `call` method.")
        if not isinstance(input_shape, (tuple, list, TensorShape, dict)):
            raise ValueError(
                "Specified input shape is not one of the valid types. Please specify a batch input shape of type tuple or "
                f"list of input shapes. User provided input type: {type(input_shape)}"
            )
        self._built_shape = as_tuples(input_shape)
        with backend.get_graph().as_default() if executing_eagerly() else contextlib.nullcontext():
            inputs = map_shapes(lambda one: placeholder(self._dtype or backend.floatx(), shape=one), self._built_shape)
            self._draw(inputs)
        self.built = True

    build.by_drawing = True  # type: ignore[attr-defined]  # a call does that by itself

    def _draw(self, inputs: Any) -> None:
        """Call it only for the variables that this makes."""
        arguments = {"training": False} if "training" in self._call_parameters()[0] else {}
        self.call(inputs, **arguments)

    def _maybe_build(self, inputs: Any) -> None:
        if self.built or not hasattr(type(self).build, "by_drawing"):
            super()._maybe_build(inputs)
            return
        self._built_shape = nest.map_structure(as_tuples, shapes_of(inputs))
        self.built = True  # its layers build themselves as it calls them

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = super().__call__(inputs, *args, **kwargs)
        if not self._is_graph_network and not self.inputs:
            self._know_ends(inputs, outputs)
        return outputs

    def _know_ends(self, inputs: Any, outputs: Any) -> None:
        """In a graph the first tensors that a subclass is called with are its inputs, for training and saving."""
        graph = get_default_graph()
        if graph.building_function or graph.outermost.is_eager:
            return
        given = nest.flatten(inputs)
        if not all(isinstance(one, Tensor) for one in given):
            return
        self._takes_named_inputs = isinstance(inputs, Mapping)
        self.inputs, self.outputs = given, nest.flatten(outputs)
        self.input_names = sorted(inputs) if self._takes_named_inputs else [f"input_{n}" for n, _ in enumerate(given, 1)]
        self.output_names = [f"output_{n}" for n, _ in enumerate(self.outputs, 1)]

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The layers' outputs for other inputs than those it was made with."""
        if not self._is_graph_network:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a `call` method.")
        given = nest.flatten(inputs)
        if len(given) != len(self.inputs):
            raise ValueError(
                f"Layer {self.name} expects {len(self.inputs)} inputs, but it received {len(given)} input tensors. "
                f"Inputs received: {given}"
            )
        masks = [None] * len(given) if mask is None else nest.flatten(mask)
        values: dict[int, Any] = {}
        for own, tensor, one in zip(self.inputs, given, masks, strict=True):
            if one is not None:
                tensor._keras_mask = one
            values[id(own)] = tensor
        for node in self._map.nodes:
            if id(nest.flatten(node.output_tensors)[0]) not in values:
                self._call_node(node, values, training)
        return nest.pack_sequence_as(self._nested_outputs, [values[id(output)] for output in self.outputs])

    def _call_node(self, node: Node, values: dict[int, Any], training: Any) -> None:
        layer = node.outbound_layer

        def given(value: Any) -> Any:
            return values.get(id(value), value) if isinstance(value, Tensor) else value

        arguments = nest.map_structure(given, node.arguments)
        if "training" in layer._call_parameters()[0]:
            arguments.setdefault("training", training)
        outputs = layer(nest.map_structure(lambda value: values[id(value)], node.input_tensors), **arguments)
        # A layer that overrides `__call__` may give only the first of what its call made.
        for own, output in zip(nest.flatten(node.output_tensors), nest.flatten(outputs), strict=False):
            values[id(own)] = output

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if not self._is_graph_network:
            return None
        outputs = self.call(inputs, mask=mask)
        return masks_of(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for inputs of this shape, as the layers say it."""
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        given = [input_shape] if is_shape(input_shape) else list(input_shape)
        if len(given) != len(self._input_layers):
            raise ValueError(
                f"Invalid input_shape argument {input_shape}: model has {len(self._input_layers)} tensor inputs."
            )
        shapes = {id(own): one for own, one in zip(self.inputs, as_tensor_shapes(given), strict=True)}
        for node in self._map.nodes:
            outputs = nest.flatten(node.output_tensors)
            if id(outputs[0]) not in shapes:
                found = node.outbound_layer.compute_output_shape(
                    nest.map_structure(lambda value: shapes[id(value)], node.input_tensors)
                )
                flat = [found] if is_shape(found) else list(found)
                shapes.update((id(own), one) for own, one in zip(outputs, as_tensor_shapes(flat), strict=True))
        return nest.pack_sequence_as(self._nested_outputs, [shapes[id(output)] for output in self.outputs])

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        """Each layer by its number, and in a graph of layers those with variables by their number among these.

        Of subclasses attributes only.
        """
        kept = self._kept_layers if self._is_graph_network else self._kept_layers - {"_layers"}  # which are the program's
        children = [(name, part) for name, part in super()._checkpoint_children() if name not in kept]
        if not self._is_graph_network and not type(self).__module__.startswith("tfexp.keras."):
            return children
        numbered: dict[str, Any] = {}
        with_weights = 0
        # The input layer counts that a sequence has before its own.
        for number, layer in enumerate(self._layers[: self._built_of] if self._is_graph_network else self.layers):
            if self._is_graph_network and layer.weights:
                numbered[f"layer_with_weights-{with_weights}"] = layer
                with_weights += 1
            numbered[f"layer-{number}"] = layer
        return [*numbered.items(), *((name, part) for name, part in children if name not in numbered)]

    # --- as configuration and on disk -----------------------------------------------------------------------------------

    def summary(self, line_length: int | None = None, positions: Any = None, print_fn: Any = None) -> None:
        """Print a table of the layers. ValueError for a subclass that has not been called or built."""
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or calling `fit()` with some "
                "data, or specify an `input_shape` argument in the first layer(s) for automatic build."
            )
        print_summary(self, line_length, positions, print_fn)

    def save(
        self,
        filepath: Any,
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: str | None = None,
        signatures: Any = None,
    ) -> None:
        """Write architecture, weights and training's state, for `tf.keras.models.load_model`."""
        from tfexp.keras.saving.save import save_model  # saving stands above the engine

        save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(self, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
        """Write the weights: as HDF5 if the path ends so, else as a checkpoint of that prefix."""
        from tfexp.keras.saving.weights import save_weights

        save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: Any, by_name: bool = False) -> Any:
        """Take the weights of a file; by_name: of layers of the same name only. A checkpoint's status, or None."""
        from tfexp.keras.saving.weights import load_weights

        return load_weights(self, filepath, by_name)

    def to_json(self, **kwargs: Any) -> str:
        """The architecture as JSON, for `model_from_json`. kwargs: of `json.dumps`."""
        return to_json(self, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """The architecture as YAML, for `model_from_yaml`. kwargs: of `yaml.dump`."""
        return to_yaml(self, **kwargs)

    def get_config(self) -> dict[str, Any]:
        if not self._is_graph_network:
            raise NotImplementedError(
                f"Model {self.name} of class {type(self).__name__} says in `call` how its layers go together, which no "
                "config has: such a class has to override `get_config`."
            )
        return config_of_network(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """The model that `get_config` describes; its classes are looked for in `custom_objects` first."""
        inputs, outputs, layers = network_from_config(config, custom_objects)
        network = cls(inputs=inputs, outputs=outputs, name=config.get("name"))
        used = {id(layer) for layer in network.layers}
        asides = [node.output_tensors for layer in layers if id(layer) not in used for node in layer._inbound_nodes]
        if asides:
            network._put_aside(nest.flatten(asides))
        return network


def _output_names(names: list[str]) -> list[str]:
    """The names of outputs: those of their layers, numbered where a layer has several."""
    counts: dict[str, int] = {}
    found = []
    for name in names:
        number = counts.get(name, 0)
        counts[name] = number + 1
        found.append(f"{name}_{number}" if number else name)
    return found
