"""Element by element: arithmetic, comparison, clipping, types. Source: `tf.keras.backend`, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import cast as _cast
from tfexp.ops import clip as _clip
from tfexp.ops import comparison, elementwise_binary, elementwise_rounding, elementwise_trig, elementwise_unary


def abs(x: Any) -> Tensor:
    """Absolute values."""
    return elementwise_unary.abs(x)


def sqrt(x: Any) -> Tensor:
    """Square roots; of negative numbers, 0."""
    return elementwise_unary.sqrt(_clip.clip_by_value(convert_to_tensor(x), 0.0, np.inf))


def square(x: Any) -> Tensor:
    """Squares."""
    return elementwise_unary.square(x)


def exp(x: Any) -> Tensor:
    """Powers of e."""
    return elementwise_unary.exp(x)


def log(x: Any) -> Tensor:
    """Natural logarithms."""
    return elementwise_unary.log(x)


def round(x: Any) -> Tensor:
    """The nearest integers; of two, the even one."""
    return elementwise_rounding.round(x)


def sign(x: Any) -> Tensor:
    """-1, 0 or 1."""
    return elementwise_unary.sign(x)


def sin(x: Any) -> Tensor:
    """Sines."""
    return elementwise_trig.sin(x)


def cos(x: Any) -> Tensor:
    """Cosines."""
    return elementwise_trig.cos(x)


def pow(x: Any, a: Any) -> Tensor:
    """`x` to the power `a`."""
    return elementwise_binary.pow(x, a)


def clip(x: Any, min_value: Any, max_value: Any) -> Tensor:
    """`x`, at least `min_value` and at most `max_value`; None: no bound. A maximum below the minimum counts as that."""
    numbers = (int, float, np.number)
    if isinstance(min_value, numbers) and isinstance(max_value, numbers) and max_value < min_value:
        max_value = min_value
    lowest = -np.inf if min_value is None else min_value
    highest = np.inf if max_value is None else max_value
    return _clip.clip_by_value(convert_to_tensor(x), lowest, highest)


def maximum(x: Any, y: Any) -> Tensor:
    """The larger of each pair."""
    return elementwise_binary.maximum(x, y)


def minimum(x: Any, y: Any) -> Tensor:
    """The smaller of each pair."""
    return elementwise_binary.minimum(x, y)


def equal(x: Any, y: Any) -> Tensor:
    """Whether `x == y`."""
    return comparison.equal(x, y)


def not_equal(x: Any, y: Any) -> Tensor:
    """Whether `x != y`."""
    return comparison.not_equal(x, y)


def greater(x: Any, y: Any) -> Tensor:
    """Whether `x > y`."""
    return comparison.greater(x, y)


def greater_equal(x: Any, y: Any) -> Tensor:
    """Whether `x >= y`."""
    return comparison.greater_equal(x, y)


def less(x: Any, y: Any) -> Tensor:
    """Whether `x < y`."""
    return comparison.less(x, y)


def less_equal(x: Any, y: Any) -> Tensor:
    """Whether `x <= y`."""
    return comparison.less_equal(x, y)


def cast(x: Any, dtype: Any) -> Any:
    """`x` as another type."""
    return _cast.cast(x, dtype)
