"""Pooling. Source: `tf.keras.backend.pool2d` and `pool3d`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import known_data_format
from tfexp.keras.backend.conv import all_axes, known_padding, known_sizes, layout_of
from tfexp.ops import nn_pool


def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """The largest ('max') or the mean ('avg') of each window of images. ValueError for another mode, format or padding."""
    by_mode = {"max": nn_pool.max_pool, "avg": nn_pool.avg_pool}
    return _pool(by_mode, x, 2, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """The same of volumes."""
    by_mode = {"max": nn_pool.max_pool3d, "avg": nn_pool.avg_pool3d}
    return _pool(by_mode, x, 3, pool_size, strides, padding, data_format, pool_mode)


def _pool(
    by_mode: dict[str, Any], x: Any, count: int, pool_size: Any, strides: Any, padding: str, data_format: Any, mode: str
) -> Tensor:
    layout = layout_of(known_data_format(data_format), count)
    sizes, steps = known_sizes(pool_size, count, "pool_size"), known_sizes(strides, count, "strides")
    how = known_padding(padding)
    if mode not in by_mode:
        raise ValueError(f"Invalid pooling mode: {mode}")
    result: Tensor = by_mode[mode](x, all_axes(sizes, layout), all_axes(steps, layout), how, data_format=layout)
    return result
