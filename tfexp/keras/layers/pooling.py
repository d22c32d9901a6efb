"""`tf.keras.layers`: pooling over one, two and three dimensions, in windows. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.conv import layout_of
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.window_args import (
    arranged,
    checked_data_format,
    checked_padding,
    normalized,
    spatial_axes,
    window_count,
    with_defaults,
)
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.array_order import transpose
from tfexp.ops.nn_pool import avg_pool, avg_pool3d, max_pool, max_pool3d


class Pooling(Layer):
    """Pooling over `rank` dimensions by `_function`, of [batch, ..., channels]."""

    rank: int
    usual_format: ClassVar[str | None] = None
    _settings: ClassVar[tuple[str, ...]] = ("pool_size", "padding", "strides")
    _function: Callable[..., Tensor]

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.pool_size = normalized(pool_size, self.rank, "pool_size")
        self.strides = self.pool_size if strides is None else normalized(strides, self.rank, "strides")
        self.padding = checked_padding(padding)
        self.data_format = checked_data_format(data_format or self.usual_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _channels_last(self, inputs: Any, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        """Pooling with the channels last, where they are turned to first."""
        turned = self.data_format == "channels_first"
        last = len(sizes) + 1
        if turned:
            inputs = transpose(inputs, [0, *range(2, last + 1), 1])
        pooled = type(self)._function(inputs, [1, *sizes, 1], [1, *strides, 1], self.padding.upper())
        return transpose(pooled, [0, last, *range(1, last)]) if turned else pooled

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        axes = spatial_axes(self.data_format, self.rank)
        lengths = [window_count(dims[axis], self.pool_size[i], self.strides[i], self.padding) for i, axis in enumerate(axes)]
        channels = dims[-1 if self.data_format == "channels_last" else 1]
        return TensorShape(arranged(dims[0], lengths, channels, self.data_format))

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **{setting: getattr(self, setting) for setting in self._settings},
            "data_format": self.data_format,
        }


@with_defaults(data_format="channels_last")
class _Pooling1D(Pooling):
    """Pooling over a dimension, as that of images of width 1."""

    rank = 1
    usual_format = "channels_last"
    _settings = ("strides", "pool_size", "padding")

    def call(self, inputs: Any) -> Any:
        axis = 2 if self.data_format == "channels_last" else 3
        pooled = self._channels_last(expand_dims(inputs, axis), (*self.pool_size, 1), (*self.strides, 1))
        return squeeze(pooled, axis)


@with_defaults(pool_size=(2, 2))
class _Pooling2D(Pooling):
    rank = 2

    def call(self, inputs: Any) -> Any:
        return type(self)._function(
            inputs,
            arranged(1, self.pool_size, 1, self.data_format),
            arranged(1, self.strides, 1, self.data_format),
            self.padding.upper(),
            data_format=layout_of(self.data_format, 2),
        )


@with_defaults(pool_size=(2, 2, 2))
class _Pooling3D(Pooling):
    rank = 3

    def call(self, inputs: Any) -> Any:
        return self._channels_last(inputs, self.pool_size, self.strides)


class MaxPooling1D(_Pooling1D):
    """The largest elements of windows of [batch, length, channels]. `tf.keras.layers.MaxPool1D`."""

    _function = staticmethod(max_pool)


class AveragePooling1D(_Pooling1D):
    """The means of windows of [batch, length, channels]. `tf.keras.layers.AveragePooling1D`."""

    _function = staticmethod(avg_pool)


class MaxPooling2D(_Pooling2D):
    """The largest elements of windows of [batch, height, width, channels]. `tf.keras.layers.MaxPool2D`."""

    _function = staticmethod(max_pool)


class AveragePooling2D(_Pooling2D):
    """The means of windows of [batch, height, width, channels]. `tf.keras.layers.AveragePooling2D`."""

    _function = staticmethod(avg_pool)


class MaxPooling3D(_Pooling3D):
    """The largest elements of windows of [batch, depth, height, width, channels]. `tf.keras.layers.MaxPool3D`."""

    _function = staticmethod(max_pool3d)


class AveragePooling3D(_Pooling3D):
    """The means of windows of [batch, depth, height, width, channels]. `tf.keras.layers.AveragePooling3D`."""

    _function = staticmethod(avg_pool3d)


MaxPool1D, AvgPool1D = MaxPooling1D, AveragePooling1D
MaxPool2D, AvgPool2D = MaxPooling2D, AveragePooling2D
MaxPool3D, AvgPool3D = MaxPooling3D, AveragePooling3D
