"""`tf.keras.layers.LayerNormalization` (https://arxiv.org/abs/1607.06450). Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.keras import constraints, initializers, regularizers
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.layers.axes import checked_axis, normalized_axes
from tfexp.ops.array import reshape
from tfexp.ops.nn_norm import batch_normalization, moments


class LayerNormalization(Layer):
    """(inputs - mean) / sqrt(variance + epsilon) · gamma + beta, with a mean and a variance of each example along `axis`.

    gamma and beta have the sizes of those axes. ValueError for axes that there are not, or whose sizes are not known.
    """

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.axis = checked_axis(
            axis,
            ValueError(f"Expected an int or a list/tuple of ints for the argument 'axis', but received instead: {axis}"),
        )
        self.epsilon, self.center, self.scale = epsilon, center, scale
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        dims = TensorShape(input_shape)
        if dims.ndims is None:
            raise ValueError(f"Input has undefined rank. Received: input_shape={input_shape}")
        self.axis = normalized_axes(self.axis, dims.ndims)
        sizes = [dims[axis].value for axis in self.axis]
        if None in sizes:
            raise ValueError(f"Input has undefined `axis` dimension. Received input with shape {dims} and axis={self.axis}")
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = self.add_weight(
                "gamma",
                shape=sizes,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
                trainable=True,
            )
        if self.center:
            self.beta = self.add_weight(
                "beta",
                shape=sizes,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        dims = inputs.get_shape()
        mean, variance = moments(inputs, self.axis, keep_dims=True)
        scale, offset = self._spread(self.gamma, dims), self._spread(self.beta, dims)
        outputs = batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)
        outputs.set_shape(dims)
        return outputs

    def _spread(self, parameter: Any, dims: TensorShape) -> Any:
        """It has the sizes of `axis` in that order, which need not be the inputs' last ones."""
        if parameter is None or self.axis == [dims.ndims - 1]:  # type: ignore[operator]
            return parameter
        return reshape(parameter, [dims[i].value if i in self.axis else 1 for i in range(dims.ndims)])  # type: ignore[arg-type]

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "axis": self.axis,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            "beta_initializer": initializers.serialize(self.beta_initializer),
            "gamma_initializer": initializers.serialize(self.gamma_initializer),
            "beta_regularizer": regularizers.serialize(self.beta_regularizer),
            "gamma_regularizer": regularizers.serialize(self.gamma_regularizer),
            "beta_constraint": constraints.serialize(self.beta_constraint),
            "gamma_constraint": constraints.serialize(self.gamma_constraint),
        }
