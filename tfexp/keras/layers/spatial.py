"""`tf.keras.layers`: sequences, images and volumes made larger or smaller: repeated, padded, cut. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.window_args import arranged, checked_data_format, margins, normalized, spatial_axes, with_defaults
from tfexp.ops.array_pad import pad


class _Spatial(Layer):
    """A layer that changes the `rank` lengths of [batch, ..., channels] and nothing else."""

    rank: int

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = checked_data_format("channels_last" if self.rank == 1 else data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axes(self) -> range:
        return spatial_axes(self.data_format, self.rank)

    def _length(self, size: int, index: int) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not say how long its outputs are")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        for index, axis in enumerate(self._axes()):
            size = dims[axis]
            dims[axis] = None if size is None else self._length(size, index)
        return TensorShape(dims)

    def _settings(self) -> dict[str, Any]:
        """What its config says besides the layout, and before it."""
        return {}

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), **self._settings()}
        return config if self.rank == 1 else {**config, "data_format": self.data_format}


# --- larger by whole factors ------------------------------------------------------------------------------------------


class _UpSampling(_Spatial):
    """Each element `size` times in each dimension."""

    def __init__(self, size: Any = 2, data_format: str | None = None, **kwargs: Any):
        super().__init__(data_format, **kwargs)
        self.size = normalized(size, self.rank, "size")

    def _length(self, size: int, index: int) -> int:
        return size * self.size[index]

    def call(self, inputs: Any) -> Any:
        outputs = inputs
        for times, axis in zip(self.size, self._axes(), strict=True):
            outputs = backend.repeat_elements(outputs, times, axis)
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return outputs

    def _settings(self) -> dict[str, Any]:
        return {"size": self.size}


class UpSampling1D(_UpSampling):
    """Each step of [batch, length, channels] `size` times. `tf.keras.layers.UpSampling1D`."""

    rank = 1

    def __init__(self, size: int = 2, **kwargs: Any):
        super().__init__(int(size), **kwargs)

    def _settings(self) -> dict[str, Any]:
        return {"size": self.size[0]}


class UpSampling2D(_UpSampling):
    """[batch, height, width, channels] `size` times as large, by `nearest` or `bilinear`. TF symbol of this name."""

    rank = 2

    def __init__(self, size: Any = (2, 2), data_format: str | None = None, interpolation: str = "nearest", **kwargs: Any):
        super().__init__(size, data_format, **kwargs)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError('`interpolation` argument should be one of `"nearest"` or `"bilinear"`.')
        self.interpolation = interpolation

    def call(self, inputs: Any) -> Any:
        rows, columns = self.size
        return backend.resize_images(inputs, rows, columns, self.data_format, self.interpolation)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "interpolation": self.interpolation}


@with_defaults(size=(2, 2, 2))
class UpSampling3D(_UpSampling):
    """Each element of [batch, depth, height, width, channels] `size` times. `tf.keras.layers.UpSampling3D`."""

    rank = 3


# --- more at the edges ------------------------------------------------------------------------------------------------


class _ZeroPadding(_Spatial):
    """Zeros before and after in each dimension: one number, one for each dimension, or a pair for each."""

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any):
        super().__init__(data_format, **kwargs)
        self.padding: Any = margins(padding, self.rank, "padding")

    def _margins(self) -> Any:
        return self.padding

    def _length(self, size: int, index: int) -> int:
        return size + sum(self._margins()[index])

    def call(self, inputs: Any) -> Any:
        return pad(inputs, arranged([0, 0], [list(pair) for pair in self._margins()], [0, 0], self.data_format))

    def _settings(self) -> dict[str, Any]:
        return {"padding": self.padding}


class ZeroPadding1D(_ZeroPadding):
    """Zero steps before and after those of [batch, length, channels]. `tf.keras.layers.ZeroPadding1D`."""

    rank = 1

    def __init__(self, padding: Any = 1, **kwargs: Any):
        super().__init__(**kwargs)
        self.padding = normalized(padding, 2, "padding")

    def _margins(self) -> Any:
        return (self.padding,)


@with_defaults(padding=(1, 1))
class ZeroPadding2D(_ZeroPadding):
    """Zeros around [batch, height, width, channels]. `tf.keras.layers.ZeroPadding2D`."""

    rank = 2


@with_defaults(padding=(1, 1, 1))
class ZeroPadding3D(_ZeroPadding):
    """Zeros around [batch, depth, height, width, channels]. `tf.keras.layers.ZeroPadding3D`."""

    rank = 3


# --- less at the edges ------------------------------------------------------------------------------------------------


class _Cropping(_Spatial):
    """Without so many elements before and after in each dimension: one number, one for each, or a pair for each."""

    def __init__(self, cropping: Any = 0, data_format: str | None = None, **kwargs: Any):
        super().__init__(data_format, **kwargs)
        self.cropping: Any = margins(cropping, self.rank, "cropping")

    def _margins(self) -> Any:
        return self.cropping

    def _length(self, size: int, index: int) -> int:
        return size - sum(self._margins()[index])

    def call(self, inputs: Any) -> Any:
        kept = [slice(before, -after if after else None) for before, after in self._margins()]
        whole = slice(None)
        return inputs[tuple(arranged(whole, kept, whole, self.data_format))]

    def _settings(self) -> dict[str, Any]:
        return {"cropping": self.cropping}


class Cropping1D(_Cropping):
    """Without the first and last steps of [batch, length, channels]. `tf.keras.layers.Cropping1D`."""

    rank = 1

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any):
        super().__init__(**kwargs)
        self.cropping = normalized(cropping, 2, "cropping")

    def _margins(self) -> Any:
        return (self.cropping,)


@with_defaults(cropping=((0, 0), (0, 0)))
class Cropping2D(_Cropping):
    """Without the edges of [batch, height, width, channels]. `tf.keras.layers.Cropping2D`."""

    rank = 2


class Cropping3D(_Cropping):
    """Without the edges of [batch, depth, height, width, channels]. `tf.keras.layers.Cropping3D`."""

    rank = 3

    def __init__(self, cropping: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs: Any):
        super().__init__(cropping, data_format, **kwargs)
