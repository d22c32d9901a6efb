"""`tf.keras.layers`: activations that have settings, or weights. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.keras import backend, constraints, initializers, regularizers
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_softmax import softmax


class _Activation(Layer):
    """One element of output for each of input."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class LeakyReLU(_Activation):
    """x, and alpha · x below 0."""

    def __init__(self, alpha: float = 0.3, **kwargs: Any):
        super().__init__(**kwargs)
        if alpha is None:
            raise ValueError(f"The alpha value of a Leaky ReLU layer cannot be None, Expecting a float. Received: {alpha}")
        self.alpha = backend.cast_to_floatx(alpha)

    def call(self, inputs: Any) -> Any:
        return backend.relu(inputs, alpha=self.alpha)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "alpha": float(self.alpha)}


class PReLU(_Activation):
    """x, and alpha · x below 0, where alpha is learnt: one for each feature, or one for all along `shared_axes`."""

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        self.shared_axes = None
        if shared_axes is not None:
            self.shared_axes = list(shared_axes) if isinstance(shared_axes, (list, tuple)) else [shared_axes]

    def build(self, input_shape: Any) -> None:
        sizes = TensorShape(input_shape).as_list()
        shared, shape = self.shared_axes or [], sizes[1:]
        for axis in shared:
            shape[axis - 1] = 1
        self.alpha = self.add_weight(
            "alpha",
            shape=shape,
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        own = {axis: size for axis, size in enumerate(sizes) if axis > 0 and axis not in shared} if shared else {}
        self.input_spec = InputSpec(ndim=len(sizes), axes=own)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return relu(inputs) + -self.alpha * relu(-inputs)  # type: ignore[operator]

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "alpha_initializer": initializers.serialize(self.alpha_initializer),
            "alpha_regularizer": regularizers.serialize(self.alpha_regularizer),
            "alpha_constraint": constraints.serialize(self.alpha_constraint),
            "shared_axes": self.shared_axes,
        }


class ELU(_Activation):
    """x, and alpha · (exp(x) - 1) below 0."""

    def __init__(self, alpha: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        if alpha is None:
            raise ValueError(f"Alpha of an ELU layer cannot be None, expecting a float. Received: {alpha}")
        self.alpha = backend.cast_to_floatx(alpha)

    def call(self, inputs: Any) -> Any:
        return backend.elu(inputs, self.alpha)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "alpha": float(self.alpha)}


class ThresholdedReLU(_Activation):
    """x above theta, else 0."""

    def __init__(self, theta: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        if theta is None:
            raise ValueError(f"Theta of a Thresholded ReLU layer cannot be None, expecting a float. Received: {theta}")
        if theta < 0:
            raise ValueError(f"The theta value of a Thresholded ReLU layer should be >=0. Received: {theta}")
        self.theta = backend.cast_to_floatx(theta)

    def call(self, inputs: Any) -> Any:
        return inputs * cast(greater(inputs, cast(self.theta, inputs.dtype)), inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "theta": float(self.theta)}


class Softmax(_Activation):
    """exp(x), scaled to a sum of 1 along `axis`."""

    def __init__(self, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        return softmax(inputs, axis=self.axis)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "axis": self.axis}


class ReLU(_Activation):
    """x from `threshold` to `max_value`, which nothing exceeds; negative_slope · (x - threshold) below the threshold."""

    def __init__(self, max_value: Any = None, negative_slope: Any = 0, threshold: Any = 0, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = False  # in 1.15 the only one of these layers that drops a mask
        for name, value in (("max_value", max_value), ("negative_slope", negative_slope), ("threshold", threshold)):
            if (value is None and name != "max_value") or (value is not None and value < 0):
                raise ValueError(f"{name} of Relu layer cannot be negative value: {value}")
        self.max_value: Any = None if max_value is None else backend.cast_to_floatx(max_value)
        self.negative_slope: Any = backend.cast_to_floatx(negative_slope)
        self.threshold: Any = backend.cast_to_floatx(threshold)

    def call(self, inputs: Any) -> Any:
        return backend.relu(inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "max_value": _number(self.max_value),
            "negative_slope": _number(self.negative_slope),
            "threshold": _number(self.threshold),
        }


def _number(value: Any) -> Any:
    return None if value is None else np.asarray(value)
