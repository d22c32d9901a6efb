"""What the ops' rules for oneDNN call (`Op.bind_with`): a call for a node of known shapes, or None where NumPy is to do it.

All arrays are float32. The calls take the inputs of TensorFlow's op, and `out=`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

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
        made = _call((batch, *lay.outputs, out_depth), (0, 1, 2)[: 2 + bias], lambda: convolution().forward())
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
    return _call(shape, (2, 1), lambda: Convolution(batch, depth, out_depth, groups, lay).input_gradient())


def filter_gradient(batch: int, depth: int, out_depth: int, groups: int, lay: Any, shape: tuple[int, ...]) -> Call | None:
    """Of x, the filters' sizes (`shape`, however their channels are grouped) and the output's gradient."""
    return _call(shape, (0, 2), lambda: Convolution(batch, depth, out_depth, groups, lay).filter_gradient())


def product(rows: int, inner: int, columns: int, transpose_a: bool, transpose_b: bool) -> Call | None:
    """Of two matrices, each the other way round where it says so."""
    return _call((rows, columns), (0, 1), lambda: Product(rows, inner, columns, transpose_a, transpose_b))


def max_pool(batch: int, depth: int, lay: Any, otherwise: Compute) -> Call | None:
    """Of x, channels last; `otherwise(x, out)`: where a window may have NaN or -inf alone."""

    def make() -> Compute:
        pooling = Pooling(LARGEST, batch, depth, lay)

        def pool(x: np.ndarray, out: np.ndarray) -> None:
            if not pooling.maxima(x, out):
                otherwise(x, out)

        return pool

    return _call((batch, *lay.outputs, depth), (0,), make)


def max_pool_gradient(batch: int, depth: int, lay: Any, otherwise: Compute) -> Call | None:
    """Of x, what was pooled of it, and the gradient of that; `otherwise(x, pooled, gradient, out)` as `max_pool` has it."""

    def make() -> Compute:
        pooling = Pooling(LARGEST, batch, depth, lay)

        def gradient(x: np.ndarray, pooled: np.ndarray, grad: np.ndarray, out: np.ndarray) -> None:
            if not pooling.gradient_of_maxima(x, grad, out):
                otherwise(x, pooled, grad, out)

        return gradient

    return _call((batch, *lay.inputs, depth), (0, 1, 2), make)


def avg_pool(batch: int, depth: int, lay: Any) -> Call | None:
    """Of x, channels last."""
    return _call((batch, *lay.outputs, depth), (0,), lambda: Pooling(MEAN, batch, depth, lay).means)


def avg_pool_gradient(batch: int, depth: int, lay: Any) -> Call | None:
    """Of the input's sizes and the gradient."""
    return _call((batch, *lay.inputs, depth), (1,), lambda: Pooling(MEAN, batch, depth, lay).gradient_of_means)


def _call(shape: tuple[int, ...], order: tuple[int, ...], make: Callable[[], Compute]) -> Call | None:
    """`order`: which of the node's inputs are computed with."""
    if 0 in shape:
        return None
    try:
        compute = make()
    except LacksError:
        return None

    def call(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        result = np.empty(shape, np.float32) if out is None else out
        compute(*[np.ascontiguousarray(inputs[n]) for n in order], result)
        return result

    call.__name__ = "oneDNN"  # as plans name it
    return Call(call, out=True)
