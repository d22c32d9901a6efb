"""`tf.keras.layers`: convolution whose filters are others at each position. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.keras import activations, backend, constraints, initializers, regularizers
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.window_args import arranged, checked_data_format, normalized, window_count, with_defaults
from tfexp.ops.array import reshape
from tfexp.ops.array_order import transpose
from tfexp.ops.matmul import matmul
from tfexp.ops.sparse import sparse_tensor_dense_matmul


class _LocallyConnected(Layer):
    """activation(inputs * W + b) over `rank` dimensions, W and b being others at each position.

    The lengths of the inputs must be known. implementation: 1 keeps a matrix for each position; 2 keeps one from all
    inputs to all outputs, of which what lies outside of the windows is masked: more room, and `same` padding besides;
    3 keeps of that matrix what lies in the windows, as a vector: output by output, of each by its inputs.
    """

    rank: int

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **kwargs: Any,
    ):
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.filters = filters
        self.kernel_size = normalized(kernel_size, self.rank, "kernel_size")
        self.strides = normalized(strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same") or (self.padding != "valid" and implementation == 1):
            raise ValueError(
                f'Invalid border mode for {type(self).__name__} (only "valid" is supported if implementation is 1): '
                f"{padding}"
            )
        self.data_format = checked_data_format(data_format)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self.rank + 2)

    # --- variables ----------------------------------------------------------------------------------------------------

    def _split(self, dims: list[Any]) -> tuple[list[Any], Any]:
        """The lengths and the number of channels of inputs with these dimensions."""
        return (dims[1:-1], dims[-1]) if self.data_format == "channels_last" else (dims[2:], dims[1])

    def _lengths_out(self, lengths: list[Any]) -> list[Any]:
        return [
            window_count(length, window, stride, self.padding)
            for length, window, stride in zip(lengths, self.kernel_size, self.strides, strict=True)
        ]

    def _map_shape(self, channels: int) -> tuple[list[int], list[int]]:
        """The shapes of one example before and after, for which each pair of elements may have a weight."""
        before = arranged(0, self._lengths, channels, self.data_format)[1:]
        return before, arranged(0, self._lengths_after, self.filters, self.data_format)[1:]

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        if self.implementation == 1:
            return (int(np.prod(self._lengths_after)), int(np.prod(self.kernel_size)) * channels, self.filters)
        before, after = self._map_shape(channels)
        if self.implementation == 2:
            return (*before, *after)
        if self.implementation == 3:
            seen = np.broadcast_to(self._mask(), (*before, *after)).reshape(int(np.prod(before)), int(np.prod(after)))
            self._pairs = np.argwhere(seen.T).astype(np.int64)
            return (len(self._pairs),)
        raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")

    def build(self, input_shape: Any) -> None:
        lengths, channels = self._split(TensorShape(input_shape).as_list())
        if None in (*lengths, channels):
            raise ValueError(
                f"The spatial dimensions and the channels of the inputs to a {type(self).__name__} layer should be fully-"
                f"defined, but layer received an input shape of {tuple(TensorShape(input_shape).as_list())}"
            )
        self._lengths, self._lengths_after = tuple(lengths), tuple(self._lengths_out(lengths))
        self.kernel = self.add_weight(
            shape=self._kernel_shape(channels),
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(*self._lengths_after, self.filters),
                initializer=self.bias_initializer,
                name="bias",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={-1 if self.data_format == "channels_last" else 1: channels})
        self.built = True

    # --- computation --------------------------------------------------------------------------------------------------

    def call(self, inputs: Any) -> Any:
        if self.implementation == 1:
            size, strides = self.kernel_size, self.strides
            outputs = backend.local_conv(inputs, self.kernel, size, strides, self._lengths_after, self.data_format)
        else:
            outputs = self._by_map(inputs)
        if self.bias is not None:
            outputs = backend.bias_add(outputs, self.bias, self.data_format)
        return outputs if self.activation is None else self.activation(outputs)

    def _by_map(self, inputs: Any) -> Any:
        channels = self._split(inputs.get_shape().as_list())[1]
        before, after = self._map_shape(channels)
        size_before, size_after = int(np.prod(before)), int(np.prod(after))
        flat = reshape(inputs, [-1, size_before])
        if self.implementation == 2:
            mask = self._mask().astype(self.kernel.dtype.as_numpy_dtype)
            outputs = matmul(flat, reshape(self.kernel * mask, [size_before, size_after]))
        else:
            weights = SparseTensor(self._pairs, convert_to_tensor(self.kernel), [size_after, size_before])
            outputs = transpose(sparse_tensor_dense_matmul(weights, flat, adjoint_b=True))
        return reshape(outputs, [-1, *after])

    def _mask(self) -> Any:
        """1 where an input lies in an output's window, and 0 elsewhere; to be broadcast to all pairs of elements."""
        mask = np.zeros((*self._lengths, *self._lengths_after))
        for before, after in self._connections():
            mask[(*before, *after)] = 1
        channels = 2 * self.rank, self.rank
        if self.data_format == "channels_first":
            channels = self.rank, 0
        for axis in channels:
            mask = np.expand_dims(mask, axis)
        return mask

    def _connections(self) -> Iterator[Any]:
        """Of each output's position the index of its window in the inputs, cut at the edges."""
        for position in product(*(range(length) for length in self._lengths_after)):
            starts = [
                at * stride - (window // 2 if self.padding == "same" else 0)
                for at, stride, window in zip(position, self.strides, self.kernel_size, strict=True)
            ]
            window = tuple(
                slice(max(start, 0), min(start + size, length))
                for start, size, length in zip(starts, self.kernel_size, self._lengths, strict=True)
            )
            yield window, position

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        lengths, _ = self._split(dims)
        return TensorShape(arranged(dims[0], self._lengths_out(lengths), self.filters, self.data_format))

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
            "implementation": self.implementation,
        }


class LocallyConnected1D(_LocallyConnected):
    """Of [batch, length, channels]. `tf.keras.layers.LocallyConnected1D`."""

    rank = 1


@with_defaults(strides=(1, 1))
class LocallyConnected2D(_LocallyConnected):
    """Of [batch, height, width, channels]. `tf.keras.layers.LocallyConnected2D`."""

    rank = 2
