"""`tf.keras.layers`: the mean or the maximum of all positions of each channel. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.window_args import checked_data_format, spatial_axes, with_defaults
from tfexp.ops.array import reshape
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_max, reduce_mean, reduce_sum


class _GlobalPooling(Layer):
    """[batch, ..., channels] -> [batch, channels], by `_function`."""

    rank: int
    usual_format: ClassVar[str | None] = None
    _function: Callable[..., Tensor]

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = checked_data_format(data_format or self.usual_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Any) -> Any:
        return type(self)._function(inputs, axis=list(spatial_axes(self.data_format, self.rank)))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        return TensorShape([dims[0], dims[-1 if self.data_format == "channels_last" else 1]])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "data_format": self.data_format}


@with_defaults(data_format="channels_last")
class GlobalMaxPooling1D(_GlobalPooling):
    """The largest of each channel of [batch, length, channels]. `tf.keras.layers.GlobalMaxPool1D`."""

    rank = 1
    usual_format = "channels_last"
    _function = staticmethod(reduce_max)


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean of each channel of [batch, length, channels], over the positions that a mask [batch, length] leaves.

    Source: `tf.keras.layers.GlobalAveragePooling1D`.
    """

    rank = 1
    usual_format = "channels_last"
    _function = staticmethod(reduce_mean)

    def __init__(self, data_format: str = "channels_last", **kwargs: Any):
        super().__init__(data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return super().call(inputs)
        axis = spatial_axes(self.data_format, 1)[0]
        dims = [-1, 1, 1]
        dims[axis] = inputs.get_shape()[axis].value or -1
        if dims.count(-1) > 1:  # of an unknown length: the other axis, of the channels, is put in
            from_mask = cast(mask, backend.floatx())
            weights = from_mask[:, :, None] if axis == 1 else from_mask[:, None, :]
        else:
            weights = reshape(cast(mask, backend.floatx()), dims)
        return reduce_sum(inputs * weights, axis=axis) / reduce_sum(weights, axis=axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """None: there are no positions any more."""
        return


class GlobalMaxPooling2D(_GlobalPooling):
    """The largest of each channel of [batch, height, width, channels]. `tf.keras.layers.GlobalMaxPool2D`."""

    rank = 2
    _function = staticmethod(reduce_max)


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean of each channel of [batch, height, width, channels]. `tf.keras.layers.GlobalAveragePooling2D`."""

    rank = 2
    _function = staticmethod(reduce_mean)


class GlobalMaxPooling3D(_GlobalPooling):
    """The largest of each channel of [batch, depth, height, width, channels]. `tf.keras.layers.GlobalMaxPool3D`."""

    rank = 3
    _function = staticmethod(reduce_max)


class GlobalAveragePooling3D(_GlobalPooling):
    """The mean of each channel of [batch, depth, height, width, channels]. `tf.keras.layers.GlobalAveragePooling3D`."""

    rank = 3
    _function = staticmethod(reduce_mean)


GlobalMaxPool1D, GlobalAvgPool1D = GlobalMaxPooling1D, GlobalAveragePooling1D
GlobalMaxPool2D, GlobalAvgPool2D = GlobalMaxPooling2D, GlobalAveragePooling2D
GlobalMaxPool3D, GlobalAvgPool3D = GlobalMaxPooling3D, GlobalAveragePooling3D
