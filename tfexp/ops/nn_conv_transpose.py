"""`tf.nn`'s transposed convolutions, which are the gradients of convolutions for their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.array_join import concat
from tfexp.ops.conv import conv2d_backprop_input_op, conv3d_backprop_input_v2_op
from tfexp.ops.nn_window_args import for_all_dims, is_channels_second, padding_attrs
from tfexp.ops.space_batch import batch_to_space_nd, space_to_batch_nd

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of conv1d with filters [width, out depth, depth]. Source: `tf.nn.conv1d_transpose`."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        second = is_channels_second(data_format, _FORMATS[1])
        data_format, row = ("NCHW", 2) if second else ("NHWC", 1)
        steps = for_all_dims(strides, 1, data_format, "strides")
        rates = for_all_dims(dilations, 1, data_format, "dilations")
        input = expand_dims(input, row)
        filters = expand_dims(filters, 0)
        if not isinstance(output_shape, (list, tuple)):
            output_shape = convert_to_tensor(output_shape)
        sizes = concat([output_shape[:row], [1], output_shape[row:]], 0)
        result = conv2d_backprop_input_op(
            sizes,
            filters,
            input,
            strides=[*steps[:row], 1, *steps[row:]],
            padding=padding,
            data_format=data_format,
            dilations=[*rates[:row], 1, *rates[row:]],
            name=scope,
        )
        return squeeze(result, [row])


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of conv2d with filter [rows, columns, out depth, depth]. Source: `tf.nn.conv2d_transpose`."""
    value = deprecated_argument_lookup("input", input, "value", value)
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format or "NHWC"
        result: Tensor = conv2d_backprop_input_op(
            output_shape,
            filter,
            value,
            strides=for_all_dims(strides, 2, data_format, "strides"),
            data_format=data_format,
            dilations=for_all_dims(dilations, 2, data_format, "dilations"),
            name=scope,
            **padding_attrs(padding),
        )
        return result


def conv3d_transpose(
    value: Any,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """The transpose of conv3d with filter [depth, rows, columns, out, channels]. Source: `tf.nn.conv3d_transpose`."""
    value = deprecated_argument_lookup("input", input, "value", value)
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        data_format = data_format or "NDHWC"
        result: Tensor = conv3d_backprop_input_v2_op(
            output_shape,
            filter,
            value,
            strides=for_all_dims(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=for_all_dims(dilations, 3, data_format, "dilations"),
            name=scope,
        )
        return result


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of convolution over as many dimensions as `output_shape` has but two. TF symbol of this name."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        if hasattr(output_shape, "get_shape"):
            rank = output_shape.get_shape().as_list()[0]
        else:
            rank = len(output_shape)
        if rank is None or rank - 2 not in _FORMATS:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {rank}.")
        transposed: Any = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[rank - 3]
        result: Tensor = transposed(
            input,
            filters,
            output_shape,
            strides,
            padding,
            data_format=data_format or _FORMATS[rank - 2][0],
            dilations=dilations,
            name=scope,
        )
        return result


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of atrous_conv2d; filters are [rows, columns, out depth, depth]. TF symbol of this name."""
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]):
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        depths = value.get_shape().with_rank(4)[3], filters.get_shape().with_rank(4)[3]
        if not depths[0].is_compatible_with(depths[1]):
            raise ValueError(f"value's input channels does not match filters' input channels, {depths[0]} != {depths[1]}")
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding must be either VALID or SAME: {padding}")
        shape_tensor = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        known = static_value(shape_tensor)
        sizes: Any = shape_tensor if known is None else [int(n) for n in known]
        window = filters.get_shape().as_list()[:2]
        if padding == "SAME" and None in window:
            raise ValueError(f"padding='SAME' needs filters of known size. Received: {filters.get_shape()}")
        total = [(n - 1) * rate if padding == "SAME" else 0 for n in window]
        before = [n // 2 for n in total]
        after = [n - b for n, b in zip(total, before, strict=True)]
        # The padded output has to be a whole number of blocks.
        full = [sizes[1 + i] + total[i] for i in range(2)]
        extra = [(rate - n % rate) % rate for n in full]
        blocks = [(n + e) // rate for n, e in zip(full, extra, strict=True)]
        moved = space_to_batch_nd(input=value, paddings=[[0, extra[0]], [0, extra[1]]], block_shape=_block(rate))
        result = conv2d_backprop_input_op(
            [rate * rate * sizes[0], *blocks, filters.get_shape().as_list()[2]],
            filters,
            moved,
            strides=[1, 1, 1, 1],
            padding="VALID",
        )
        crops = [[before[i], after[i] + extra[i]] for i in range(2)]
        restored = batch_to_space_nd(input=result, crops=crops, block_shape=_block(rate))
        if known is not None:
            restored.set_shape([int(n) for n in known])
        return restored  # type: ignore[no-any-return]


def _block(rate: int) -> Any:
    return np.array([rate, rate], np.int64)
