"""`tensorflow.python.keras.utils.conv_utils`: which inputs lie in the windows of convolutions. Source: TF 1.15."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.keras.layers.window_args import transposed_length
from tfexp.keras.utils.models import convert_kernel
from tfexp.stand_ins.layer_arguments import (
    conv_input_length,
    conv_output_length,
    convert_data_format,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)

__all__ = [
    "conv_input_length",
    "conv_output_length",
    "convert_data_format",
    "convert_kernel",
    "normalize_data_format",
    "normalize_padding",
    "normalize_tuple",
]

Sizes = Sequence[int]


def deconv_output_length(
    input_length: Any, filter_size: int, padding: str, output_padding: int | None = None, stride: int = 0, dilation: int = 1
) -> Any:
    """The length that a transposed convolution makes of `input_length`; None of None."""
    if padding != "full" or input_length is None:
        return transposed_length(input_length, filter_size, stride, padding, output_padding, dilation)
    reach = dilation * (filter_size - 1)
    if output_padding is None:
        return (input_length - 1) * stride - reach + 1
    return (input_length - 1) * stride + 1 - reach + output_padding


def conv_output_shape(input_shape: Sizes, kernel_shape: Sizes, strides: Sizes, padding: str) -> tuple[Any, ...]:
    """The lengths that a convolution leaves, without batch and channels."""
    lengths = zip(input_shape, kernel_shape, strides, strict=True)
    return tuple(conv_output_length(length, size, padding, stride) for length, size, stride in lengths)


def conv_connected_inputs(
    input_shape: Sizes, kernel_shape: Sizes, output_position: Sizes, strides: Sizes, padding: str
) -> list[range]:
    """For each dimension the inputs in the window of an output, as far as there are such."""
    windows = []
    for length, size, at, stride in zip(input_shape, kernel_shape, output_position, strides, strict=True):
        start = at * stride - (size // 2 if padding == "same" else 0)
        windows.append(range(max(start, 0), min(start + size, length)))
    return windows


def conv_kernel_mask(input_shape: Sizes, kernel_shape: Sizes, strides: Sizes, padding: str) -> np.ndarray:
    """Whether an input lies in an output's window, of the shape of the inputs with the shape of the outputs behind it.

    NotImplementedError: the padding is neither `valid` nor `same`. ValueError: the lengths differ.
    """
    _check(input_shape, kernel_shape, strides, padding)
    lengths = conv_output_shape(input_shape, kernel_shape, strides, padding)
    by_dimension = []
    for length, size, stride, count in zip(input_shape, kernel_shape, strides, lengths, strict=True):
        starts = np.arange(count) * stride - (size // 2 if padding == "same" else 0)
        inside = np.arange(length)[:, np.newaxis] - starts
        by_dimension.append((inside >= 0) & (inside < size))
    joined = functools.reduce(np.logical_and.outer, by_dimension, np.True_)
    rank = len(lengths)
    return np.transpose(joined, [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)])


def conv_kernel_idxs(
    input_shape: Sizes,
    kernel_shape: Sizes,
    strides: Sizes,
    padding: str,
    filters_in: int,
    filters_out: int,
    data_format: str,
) -> Iterator[tuple[Any, Any]]:
    """(number of an output, number of an input in its window), both with their channels.

    NotImplementedError: the padding is neither `valid` nor `same`. ValueError: the lengths differ, or the data format.
    """
    _check(input_shape, kernel_shape, strides, padding)
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f'Data format {data_format} not recignized. It must be "channels_first" or "channels_last".')
    lengths = conv_output_shape(input_shape, kernel_shape, strides, padding)

    def number(place: tuple[int, ...], channel: int, shape: Sizes, channels: int) -> Any:
        if data_format == "channels_first":
            return np.ravel_multi_index((channel, *place), (channels, *shape))
        return np.ravel_multi_index((*place, channel), (*shape, channels))

    for output in itertools.product(*map(range, lengths)):
        for place in itertools.product(*conv_connected_inputs(input_shape, kernel_shape, output, strides, padding)):
            for before, after in itertools.product(range(filters_in), range(filters_out)):
                yield (
                    number(output, after, lengths, filters_out),
                    number(place, before, input_shape, filters_in),
                )


def _check(input_shape: Sizes, kernel_shape: Sizes, strides: Sizes, padding: str) -> None:
    if padding not in ("same", "valid"):
        raise NotImplementedError(f'Padding type {padding} not supported. Only "valid" and "same" are implemented.')
    if not len(input_shape) == len(kernel_shape) == len(strides):
        raise ValueError(
            "Number of strides, input and kernel dimensions must all match. Received: "
            f"{len(strides)}, {len(input_shape)}, {len(kernel_shape)}."
        )
