"""What the ops' rules for oneDNN call (`Op.bind_with`): a call for a node of known shapes, or None where NumPy is to do it.

All arrays are float32. The calls take the inputs of TensorFlow's op, and `out=`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.runtime.onednn.convolution import Convolution
from tfexp.runtime.onednn.library import LacksError
from tfexp.runtime.onednn.pooling import LARGEST, MEAN, Pooling
from tfexp.runtime.onednn.product import Product

Compute = Callable[..., None]
"""From arrays in one piece of memory to the last one."""


def convolve(batch: int, depth: int, out_depth: int, groups: int, lay: Any) -> Call | None:
    """Of x and filters, channels last; `lay`: the windows (`ops.windows`). A bias and a Relu may follow."""

    def call(bias: bool, relu: bool) -> Call | None:
        convolution = functools.partial(Convolution, batch, depth, out_depth, groups, lay, bias, relu)
        made = _call_if_any((batch, *lay.outputs, out_depth), (0, 1, 2)[: 2 + bias], lambda: convolution().forward())
        return made if made is None or relu else dataclasses.replace(made, followed_by=functools.partial(follow, bias))

    def follow(bias: bool, node: BindRequest) -> Call | None:
        if node.op_type == "Relu":
            return call(bias, relu=True)
        adds = node.op_type in ("Add", "AddV2") or (node.op_type == "BiasAdd" and node.attrs["data_format"] == "NHWC")
        if bias or not adds or node.input_shapes[1].known_dims != (out_depth,):
            return None
        return call(bias=True, relu=False)

    return call(bias=False, relu=False)


def input_gradient(batch: int, depth: int, out_depth: int, groups: int, lay: Any) -> Call | None:
    """Of the input's sizes, filters and the output's gradient."""
    shape = (batch, *lay.inputs, depth)
    return _call_if_any(shape, (2, 1), lambda: Convolution(batch, depth, out_depth, groups, lay).input_gradient())


def filter_gradient(batch: int, depth: int, out_depth: int, groups: int, lay: Any, shape: tuple[int, ...]) -> Call | None:
    """Of x, the filters' sizes (`shape`, however their channels are grouped) and the output's gradient."""
    return _call_if_any(shape, (0, 2), lambda: Convolution(batch, depth, out_depth, groups, lay).filter_gradient())


def product(rows: int, inner: int, columns: int, transpose_a: bool, transpose_b: bool) -> Call | None:
    """Of two matrices, each the other way round where it says so."""
    return _call_if_any((rows, columns), (0, 1), lambda: Product(rows, inner, columns, transpose_a, transpose_b))


def max_pool(batch: int, depth: int, lay: Any, otherwise: Compute) -> Call | None:
    """Of x, channels last; `otherwise(x, out)`: where a window may have NaN or -inf alone.

    It can leave the places of the largest elements for its gradient.
    """
    shape, pooling = (batch, *lay.outputs, depth), _maxima(batch, depth, lay)
    if pooling is None:
        return None

    def pool(x: np.ndarray, *places_and_out: np.ndarray) -> None:
        *places, out = places_and_out
        if not pooling.maxima(x, out, *places):
            otherwise(x, out)

    leaving = _call(shape, (0, 1), pool)
    return dataclasses.replace(_call(shape, (0,), pool), leaves=((pooling.bytes_of_places(batch),), np.uint8, leaving))


def max_pool_gradient(batch: int, depth: int, lay: Any, otherwise: Compute) -> Call | None:
    """Of x, what was pooled of it, and the gradient of that; `otherwise(x, pooled, gradient, out)` as `max_pool` has it."""
    shape, pooling = (batch, *lay.inputs, depth), _maxima(batch, depth, lay)
    if pooling is None:
        return None

    def gradient(x: np.ndarray, pooled: np.ndarray, grad: np.ndarray, out: np.ndarray) -> None:
        if not pooling.gradient_of_maxima(x, grad, out):
            otherwise(x, pooled, grad, out)

    def gradient_at(x: np.ndarray, pooled: np.ndarray, grad: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
        if not pooling.gradient_at(places, grad, out):
            otherwise(x, pooled, grad, out)

    return dataclasses.replace(_call(shape, (0, 1, 2), gradient), finds=_call(shape, (0, 1, 2, 3), gradient_at))


def _maxima(batch: int, depth: int, lay: Any) -> Pooling | None:
    return None if 0 in (batch, depth, *lay.inputs, *lay.outputs) else _or_none(lambda: Pooling(LARGEST, batch, depth, lay))


def avg_pool(batch: int, depth: int, lay: Any) -> Call | None:
    """Of x, channels last."""
    return _call_if_any((batch, *lay.outputs, depth), (0,), lambda: Pooling(MEAN, batch, depth, lay).means)


def avg_pool_gradient(batch: int, depth: int, lay: Any) -> Call | None:
    """Of the input's sizes and the gradient."""
    return _call_if_any((batch, *lay.inputs, depth), (1,), lambda: Pooling(MEAN, batch, depth, lay).gradient_of_means)


Made = TypeVar("Made")


def _or_none(make: Callable[[], Made]) -> Made | None:
    try:
        return make()
    except LacksError:
        return None


def _call_if_any(shape: tuple[int, ...], order: tuple[int, ...], make: Callable[[], Compute]) -> Call | None:
    compute = None if 0 in shape else _or_none(make)
    return None if compute is None else _call(shape, order, compute)


def _call(shape: tuple[int, ...], order: tuple[int, ...], compute: Compute) -> Call:
    """`order`: which of the node's inputs are computed with."""

    def call(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        result = np.empty(shape, np.float32) if out is None else out
        compute(*[np.ascontiguousarray(inputs[n]) for n in order], result)
        return result

    call.__name__ = "oneDNN"  # as plans name it
    return Call(call, out=True)
