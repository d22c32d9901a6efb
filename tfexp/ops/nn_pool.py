"""`tf.nn`'s pooling functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.nn_dilated import with_space_to_batch
from tfexp.ops.nn_window_args import for_all_dims, is_channels_second, steps_and_rates
from tfexp.ops.pool import avg_pool3d_op, avg_pool_op, max_pool3d_op, max_pool_op
from tfexp.ops.pool_argmax import max_pool_with_argmax_op
from tfexp.ops.windows import channels_second

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _pool2d(
    op: Any, value: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None, name: str | None, default: str
) -> Tensor:
    with name_scope(name, default, [value]) as scope:
        data_format = data_format or "NHWC"
        result: Tensor = op(
            convert_to_tensor(value, name="value" if op is avg_pool_op else "input"),
            ksize=for_all_dims(ksize, 2, data_format, "ksize"),
            strides=for_all_dims(strides, 2, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )
        return result


def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The largest element of each window of images [batch, rows, columns, depth]. Source: `tf.nn.max_pool`."""
    value = deprecated_argument_lookup("input", input, "value", value)
    if 0 in np.ravel(ksize):
        raise ValueError("ksize cannot be zero.")
    return _pool2d(max_pool_op, value, ksize, strides, padding, data_format, name, "MaxPool")


def max_pool2d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """`max_pool` under its other name. Source: `tf.nn.max_pool2d`."""
    return _pool2d(max_pool_op, input, ksize, strides, padding, data_format, name, "MaxPool2d")


def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The mean of each window of images [batch, rows, columns, depth]. Source: `tf.nn.avg_pool`."""
    value = deprecated_argument_lookup("input", input, "value", value)
    return _pool2d(avg_pool_op, value, ksize, strides, padding, data_format, name, "AvgPool")


avg_pool2d = avg_pool


def _pool3d(
    op: Any, value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None, default: str
) -> Tensor:
    with name_scope(name, default, [value]) as scope:
        data_format = data_format or "NDHWC"
        result: Tensor = op(
            value,
            ksize=for_all_dims(ksize, 3, data_format, "ksize"),
            strides=for_all_dims(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            name=scope,
        )
        return result


def max_pool3d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """The largest element of each window of volumes. Source: `tf.nn.max_pool3d`."""
    return _pool3d(max_pool3d_op, input, ksize, strides, padding, data_format, name, "MaxPool3D")


def avg_pool3d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NDHWC", name: str | None = None
) -> Tensor:
    """The mean of each window of volumes. Source: `tf.nn.avg_pool3d`."""
    return _pool3d(avg_pool3d_op, input, ksize, strides, padding, data_format, name, "AvgPool3D")


def _pool1d(
    op: Any, value: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None, default: str
) -> Tensor:
    with name_scope(name, default, [value]) as scope:
        second = is_channels_second(data_format, _FORMATS[1])
        data_format, row = ("NCHW", 2) if second else ("NHWC", 1)
        sizes = for_all_dims(ksize, 1, data_format, "ksize")
        steps = for_all_dims(strides, 1, data_format, "strides")
        result = op(
            expand_dims(value, row),
            ksize=[*sizes[:row], 1, *sizes[row:]],
            strides=[*steps[:row], 1, *steps[row:]],
            padding=padding,
            data_format=data_format,
            name=scope,
        )
        return squeeze(result, row)


def max_pool1d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """The largest element of each window of sequences [batch, width, depth]. Source: `tf.nn.max_pool1d`."""
    return _pool1d(max_pool_op, input, ksize, strides, padding, data_format, name, "MaxPool1d")


def avg_pool1d(
    input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """The mean of each window of sequences [batch, width, depth]. Source: `tf.nn.avg_pool1d`."""
    return _pool1d(avg_pool_op, input, ksize, strides, padding, data_format, name, "AvgPool1D")


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:
    """(maxima, flat indices of the first of them). Source: `tf.nn.max_pool_with_argmax`."""
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    index_type = deprecated_argument_lookup("output_dtype", output_dtype, "Targmax", Targmax)
    result: tuple[Tensor, Tensor] = max_pool_with_argmax_op(
        input,
        ksize=for_all_dims(ksize, 2, data_format, "ksize"),
        strides=for_all_dims(strides, 2, data_format, "strides"),
        padding=padding,
        Targmax=dtypes.int64 if index_type is None else index_type,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )
    return result


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:
    """Pooling ("AVG" or "MAX") over one to three dimensions, strided or dilated. Source: `tf.nn.pool`."""
    dilation_rate = deprecated_argument_lookup("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        count = len(window_shape)
        input.get_shape().with_rank(count + 2)
        steps, rates = steps_and_rates(count, strides, dilation_rate)
        if padding == "SAME" and any(r > 1 for r in rates):
            raise ValueError(
                "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
                f"padding={padding} and dilation_rate={rates}"
            )
        functions: dict[Any, Any] = {
            (1, "MAX"): max_pool1d,
            (1, "AVG"): avg_pool1d,
            (2, "MAX"): max_pool,
            (2, "AVG"): avg_pool,
            (3, "MAX"): max_pool3d,
            (3, "AVG"): avg_pool3d,
        }
        function = functions.get((count, pooling_type))
        if function is None:
            raise ValueError(f"{count}-D {pooling_type} pooling is not supported.")
        used = _FORMATS[count][channels_second(data_format or "N")]

        def windowed(x: Tensor, _: int, how: str) -> Tensor:
            result: Tensor = function(x, list(window_shape), steps, how, data_format=used, name=scope)
            return result

        return with_space_to_batch(input, rates, padding, windowed, window_shape, data_format=used)
