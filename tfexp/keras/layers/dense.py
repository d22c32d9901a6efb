"""`tf.keras.layers.Dense`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.keras import activations, constraints, initializers, regularizers
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.ops.cast import cast
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.tensor_products import tensordot


class Dense(Layer):
    """activation(inputs · kernel + bias) over the last dimension, which must be known; inputs [batch, …, depth] or sparse
    [batch, depth]. ValueError for depths that are unknown, TypeError for dtypes that are not floating."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ):
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.units = int(units)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        depth = TensorShape(input_shape)[-1].value
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`. Full input shape "
                f"received: {input_shape}"
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight(
            "kernel",
            shape=[depth, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        if isinstance(inputs, SparseTensor):
            from tfexp.ops.sparse import sparse_tensor_dense_matmul

            outputs = sparse_tensor_dense_matmul(inputs, self.kernel)
        else:
            outputs = self._product(inputs)
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def _product(self, inputs: Any) -> Any:
        dims = inputs.get_shape()
        if dims.ndims is None or dims.ndims <= 2:
            return matmul(cast(inputs, self.kernel.dtype.base_dtype), self.kernel)
        outputs = tensordot(inputs, self.kernel, [[dims.ndims - 1], [0]])
        outputs.set_shape(self.compute_output_shape(dims))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).with_rank_at_least(2)
        if dims[-1].value is None:
            raise ValueError(
                "The last dimension of the input shape of a Dense layer should be defined. Found None. Received: "
                f"input_shape={dims}"
            )
        return dims[:-1].concatenate(self.units)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
        }
