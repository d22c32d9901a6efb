"""`tf.keras.layers`: an activation, a penalty on activity, and masks of time steps. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras import activations
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.regularizers import L1L2
from tfexp.ops.array import squeeze
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal
from tfexp.ops.reduce import reduce_any


class Activation(Layer):
    """A function of activation: its name, or any callable of a tensor."""

    def __init__(self, activation: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "activation": activations.serialize(self.activation)}


class ActivityRegularization(Layer):
    """The inputs, and a loss: l1 times the sum of their sizes and l2 times that of their squares, by example."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any):
        super().__init__(activity_regularizer=L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "l1": self.l1, "l2": self.l2}


class Masking(Layer):
    """[batch, time, …]: layers downstream are to skip the steps all of whose features are `mask_value`; those are zeroed."""

    def __init__(self, mask_value: float = 0.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value
        self._compute_output_and_mask_jointly = True  # so that the mask is not computed twice

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return reduce_any(not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        is_kept = reduce_any(not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs: Any = inputs * cast(is_kept, inputs.dtype)
        outputs._keras_mask = squeeze(is_kept, axis=-1)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "mask_value": self.mask_value}
