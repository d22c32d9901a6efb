"""Generalised divisive normalisation (Ballé, Laparra and Simoncelli 2015). Source: `tf.contrib.layers.GDN`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.tensor import Tensor
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.layers.base import Layer
from tfexp.ops.array import reshape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal, less
from tfexp.ops.diagonal import matrix_diag
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_unary import sqrt, square
from tfexp.ops.logical import logical_or
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import convolution


@custom_gradient
def _at_least(x: Any, bound: Any) -> Any:
    """max(x, bound), whose gradient also comes through where it would bring x back above the bound."""

    def gradient(slope: Any) -> Any:
        passes = logical_or(greater_equal(x, bound), less(slope, constant(0, slope.dtype)))
        return cast(passes, slope.dtype) * slope, None

    return maximum(x, bound), gradient


class GDN(Layer):
    """y[i] = x[i] / sqrt(beta[i] + sum_j gamma[j, i] x[j]²) over channels; inverse: times instead of over the root.

    beta, at least `beta_min`, and gamma, at least 0 and `gamma_init` times the identity at first, are squares of what is
    learned less `reparam_offset`², so that steps become small towards 0. Inputs have 3 to 5 dimensions.
    ValueError where the number of channels is not known, and for another `data_format` than channels_first and
    channels_last.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        if data_format not in ("channels_first", "channels_last"):
            raise ValueError(f"Unknown data_format: {data_format!r}: it is channels_first or channels_last")
        self.inverse, self.data_format = inverse, data_format
        self._beta_min, self._gamma_init, self._offset = beta_min, gamma_init, reparam_offset
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    @property
    def _axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        channels = shape.dims[self._axis].value  # type: ignore[index]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5, axes={self._axis: channels})
        pedestal = constant(self._offset**2, self.dtype)

        def learned(name: str, shape: list[int], initial: Any, least: float) -> Any:
            """The square of a variable, less the pedestal; its gradient never vanishes at `least`."""
            variable = self.add_weight(
                name, shape, initializer=lambda *given, **_: sqrt(initial(shape) + pedestal), trainable=True
            )
            root = _at_least(variable, constant((least + self._offset**2) ** 0.5, self.dtype))
            return square(root) - pedestal

        def identity(shape: list[int]) -> Any:
            return constant(self._gamma_init, self.dtype) * matrix_diag(_ones(shape[:1], self.dtype))

        self.beta = learned("reparam_beta", [channels], lambda shape: _ones(shape, self.dtype), self._beta_min)
        self.gamma = learned("reparam_gamma", [channels, channels], identity, 0.0)
        self.built = True

    def call(self, inputs: Any) -> Tensor:
        rank = inputs.get_shape().ndims
        kernel = reshape(self.gamma, [1] * (rank - 2) + self.gamma.get_shape().as_list())
        formats = {"channels_last": ("NWC", "NHWC", "NDHWC"), "channels_first": ("NCW", "NCHW", "NCDHW")}
        layout = formats[self.data_format][rank - 3]
        norm: Any = convolution(square(inputs), kernel, "VALID", data_format=layout)
        norm = bias_add(norm, self.beta, data_format="NCHW" if self.data_format == "channels_first" else "NHWC")
        root: Any = sqrt(norm)
        result: Tensor = inputs * root if self.inverse else inputs / root
        return result

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        return TensorShape(input_shape)


def _ones(shape: list[int], dtype: Any) -> Any:
    return ones_like(constant(0, dtypes.as_dtype(dtype), shape))


def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Tensor:
    """`GDN` as a function; reuse: whether it has the variables of another layer of that name."""
    layer = GDN(
        inverse,
        beta_min,
        gamma_init,
        reparam_offset,
        data_format,
        activity_regularizer,
        trainable,
        name,
        dtype=inputs.dtype.base_dtype,
        _scope=name,
        _reuse=reuse,
    )
    result: Tensor = layer.apply(inputs)
    return result
