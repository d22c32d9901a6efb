"""Along axes: sums, means, extremes. Source: `tf.keras.backend`, TF 1.15. Bools count as 0 and 1."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.config import floatx
from tfexp.ops import argmax as _argmax
from tfexp.ops import cumulative, reduce
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import sqrt, square


def _number(x: Any) -> Any:
    x = convert_to_tensor(x)
    return cast(x, floatx()) if x.dtype.base_dtype == dtypes.bool else x


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest along `axis`."""
    return reduce.reduce_max(x, axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest along `axis`."""
    return reduce.reduce_min(x, axis, keepdims)


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along `axis`."""
    return reduce.reduce_sum(x, axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The product along `axis`."""
    return reduce.reduce_prod(x, axis, keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along `axis`."""
    return reduce.reduce_mean(_number(x), axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The variance along `axis`: the mean of the squared distances from the mean."""
    x = _number(x)
    centred = x - reduce.reduce_mean(x, axis, keepdims=True)
    return reduce.reduce_mean(square(centred), axis, keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The standard deviation along `axis`."""
    return sqrt(var(x, axis, keepdims))


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether one element along `axis` is not zero."""
    return reduce.reduce_any(cast(x, dtypes.bool), axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether no element along `axis` is zero."""
    return reduce.reduce_all(cast(x, dtypes.bool), axis, keepdims)


def argmax(x: Any, axis: Any = -1) -> Tensor:
    """The place of the largest along `axis`, an int64."""
    return _argmax.argmax(x, axis)


def argmin(x: Any, axis: Any = -1) -> Tensor:
    """The place of the smallest along `axis`, an int64."""
    return _argmax.argmin(x, axis)


def cumsum(x: Any, axis: int = 0) -> Tensor:
    """The sums up to each element along `axis`."""
    return cumulative.cumsum(x, axis=axis)


def cumprod(x: Any, axis: int = 0) -> Tensor:
    """The products up to each element along `axis`."""
    return cumulative.cumprod(x, axis=axis)
