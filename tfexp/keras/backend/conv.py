"""Convolutions. Source: `tf.keras.backend`, TF 1.15.

`data_format` is 'channels_last' or 'channels_first' (None: the configured one), `padding` 'valid' or 'same' (of `conv1d`,
'causal' too); ValueError for anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import known_data_format
from tfexp.keras.backend.shapes import temporal_padding
from tfexp.ops import array, nn_conv, nn_conv_transpose
from tfexp.ops.array_join import stack
from tfexp.ops.array_order import transpose


def layout_of(data_format: str, count: int) -> str:
    """What `tf.nn` calls a layout with so many spatial axes, 1 to 3: NWC, NCHW, NDHWC, …"""
    letters = {1: "W", 2: "HW", 3: "DHW"}[count]
    return f"N{letters}C" if data_format == "channels_last" else f"NC{letters}"


def known_padding(padding: str) -> str:
    """'same' or 'valid' in TensorFlow's spelling. ValueError for another."""
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def known_sizes(values: Any, count: int, name: str) -> tuple[int, ...]:
    """One number for all axes, or so many. ValueError for another count."""
    sizes = (values,) * count if isinstance(values, int) else tuple(values)
    if len(sizes) != count:
        raise ValueError(f"`{name}` must be a tuple of {count} integers.")
    return sizes


def all_axes(values: Sequence[int], layout: str) -> list[int]:
    """Of the spatial axes, with ones for the others."""
    return [1, 1, *values] if layout[1] == "C" else [1, *values, 1]


def conv1d(
    x: Any, kernel: Any, strides: int = 1, padding: str = "valid", data_format: str | None = None, dilation_rate: int = 1
) -> Tensor:
    """Over one axis; the kernel is [width, channels, filters]. 'causal': each output sees only inputs up to its place."""
    data_format = known_data_format(data_format)
    kernel = convert_to_tensor(kernel)
    if padding == "causal":
        before = dilation_rate * (kernel.shape.as_list()[0] - 1)
        if data_format == "channels_first":
            x = transpose(temporal_padding(transpose(x, [0, 2, 1]), (before, 0)), [0, 2, 1])
        else:
            x = temporal_padding(x, (before, 0))
        padding = "valid"
    return _convolution(x, kernel, (strides,), padding, data_format, (dilation_rate,))


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Over images; the kernel is [rows, columns, channels, filters]."""
    return _convolution(x, kernel, strides, padding, known_data_format(data_format), dilation_rate)


def conv3d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Tensor:
    """Over volumes; the kernel is [depth, rows, columns, channels, filters]."""
    return _convolution(x, kernel, strides, padding, known_data_format(data_format), dilation_rate)


def _convolution(x: Any, kernel: Any, strides: Any, padding: str, data_format: str, dilation_rate: Any) -> Tensor:
    kernel = convert_to_tensor(kernel)
    count = len(kernel.shape.as_list()) - 2
    return nn_conv.convolution(
        x,
        kernel,
        known_padding(padding),
        strides=known_sizes(strides, count, "strides"),
        dilation_rate=known_sizes(dilation_rate, count, "dilation_rate"),
        data_format=layout_of(data_format, count),
    )


def _with_batch(x: Any, output_shape: Any) -> Any:
    """The shape that an output is to have, with the batch's size where that is not known."""
    if isinstance(output_shape, (list, tuple)):
        sizes = [array.shape(x)[0] if output_shape[0] is None else output_shape[0], *output_shape[1:]]  # type: ignore[index]
        return stack(sizes)
    return output_shape


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """The transpose of `conv2d`: an output of `output_shape`; the kernel is [rows, columns, filters, channels].

    ValueError for two different dilation rates.
    """
    data_format = known_data_format(data_format)
    layout = layout_of(data_format, 2)
    how = known_padding(padding)
    steps, rates = known_sizes(strides, 2, "strides"), known_sizes(dilation_rate, 2, "dilation_rate")
    x = convert_to_tensor(x)
    if rates == (1, 1):
        sizes = _with_batch(x, output_shape)
        return nn_conv_transpose.conv2d_transpose(x, kernel, sizes, all_axes(steps, layout), how, data_format=layout)
    if rates[0] != rates[1]:
        raise ValueError(f"Expected the 2 dimensions of the `dilation_rate` argument to be equal to each other. Got {rates}")
    if layout == "NCHW":
        x = transpose(x, [0, 2, 3, 1])
        output_shape = [output_shape[i] for i in (0, 2, 3, 1)]
    made = nn_conv_transpose.atrous_conv2d_transpose(x, kernel, _with_batch(x, output_shape), rates[0], how)
    return transpose(made, [0, 3, 1, 2]) if layout == "NCHW" else made


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The transpose of `conv3d`: an output of `output_shape`."""
    layout = layout_of(known_data_format(data_format), 3)
    x = convert_to_tensor(x)
    steps = all_axes(known_sizes(strides, 3, "strides"), layout)
    sizes = _with_batch(x, output_shape)
    return nn_conv_transpose.conv3d_transpose(x, kernel, sizes, steps, known_padding(padding), data_format=layout)


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Each channel with filters of its own: [rows, columns, channels, filters of each]."""
    layout = layout_of(known_data_format(data_format), 2)
    steps = all_axes(known_sizes(strides, 2, "strides"), layout)
    rates = known_sizes(dilation_rate, 2, "dilation_rate")
    return nn_conv.depthwise_conv2d(x, depthwise_kernel, steps, known_padding(padding), rates, data_format=layout)


def separable_conv1d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """Over one axis: each channel by itself, then a mix. Kernels [width, channels, n] and [1, channels * n, filters]."""
    data_format = known_data_format(data_format)
    axis = 2 if data_format == "channels_first" else 1
    (step,), (rate,) = known_sizes(strides, 1, "strides"), known_sizes(dilation_rate, 1, "dilation_rate")
    made = separable_conv2d(
        array.expand_dims(x, axis),
        array.expand_dims(depthwise_kernel, 0),
        array.expand_dims(pointwise_kernel, 0),
        (step, step),
        padding,
        data_format,
        (1, rate),
    )
    return array.squeeze(made, [axis])


def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Each channel by itself, then a mix. Kernels [rows, columns, channels, n] and [1, 1, channels * n, filters]."""
    layout = layout_of(known_data_format(data_format), 2)
    steps = all_axes(known_sizes(strides, 2, "strides"), layout)
    rates = known_sizes(dilation_rate, 2, "dilation_rate")
    how = known_padding(padding)
    return nn_conv.separable_conv2d(x, depthwise_kernel, pointwise_kernel, steps, how, rates, data_format=layout)
