"""Convolutions whose kernel differs from place to place. Source: `tf.keras.backend.local_conv2d`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import known_data_format
from tfexp.ops import array
from tfexp.ops.array_gather import gather
from tfexp.ops.array_order import transpose
from tfexp.ops.initializers import known_dims
from tfexp.ops.matmul import matmul


def local_conv1d(inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None) -> Tensor:
    """Over one axis; the kernel is [places, width * channels, filters]. ValueError for an unknown `data_format`."""
    places = known_dims(convert_to_tensor(kernel).shape)[0]
    return local_conv(inputs, kernel, kernel_size, strides, (places,), data_format)


def local_conv2d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, output_shape: Any, data_format: str | None = None
) -> Tensor:
    """Over images; the kernel is [places, rows * columns * channels, filters], `output_shape` the places each way."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


def local_conv(
    inputs: Any,
    kernel: Any,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Tensor:
    """Without padding: `output_shape` places, `strides` apart, each seeing `kernel_size` inputs.

    What a place sees is one row, in the order of its axes as the inputs have them ('channels_first': the channels first).
    """
    first = known_data_format(data_format) == "channels_first"
    x, kernel = convert_to_tensor(inputs), convert_to_tensor(kernel)
    count = len(output_shape)
    channels = known_dims(x.shape[1 if first else -1 :])[0]
    # Each spatial axis becomes two, places and what each of them sees: [batch, places, seen, places, seen, channels].
    for i in reversed(range(count)):
        seen = np.arange(output_shape[i])[:, None] * strides[i] + np.arange(kernel_size[i])[None, :]
        x = gather(x, seen.astype(np.int32), axis=i + (2 if first else 1))
    start = 2 if first else 1
    channel_axis = 1 if first else 2 * count + 1
    places = [start + 2 * i for i in range(count)]
    windows = [start + 2 * i + 1 for i in range(count)]
    row = [channel_axis, *windows] if first else [*windows, channel_axis]
    rows = transpose(x, [*places, 0, *row])
    total, width = int(np.prod(output_shape)), int(np.prod(kernel_size)) * channels
    # [places, batch, width] x [places, width, filters]
    product = matmul(array.reshape(rows, [total, -1, width]), kernel)
    filters = kernel.shape.as_list()[-1]
    batch_last = array.reshape(product, [*output_shape, -1, filters])
    order = [count, count + 1, *range(count)] if first else [count, *range(count), count + 1]
    result = transpose(batch_last, order)
    result.set_shape([inputs.shape[0], *([filters, *output_shape] if first else [*output_shape, filters])])
    return result
