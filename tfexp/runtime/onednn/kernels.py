"""What the ops' rules for oneDNN call (`Op.bind_with`): a call for a node of known shapes, or None where NumPy is to do it.

All arrays are float32. The calls take the inputs of TensorFlow's op, and `out=`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.kernel import Call
from tfexp.runtime.onednn.convolution import Convolution
from tfexp.runtime.onednn.library import LacksError
from tfexp.runtime.onednn.product import Product


def convolve(batch: int, depth: int, out_depth: int, groups: int, lay: Any) -> Call | None:
    """Of x and filters, channels last; `lay`: the windows (`ops.windows`)."""
    shape = (batch, *lay.outputs, out_depth)
    return _call(shape, (0, 1), lambda: Convolution(batch, depth, out_depth, groups, lay).forward())


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


def _call(shape: tuple[int, ...], order: tuple[int, int], make: Callable[[], Callable[..., np.ndarray]]) -> Call | None:
    """`order`: which of the node's inputs are computed with."""
    if 0 in shape:
        return None
    try:
        compute = make()
    except LacksError:
        return None
    first, second = order

    def call(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return compute(inputs[first], inputs[second], np.empty(shape, np.float32) if out is None else out)

    call.__name__ = "oneDNN"  # as plans name it
    return Call(call, out=True)
