"""`tf.keras.experimental.WideDeepModel`: a linear and a deep model, added (Cheng et al. 2016). Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.keras import activations
from tfexp.keras.engine.model import Model
from tfexp.keras.layers.serialization import deserialize, serialize


class WideDeepModel(Model):
    """activation(linear_model(inputs) + dnn_model(inputs)); a pair of inputs is one for each.

    Both models are trained by the same optimizer.
    """

    def __init__(self, linear_model: Any, dnn_model: Any, activation: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        pair = isinstance(inputs, (list, tuple)) and len(inputs) == 2
        linear_inputs, dnn_inputs = inputs if pair else (inputs, inputs)
        linear, deep = self.linear_model(linear_inputs), self.dnn_model(dnn_inputs)
        output = nest.map_structure(lambda one, other: one + other, linear, deep)
        return output if self.activation is None else nest.map_structure(self.activation, output)

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "linear_model": serialize(self.linear_model),
            "dnn_model": serialize(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Both models as they are described."""
        rest = dict(config)
        models = [deserialize(rest.pop(name), custom_objects) for name in ("linear_model", "dnn_model")]
        return cls(*models, **rest)
