"""Convolution and pooling for compiled code: functions of the module `jax` and of JAX's arrays.

Arrays are channels-last and `lay` says where the windows are (`ops.windows`), as for NumPy's kernels (`conv_kernels`,
`pool_kernels`). Gradients are those of the functions here, by JAX's own rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.ops.windows import Windows


def convolve(jax: Any, x: Any, filters: Any, lay: Windows) -> Any:
    """[batch, *space, in] by [*window, in / groups, out]."""
    space = "DHW"[-len(lay.sizes) :]
    return jax.lax.conv_general_dilated(
        x,
        filters,
        window_strides=lay.strides,
        padding=list(zip(lay.before, lay.after, strict=True)),
        rhs_dilation=lay.dilations,
        dimension_numbers=(f"N{space}C", f"{space}IO", f"N{space}C"),
        feature_group_count=x.shape[-1] // filters.shape[-2],
    )


def input_gradient(jax: Any, grad: Any, filters: Any, lay: Windows, dims: Sequence[int]) -> Any:
    """The gradient of `convolve` for an input of shape `dims` (channels-last)."""
    x = jax.ShapeDtypeStruct(tuple(dims), grad.dtype)
    return jax.linear_transpose(lambda x: convolve(jax, x, filters, lay), x)(grad)[0]


def filter_gradient(jax: Any, x: Any, grad: Any, dims: Sequence[int], lay: Windows) -> Any:
    """The gradient of `convolve` for filters of shape `dims`."""
    filters = jax.ShapeDtypeStruct(tuple(dims), grad.dtype)
    return jax.linear_transpose(lambda filters: convolve(jax, x, filters, lay), filters)(grad)[0]


def _reduced(jax: Any, x: Any, lay: Windows, start: Any, reducer: Any) -> Any:
    return jax.lax.reduce_window(
        x,
        start,
        reducer,
        window_dimensions=(1, *lay.sizes, 1),
        window_strides=(1, *lay.strides, 1),
        padding=((0, 0), *zip(lay.before, lay.after, strict=True), (0, 0)),
    )


def max_pool(jax: Any, x: Any, lay: Windows) -> Any:
    kind = np.dtype(x.dtype)
    least = -np.inf if jax.numpy.issubdtype(kind, jax.numpy.floating) else np.iinfo(kind).min
    return _reduced(jax, x, lay, np.asarray(least, kind), jax.lax.max)


def avg_pool(jax: Any, x: Any, lay: Windows) -> Any:
    """Means over the elements that are there: the padding does not count."""
    sums = _reduced(jax, x, lay, np.zeros((), x.dtype), jax.lax.add)
    if not lay.is_padded:
        return sums / np.asarray(math.prod(lay.sizes), x.dtype)
    there = jax.numpy.ones((1, *lay.inputs, 1), x.dtype)
    return sums / _reduced(jax, there, lay, np.zeros((), x.dtype), jax.lax.add)


def max_pool_gradient(jax: Any, x: Any, grad: Any, lay: Windows) -> Any:
    """To the first of the largest elements of each window."""
    return jax.vjp(lambda x: max_pool(jax, x, lay), x)[1](grad)[0]


def avg_pool_gradient(jax: Any, grad: Any, lay: Windows, dims: Sequence[int]) -> Any:
    """The gradient of `avg_pool` for an input of shape `dims` (channels-last)."""
    x = jax.ShapeDtypeStruct(tuple(dims), grad.dtype)
    return jax.linear_transpose(lambda x: avg_pool(jax, x, lay), x)(grad)[0]
