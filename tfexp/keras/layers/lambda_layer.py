"""`tf.keras.layers.Lambda`. Source: TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.traced_graph import TracedGraph
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.shapes import map_shapes
from tfexp.keras.layers.function_code import described, restored
from tfexp.keras.serialization import custom_object_scope
from tfexp.ops.array_identity import placeholder
from tfexp.ops.variable_base import variable_creator_scope


class Lambda(Layer):
    """`function(inputs, **arguments)` as a layer; it gets `mask` and `training` where it takes them.

    output_shape: the shape, without the batch's size, or a function of the inputs' shape; by default what the function
    gives. mask: the mask of the outputs, or a function (inputs, mask). Variables that the function makes are the layer's:
    a later call finds them by their names.
    """

    _books = Layer._books - {"_trainable_weights", "_non_trainable_weights"}

    def __init__(
        self, function: Callable[..., Any], output_shape: Any = None, mask: Any = None, arguments: Any = None, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.function = function
        self.arguments = dict(arguments or {})
        self._variable_dict: dict[str, Any] = {}
        if mask is not None:
            self.supports_masking = True
        self.mask = mask
        self._output_shape = output_shape
        takes = _parameters(function)
        self._passed_on = tuple(name for name in ("mask", "training") if name in takes)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        further = {"mask": mask, "training": training}
        arguments = {**self.arguments, **{name: further[name] for name in self._passed_on}}
        with variable_creator_scope(self._kept):
            return self.function(inputs, **arguments)

    def _kept(self, make: Callable[..., Any], **kwargs: Any) -> Any:
        name = kwargs["name"]
        if name not in self._variable_dict:
            variable = self._variable_dict[name] = make(**kwargs)
            (self._trainable_weights if variable.trainable else self._non_trainable_weights).append(variable)
        return self._variable_dict[name]

    def compute_output_shape(self, input_shape: Any) -> Any:
        if self._output_shape is None:
            return self._drawn_shape(input_shape)
        if callable(self._output_shape):
            return self._output_shape(input_shape)
        first = nest.flatten(input_shape)[0] if isinstance(input_shape, list) else input_shape
        batch = TensorShape(first).as_list()[0]
        given = self._output_shape
        if isinstance(given, (tuple, list)) and given and isinstance(given[0], (tuple, list, TensorShape)):
            return [TensorShape([batch, *TensorShape(shape).as_list()]) for shape in given]
        return TensorShape([batch, *TensorShape(given).as_list()])

    def _drawn_shape(self, input_shape: Any) -> Any:
        """What the function gives, drawn where nobody sees it."""
        outer = get_default_graph()
        with TracedGraph("shape_of_lambda", outer).as_default():
            dtype = self.dtype or backend.floatx()
            inputs = map_shapes(lambda one: placeholder(dtype, shape=as_shape(one)), input_shape)
            try:
                outputs = self.function(inputs, **{**self.arguments, **dict.fromkeys(self._passed_on)})
            except (TypeError, ValueError) as error:
                raise NotImplementedError(
                    f"The shape of the output of Lambda layer {self.name} could not be found by drawing its function: "
                    f"say it as `output_shape`. ({type(error).__name__}: {error})"
                ) from error
        return nest.map_structure(lambda tensor: tensor.get_shape(), outputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    # --- configs ------------------------------------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        function, kind, module = described(self.function)
        shape, shape_kind, shape_module = described(self._output_shape)
        return {
            **super().get_config(),
            "function": function,
            "function_type": kind,
            "module": module,
            "output_shape": shape,
            "output_shape_type": shape_kind,
            "output_shape_module": shape_module,
            "arguments": self.arguments,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Lambda:
        config = dict(config)
        # What a function finds of itself whatever module it was written in, as in 1.15.
        names = {"K": backend, "np": np, **(custom_objects or {})}
        module, shape_module = config.pop("module", None), config.pop("output_shape_module", None)
        with custom_object_scope(custom_objects or {}):
            kind, shape_kind = config.pop("function_type"), config.pop("output_shape_type")
            function = restored(config["function"], kind, module, names, "Lambda layer")
            shape = restored(config["output_shape"], shape_kind, shape_module, names, "Lambda layer")
        config["function"], config["output_shape"] = function, shape
        # JSON has lists only, and marks an array.
        config["arguments"] = {name: _as_array(value) for name, value in (config.get("arguments") or {}).items()}
        return cls(**config)


def _parameters(function: Callable[..., Any]) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # a function of C that does not say
        return {}


def _as_array(value: Any) -> Any:
    is_array = isinstance(value, dict) and value.get("type") == "ndarray"
    return np.array(value["value"]) if is_array else value
