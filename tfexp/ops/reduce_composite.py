"""Reductions that are made of several nodes: log-sum-exp, variance, counts."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_identity, cast, comparison, elementwise_binary, elementwise_unary, reduce
from tfexp.ops.elementwise_rounding import is_finite
from tfexp.ops.reduce import known_scalar


def reduce_logsumexp(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Tensor:
    """log(sum(exp(x))) over `axis`, without overflow: the largest element is taken out first. `tf.reduce_logsumexp`."""
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        input_tensor = convert_to_tensor(input_tensor)
        highest = reduce.reduce_max(input_tensor, axis=axis, keepdims=True)
        highest = array_identity.stop_gradient(get_op("SelectV2")(is_finite(highest), highest, 0))
        exponentials = elementwise_unary.exp(elementwise_binary.sub(input_tensor, highest))
        result = elementwise_unary.log(reduce.reduce_sum(exponentials, axis=axis, keepdims=keepdims))
        if not keepdims:
            highest = array.reshape(highest, get_op("Shape")(result))
        return known_scalar(elementwise_binary.add(result, highest, name=scope), axis, keepdims)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean square of the distance from the mean, over `axis`, in the type of the input. `tf.math.reduce_variance`.

    Of complex values, too, it is the square, as in TensorFlow 1.15, not that of their size.
    """
    with name_scope(name or "reduce_variance"):
        input_tensor = convert_to_tensor(input_tensor)
        means = reduce.reduce_mean(input_tensor, axis=axis, keepdims=True)
        squared = elementwise_unary.square(input_tensor - means)
        return reduce.reduce_mean(squared, axis=axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The square root of `reduce_variance`. `tf.math.reduce_std`."""
    with name_scope(name or "reduce_std"):
        return elementwise_unary.sqrt(reduce_variance(convert_to_tensor(input_tensor), axis=axis, keepdims=keepdims))


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
    input: Any = None,
) -> Tensor:
    """How many elements are not zero (for strings: not empty) over `axis`, as `dtype`. `tf.count_nonzero`."""
    axis = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    input_tensor = deprecated_argument_lookup("input", input, "input_tensor", input_tensor)
    with name_scope(name, "count_nonzero", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input")
        zero = array_fill.zeros([], dtype=input_tensor.dtype.base_dtype)
        differs = cast.cast(comparison.not_equal(input_tensor, zero), dtypes.int64)
        return cast.cast(reduce.reduce_sum(differs, axis=axis, keepdims=keepdims), dtype)
