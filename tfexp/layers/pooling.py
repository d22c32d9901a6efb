"""`tf.layers`: pooling over one, two and three dimensions: Keras's, with strides to be given. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.keras.layers import pooling
from tfexp.layers.base import Layer


class _Pooling(pooling.Pooling, Layer):
    """What it is by default: channels last."""

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class MaxPooling1D(_Pooling, pooling.MaxPooling1D):
    """The largest elements of windows of [batch, length, channels]. `tf.layers.MaxPooling1D`."""


class MaxPooling2D(_Pooling, pooling.MaxPooling2D):
    """The largest elements of windows of [batch, height, width, channels]. `tf.layers.MaxPooling2D`."""


class MaxPooling3D(_Pooling, pooling.MaxPooling3D):
    """The largest elements of windows of [batch, depth, height, width, channels]. `tf.layers.MaxPooling3D`."""


class AveragePooling1D(_Pooling, pooling.AveragePooling1D):
    """The means of windows of [batch, length, channels]. `tf.layers.AveragePooling1D`."""


class AveragePooling2D(_Pooling, pooling.AveragePooling2D):
    """The means of windows of [batch, height, width, channels]. `tf.layers.AveragePooling2D`."""


class AveragePooling3D(_Pooling, pooling.AveragePooling3D):
    """The means of windows of [batch, depth, height, width, channels]. `tf.layers.AveragePooling3D`."""


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
