"""`tf.layers`: pooling over one, two and three dimensions. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.layers.base import InputSpec, Layer, normalized
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.array_order import transpose
from tfexp.ops.nn_pool import avg_pool, avg_pool3d, max_pool, max_pool3d


def checked_data_format(value: str) -> str:
    """`channels_last` or `channels_first`. ValueError for anything else."""
    if value.lower() not in ("channels_last", "channels_first"):
        raise ValueError(f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {value}')
    return value.lower()


def checked_padding(value: str) -> str:
    """`valid` or `same`. ValueError for anything else."""
    if value.lower() not in ("valid", "same"):
        raise ValueError(f'The `padding` argument must be a list/tuple or one of "valid", "same". Received: {value}')
    return value.lower()


class _Pooling(Layer):
    """Pooling over `_count` dimensions by `_function`."""

    _count: int
    _function: Callable[..., Tensor]

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.pool_size = normalized(pool_size, self._count, "pool_size")
        self.strides = self.pool_size if strides is None else normalized(strides, self._count, "strides")
        self.padding, self.data_format = checked_padding(padding), checked_data_format(data_format)
        self.input_spec = InputSpec(ndim=self._count + 2)

    def _whole(self, sizes: tuple[int, ...]) -> list[int]:
        return [1, *sizes, 1] if self.data_format == "channels_last" else [1, 1, *sizes]

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        letters = "DHW"[3 - self._count :]
        layout = f"N{letters}C" if self.data_format == "channels_last" else f"NC{letters}"
        return type(self)._function(
            inputs, self._whole(self.pool_size), self._whole(self.strides), self.padding.upper(), data_format=layout
        )

    def _channels_last(self, inputs: Any, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
        """Pooling with the channels last, where they are turned to first."""
        turned = self.data_format == "channels_first"
        last = len(sizes) + 1
        if turned:
            inputs = transpose(inputs, [0, *range(2, last + 1), 1])
        pooled = type(self)._function(inputs, [1, *sizes, 1], [1, *strides, 1], self.padding.upper())
        return transpose(pooled, [0, last, *range(1, last)]) if turned else pooled


class _Pooling1D(_Pooling):
    """Pooling over a dimension, as that of images of width 1."""

    _count = 1

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        axis = 2 if self.data_format == "channels_last" else 3
        pooled = self._channels_last(expand_dims(inputs, axis), (*self.pool_size, 1), (*self.strides, 1))
        return squeeze(pooled, axis)


class _Pooling3D(_Pooling):
    _count = 3

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        return self._channels_last(inputs, self.pool_size, self.strides)


class MaxPooling1D(_Pooling1D):
    """The largest elements of windows of [batch, length, channels]. `tf.layers.MaxPooling1D`."""

    _function = staticmethod(max_pool)


class AveragePooling1D(_Pooling1D):
    """The means of windows of [batch, length, channels]. `tf.layers.AveragePooling1D`."""

    _function = staticmethod(avg_pool)


class MaxPooling2D(_Pooling):
    """The largest elements of windows of [batch, height, width, channels]. `tf.layers.MaxPooling2D`."""

    _count = 2
    _function = staticmethod(max_pool)


class AveragePooling2D(_Pooling):
    """The means of windows of [batch, height, width, channels]. `tf.layers.AveragePooling2D`."""

    _count = 2
    _function = staticmethod(avg_pool)


class MaxPooling3D(_Pooling3D):
    """The largest elements of windows of [batch, depth, height, width, channels]. `tf.layers.MaxPooling3D`."""

    _function = staticmethod(max_pool3d)


class AveragePooling3D(_Pooling3D):
    """The means of windows of [batch, depth, height, width, channels]. `tf.layers.AveragePooling3D`."""

    _function = staticmethod(avg_pool3d)


def _unshared(layer_class: type, name: str) -> Callable[..., Any]:
    """Pooling has no variables, and its functions no `reuse`."""

    def pool(
        inputs: Any,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
    ) -> Any:
        return layer_class(pool_size, strides, padding, data_format, name=name).apply(inputs)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = layer_class.__doc__
    return pool


max_pooling1d = _unshared(MaxPooling1D, "max_pooling1d")
max_pooling2d = _unshared(MaxPooling2D, "max_pooling2d")
max_pooling3d = _unshared(MaxPooling3D, "max_pooling3d")
average_pooling1d = _unshared(AveragePooling1D, "average_pooling1d")
average_pooling2d = _unshared(AveragePooling2D, "average_pooling2d")
average_pooling3d = _unshared(AveragePooling3D, "average_pooling3d")
