"""`tf.keras.layers`: other shapes of the same elements. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.window_args import checked_data_format
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_join import stack
from tfexp.ops.array_order import transpose
from tfexp.ops.array_tile import tile


class Flatten(Layer):
    """[batch, …] as [batch, product of the rest]; `channels_first` inputs give the same order as `channels_last` ones."""

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = checked_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        count = inputs.get_shape().ndims
        if self.data_format == "channels_first" and count is not None and count > 1:
            inputs = transpose(inputs, [0, *range(2, count), 1])
        dims = inputs.get_shape()
        if count == 1:
            return expand_dims(inputs, axis=1)
        if count is not None and dims[1:].is_fully_defined():
            # One unknown size may be left to the reshape: the batch's, unless the rest is empty.
            outputs = reshape(inputs, constant(np.array([-1, int(np.prod(dims[1:].as_list()))], np.int32)))
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

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "data_format": self.data_format}


class Reshape(Layer):
    """[batch, …] as [batch, *target_shape], of which one size may be -1: whatever is left. ValueError if they do not fit."""

    def __init__(self, target_shape: Iterable[int], **kwargs: Any):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Any:
        outputs = reshape(inputs, (shape(inputs)[0], *self.target_shape))  # type: ignore[index]
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, *rest = TensorShape(input_shape).as_list()
        if None in rest:
            return TensorShape([batch, *(None if size == -1 else size for size in self.target_shape)])
        return TensorShape([batch, *self._fixed(rest)])

    def _fixed(self, rest: list[Any]) -> list[int]:
        target = list(self.target_shape)
        if target.count(-1) > 1:
            raise ValueError(f"Can only specify one unknown dimension. Received: target_shape={target}")
        known = int(np.prod([size for size in target if size != -1]))
        count = int(np.prod(rest))
        does_fit = count % known == 0 if -1 in target and known else count == known
        if not does_fit:
            raise ValueError(
                f"total size of new array must be unchanged, input_shape = {list(rest)}, output_shape = {target}"
            )
        return [count // known if size == -1 else size for size in target]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "target_shape": self.target_shape}


class Permute(Layer):
    """The dimensions after the batch's in another order: `dims` names them, from 1."""

    def __init__(self, dims: Iterable[int], **kwargs: Any):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in `dims` must be consecutive "
                "and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        return transpose(inputs, [0, *self.dims])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *(sizes[i] for i in self.dims)])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "dims": self.dims}


class RepeatVector(Layer):
    """[batch, features] as [batch, n, features]."""

    def __init__(self, n: int, **kwargs: Any):
        super().__init__(**kwargs)
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        return tile(expand_dims(inputs, 1), stack([1, self.n, 1]))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, features = TensorShape(input_shape).as_list()[:2]  # of a higher rank the rest is left out, as in 1.15
        return TensorShape([batch, self.n, features])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "n": self.n}
