"""`tf.nn`'s convolutions: one to three dimensions, dilated, depthwise and separable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, shape, squeeze
from tfexp.ops.conv import (
    conv2d_op,
    conv3d_op,
)
from tfexp.ops.conv_depthwise import depthwise_op
from tfexp.ops.nn_dilated import with_space_to_batch
from tfexp.ops.nn_window_args import for_all_dims, is_channels_second, padding_attrs, steps_and_rates
from tfexp.ops.windows import channels_second

_ONES = (1, 1, 1, 1)
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Tensor:
    """value [batch, width, depth] with filters [width, depth, out depth], as Conv2D of one row. Source: `tf.nn.conv1d`."""
    value = deprecated_argument_lookup("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        # TensorFlow also takes the names that the images of one row have.
        second = is_channels_second(data_format, _FORMATS[2] if data_format in _FORMATS[2] else _FORMATS[1])
        data_format = "NCHW" if second else "NHWC"
        row = -2 if second else -3
        strides = [1, *for_all_dims(stride, 1, data_format, "stride")]
        rates = [1, *for_all_dims(dilations, 1, data_format, "dilations")]
        if second:
            strides, rates = ([v[1], v[2], v[0], v[3]] for v in (strides, rates))
        rows = expand_dims(value, row)
        result = conv2d_op(
            rows,
            expand_dims(filters, 0),
            strides=strides,
            padding=padding,
            use_cudnn_on_gpu=use_cudnn_on_gpu is not False,
            data_format=data_format,
            dilations=rates,
            name=scope,
        )
        return squeeze(result, [row])


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = _ONES,
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """input [batch, rows, columns, depth] with filter [rows, columns, depth, out depth]. Source: `tf.nn.conv2d`.

    `padding` is SAME, VALID or the pairs for all dimensions. Raises ValueError where shapes do not fit.
    """
    data_format = data_format or "NHWC"
    result: Tensor = conv2d_op(
        input,
        deprecated_argument_lookup("filters", filters, "filter", filter),
        strides=for_all_dims(strides, 2, data_format, "strides"),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=for_all_dims(dilations, 2, data_format, "dilations"),
        name=name,
        **padding_attrs(padding),
    )
    return result


def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Tensor:
    """input [batch, depth, rows, columns, channels] with filter [depth, rows, columns, channels, out]. `tf.nn.conv3d`."""
    result: Tensor = conv3d_op(
        input,
        deprecated_argument_lookup("filters", filters, "filter", filter),
        strides=for_all_dims(strides, 3, data_format, "strides"),
        padding=padding,
        data_format=data_format,
        dilations=for_all_dims(dilations, 3, data_format, "dilations"),
        name=name,
    )
    return result


# --- any number of dimensions, dilated --------------------------------------------------------------------------------


def convolution(
    input: Any,
    filter: Any,
    padding: str,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """Convolution over one to three dimensions, strided or dilated. Source: `tf.nn.convolution`.

    ValueError when both are asked for, or when ranks do not fit.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    dilation_rate = deprecated_argument_lookup("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, filter]) as scope:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(filter, name="filter")
        count = _spatial_rank(input, filter)
        steps, rates = steps_and_rates(count, strides, dilation_rate)
        last, second = _FORMATS[count]
        used = second if is_channels_second(data_format, _FORMATS[count]) else last

        def convolve(x: Tensor, _: int, how: str) -> Tensor:
            if count == 1:
                return conv1d(x, filter, steps, how, data_format=used, name=scope)
            return (conv2d if count == 2 else conv3d)(x, filter, steps, how, data_format=used, name=scope)

        if all(rate == 1 for rate in rates):
            return convolve(input, count, padding)
        known = filter.get_shape()
        window = known if known.is_fully_defined() else shape(filter)
        return with_space_to_batch(input, rates, padding, convolve, window, data_format=used)


def _spatial_rank(input: Tensor, filter: Tensor) -> int:
    rank = filter.get_shape().ndims if filter.get_shape().ndims is not None else input.get_shape().ndims
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    if rank - 2 not in _FORMATS:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    if input.get_shape().ndims not in (None, rank):
        raise ValueError(f"`input` must have rank {rank}, as `filter` has. Received: shape {input.get_shape()}")
    return rank - 2


def atrous_conv2d(value: Any, filters: Any, rate: Any, padding: str, name: str | None = None) -> Tensor:
    """conv2d with `rate` - 1 holes between the filter's rows and columns. Source: `tf.nn.atrous_conv2d`."""
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


# --- depthwise --------------------------------------------------------------------------------------------------------


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    dilations: Any = _ONES,
    name: str | None = None,
) -> Tensor:
    """Each channel with its own filters [rows, columns, depth, multiplier], as one node. TF symbol of this name."""
    result: Tensor = depthwise_op(
        input,
        filter,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )
    return result


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Each channel with its own filters [rows, columns, depth, multiplier], dilated by `rate`. TF symbol of this name."""
    rate = deprecated_argument_lookup("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return _dilated_depthwise(input, filter, strides, padding, rate, data_format, scope)


def _dilated_depthwise(
    input: Tensor, filter: Tensor, strides: Any, padding: str, rate: Any, data_format: str | None, name: str
) -> Tensor:
    rates = [1, 1] if rate is None else rate

    def convolve(x: Tensor, _: int, how: str) -> Tensor:
        return depthwise_conv2d_native(x, filter, strides, how, data_format or "NHWC", name=name)

    return with_space_to_batch(input, rates, padding, convolve, shape(filter), data_format=data_format)


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Depthwise convolution, then a 1 x 1 convolution that mixes the channels. Source: `tf.nn.separable_conv2d`."""
    rate = deprecated_argument_lookup("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        dims = pointwise_filter.get_shape().with_rank(4).dims
        assert dims is not None
        dims[0].assert_is_compatible_with(1)
        dims[1].assert_is_compatible_with(1)
        channels = _dilated_depthwise(input, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        result: Tensor = conv2d_op(
            channels,
            pointwise_filter,
            strides=list(_ONES),
            padding="VALID",
            data_format="NCHW" if channels_second(data_format or "NHWC") else "NHWC",
            name=scope,
        )
        return result
