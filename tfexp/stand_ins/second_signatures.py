"""Functions that TensorFlow 1.15 has in its modules with the arguments of version 2 (`nn_ops.fractional_max_pool_v2`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.decode_csv import decode_csv
from tfexp.ops.functional import foldl, foldr, map_fn, scan
from tfexp.ops.nn_conv_transpose import conv2d_transpose, conv3d_transpose
from tfexp.ops.nn_dropout import dropout
from tfexp.ops.pool_fractional import fractional_avg_pool, fractional_max_pool
from tfexp.ops.reduce_gradients import kept_shape

map_fn_v2, foldl_v2, foldr_v2, scan_v2 = map_fn, foldl, foldr, scan


def dropout_v2(x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None) -> Tensor:
    return dropout(x, rate=rate, noise_shape=noise_shape, seed=seed, name=name)


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """The shape of a reduction along `axes` that keeps them: an array where both arguments are constant, else a tensor."""
    return kept_shape(convert_to_tensor(input_shape), convert_to_tensor(axes))


def _four(pooling_ratio: float | Sequence[float]) -> Sequence[float]:
    """Ratios of [batch, rows, columns, depth], given as these, as those of rows and columns, or as one number for both."""
    given = [pooling_ratio] if isinstance(pooling_ratio, (int, float)) else list(pooling_ratio)
    if len(given) == 4:
        return given
    return [1.0, *(given * 2 if len(given) == 1 else given), 1.0]


def fractional_max_pool_v2(
    value: Any,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """`fractional_max_pool`, laid out anew in each run if the seed is 0."""
    ratios = _four(pooling_ratio)
    return fractional_max_pool(value, ratios, pseudo_random, overlapping, seed != 0, seed, seed, name)


def fractional_avg_pool_v2(
    value: Any,
    pooling_ratio: float | Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """`fractional_avg_pool`, laid out anew in each run if the seed is 0."""
    ratios = _four(pooling_ratio)
    return fractional_avg_pool(value, ratios, pseudo_random, overlapping, seed != 0, seed, seed, name)


def conv2d_transpose_v2(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    return conv2d_transpose(input, filters, output_shape, strides, padding, data_format, name, dilations=dilations)


def conv3d_transpose_v2(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    return conv3d_transpose(input, filters, output_shape, strides, padding, data_format, name, dilations=dilations)


def decode_csv_v2(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Tensor]:
    return decode_csv(records, record_defaults, field_delim, use_quote_delim, name, na_value, select_cols)
