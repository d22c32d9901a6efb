"""`tf.keras.experimental.LinearModel`: a weighted sum of the inputs. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core import nest
from tfexp.keras import activations, initializers, regularizers
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.shapes import is_shape
from tfexp.keras.layers.dense import Dense
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.nn_bias import bias_add


class LinearModel(Model):
    """activation(sum of input @ kernel + bias) [batch, units]; a kernel for each input of a list or dict.

    A dict's kernels are the layers of its keys' names. ValueError: inputs that are neither a tensor, a list nor a dict.
    """

    def __init__(
        self,
        units: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.dense_layers: list[Dense] = []

    def build(self, input_shape: Any = None) -> None:
        if isinstance(input_shape, Mapping):
            names: list[str | None] = sorted(input_shape)
            shapes = [input_shape[name] for name in names]
        else:
            shapes = [input_shape] if is_shape(input_shape) else list(input_shape)
            names = [None] * len(shapes)
        self.dense_layers = [self._part(name) for name in names]
        for layer, shape in zip(self.dense_layers, shapes, strict=True):
            layer._build_for_shape(shape)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", shape=[self.units], initializer=self.bias_initializer, regularizer=self.bias_regularizer
            )
        self.built = True

    def _part(self, name: str | None) -> Dense:
        return Dense(
            self.units,
            use_bias=False,
            kernel_initializer=self.kernel_initializer,
            kernel_regularizer=self.kernel_regularizer,
            name=name,
        )

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        values = [inputs[name] for name in sorted(inputs)] if isinstance(inputs, Mapping) else nest.flatten(inputs)
        parts = [layer(value) for layer, value in zip(self.dense_layers, values, strict=True)]
        result: Any = parts[0] if len(parts) == 1 else add_n(parts)
        if self.bias is not None:
            result = bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        return cls(**config)
