"""`tf.nn`'s transposed convolutions, which are the gradients of convolutions for their inputs."""

from __future__ import annotations

from typing import Any

from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.conv import conv2d_backprop_input_op, conv3d_backprop_input_v2_op
from tfexp.ops.nn_window_args import for_all_dims, padding_attrs


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
