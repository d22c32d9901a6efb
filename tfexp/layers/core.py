"""`tf.layers`: dense, dropout, flatten. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.layers.base import InputSpec, Layer
from tfexp.layers.functional import functional, known_truth
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_identity import identity
from tfexp.ops.array_order import transpose
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_dropout import dropout as dropout_
from tfexp.ops.tensor_products import tensordot


class Dense(Layer):
    """activation(inputs W + b) over the last dimension, which must be known. `tf.layers.Dense`."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),  # noqa: B008 (it has no state)
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.units, self.activation, self.use_bias = int(units), activation, use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        depth = TensorShape(input_shape)[-1].value
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight(
            "kernel",
            [depth, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        dims = inputs.get_shape()
        if dims.ndims is not None and dims.ndims > 2:
            outputs = tensordot(inputs, self.kernel, [[dims.ndims - 1], [0]])
            outputs.set_shape(self.compute_output_shape(dims))
        else:
            outputs = matmul(inputs, self.kernel)
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)  # type: ignore[no-any-return]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).with_rank_at_least(2)
        if dims[-1].value is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {input_shape}")
        return dims[:-1].concatenate(self.units)


dense = functional(Dense, "dense")


class Dropout(Layer):
    """In training, elements are set to zero with probability `rate` and the others scaled up. `tf.layers.Dropout`."""

    def __init__(
        self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, name: str | None = None, **kwargs: Any
    ):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        def dropped() -> Tensor:
            return dropout_(inputs, noise_shape=self._noise_shape(inputs), seed=self.seed, rate=self.rate)

        known = known_truth(training)
        if known is None:
            return cond(training, dropped, lambda: identity(inputs))
        return dropped() if known else identity(inputs)

    def _noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        dims = shape(inputs)
        wanted = self.noise_shape
        return convert_to_tensor([dims[i] if size is None else size for i, size in enumerate(wanted)])  # type: ignore[index]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """The inputs, in training with dropout. `training` may be a tensor. `tf.layers.dropout`."""
    return Dropout(rate, noise_shape, seed, name=name).apply(inputs, training=training)


class Flatten(Layer):
    """[batch, …] as [batch, product of the rest]; `channels_first` inputs give the same order as `channels_last` ones."""

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = "channels_last" if data_format is None else data_format.lower()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                'The `data_format` argument must be one of "channels_first", "channels_last". Received: ' + data_format  # type: ignore[operator]
            )
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        count = inputs.get_shape().ndims
        if self.data_format == "channels_first" and count is not None and count > 1:
            inputs = transpose(inputs, [0, *range(2, count), 1])
        dims = inputs.get_shape()
        if count == 1:
            return expand_dims(inputs, axis=1)
        if count is not None and dims[1:].is_fully_defined():
            sizes: list[int] = dims[1:].as_list()
            # One unknown size may be left to the reshape: the batch's, unless the rest is empty.
            outputs = reshape(inputs, constant(np.array([-1, int(np.prod(sizes))], np.int32)))
        else:
            outputs = reshape(inputs, (shape(inputs)[0], -1))  # type: ignore[index]
        outputs.set_shape(self.compute_output_shape(dims))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape)
        if dims.ndims is None:
            return TensorShape([None, None])
        rest = dims[1:]
        return TensorShape([dims[0], int(np.prod(rest.as_list())) if rest.is_fully_defined() else None])  # type: ignore[arg-type]


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """[batch, …] as [batch, product of the rest]. `tf.layers.flatten`."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
