"""Dilation by moving space into the batch: `tf.nn.with_space_to_batch`, on which dilated convolution and pooling stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_join import concat, stack
from tfexp.ops.space_batch import batch_to_space_nd, required_space_to_batch_paddings, space_to_batch_nd

Windowed = Callable[[Tensor, int, str], Tensor]


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Windowed,
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """`op(input, num_spatial_dims, padding)` as if its windows were dilated. Source: `tf.nn.with_space_to_batch`.

    `filter_shape` begins with the window's size (a tensor, an array, or dims of which some are unknown); SAME needs it.
    """
    input = convert_to_tensor(input, name="input")
    rates = convert_to_tensor(dilation_rate, dtype=dtypes.int32, name="dilation_rate")
    rates.get_shape().assert_has_rank(1)
    count = rates.get_shape().as_list()[0]
    if count is None:
        raise ValueError("rate must have known shape")
    if spatial_dims is None:
        first = 2 if data_format is not None and data_format.startswith("NC") else 1
        spatial_dims = range(first, first + count)
    dims = sorted(spatial_dims)
    if list(spatial_dims) != dims or any(d < 1 for d in dims):
        raise ValueError(f"spatial_dims must be a montonically increasing sequence of positive integers, got {dims}")
    input.get_shape().with_rank_at_least(dims[-1] + 1)
    known = static_value(rates)
    if known is not None:
        if (known < 1).any():
            raise ValueError(f"dilation_rate must be positive, but got: {known.tolist()}")
        if (known == 1).all():
            return op(input, count, padding)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for padding='SAME'")
        base: Any = _same_paddings(filter_shape, rates if known is None else known, count)
    elif padding == "VALID":
        base = np.zeros([count, 2], np.int32)
    else:
        raise ValueError(f"Invalid padding method {padding!r}")
    static = input.get_shape().known_dims
    sizes: Any = None if static is None else [static[d] for d in dims]
    if sizes is None or None in sizes:
        whole: Any = shape(input)
        sizes = stack([whole[d] for d in dims])
    paddings, crops = required_space_to_batch_paddings(input_shape=sizes, base_paddings=base, block_shape=rates)
    blocks = _for_all_dims(rates, 1, dims)
    paddings, crops = _for_all_dims(paddings, 0, dims), _for_all_dims(crops, 0, dims)
    moved = space_to_batch_nd(input=input, block_shape=blocks, paddings=paddings)
    result: Tensor = batch_to_space_nd(input=op(moved, count, "VALID"), block_shape=blocks, crops=crops)
    return result


def _same_paddings(filter_shape: Any, rates: Any, count: int) -> Any:
    """What SAME adds around an input, for a window dilated by `rates`: as a constant where everything is known."""
    sizes = convert_to_tensor(filter_shape, name="filter_shape")
    known = static_value(sizes)
    window: Any = (known if known is not None else sizes)[:count]
    total = (window - 1) * rates
    before = total // 2
    after = total - before
    return stack([[before[i], after[i]] for i in range(count)])


def _for_all_dims(values: Any, fill: int, dims: Sequence[int]) -> Any:
    """Values for `dims`, with `fill` for the dimensions between the batch and the last of these."""
    known = static_value(values)
    tail = () if known is None else known.shape[1:]
    if known is not None:
        result = np.full((dims[-1], *tail), fill, known.dtype)
        result[[d - 1 for d in dims]] = known
        return result
    width = values.get_shape().as_list()[1:]
    parts: list[Any] = []
    position = 1
    done = 0
    while done < len(dims):
        if dims[done] > position:
            parts.append(np.full((dims[done] - position, *width), fill, np.int32))
        run = done + 1
        while run < len(dims) and dims[run] == dims[run - 1] + 1:
            run += 1
        parts.append(values[done:run])
        position = dims[run - 1] + 1
        done = run
    return concat(parts, 0)
