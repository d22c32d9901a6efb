"""What distributions and bijectors are computed with: triangular matrices of vectors, inverses, weighted sums. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like, zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.array_order import transpose
from tfexp.ops.array_pad import pad as pad_each
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less_equal
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import greater, less
from tfexp.ops.diagonal import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from tfexp.ops.elementwise_rounding import ceil, floor
from tfexp.ops.elementwise_rounding import round as round_
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import exp, expm1, log, sign, sqrt
from tfexp.ops.logical import logical_and, logical_or
from tfexp.ops.reduce import reduce_max, reduce_sum
from tfexp.ops.sort import sort


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """[..., n (n + 1) / 2] values as [..., n, n] triangular matrices, filled in a spiral. ValueError for another count."""
    with name_scope(name, "fill_triangular", values=[x]):
        values: Any = convert_to_tensor(x, name="x")
        count = values.shape.with_rank_at_least(1)[-1].value if values.shape.rank is not None else None
        if count is None:
            n: Any = cast(sqrt(0.25 + 2.0 * cast(shape(values)[-1], dtypes.float64)), dtypes.int32)  # type: ignore[index]
        else:
            n = int(np.sqrt(0.25 + 2.0 * count) - 0.5)
            if n * (n + 1) // 2 != count:
                raise ValueError(f"Input right-most shape ({count}) does not correspond to a triangular matrix.")
        parts = [values, values[..., n:][..., ::-1]] if upper else [values[..., n:], values[..., ::-1]]
        square = reshape(concat(parts, -1), concat([shape(values)[:-1], [n, n]], 0))  # type: ignore[index]
        square.set_shape(values.shape[:-1].concatenate([None if count is None else n] * 2))
        result: Tensor = matrix_band_part(square, 0 if upper else -1, -1 if upper else 0)
        return result


def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """[..., n, n] triangular matrices as the values that `fill_triangular` makes them of."""
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        matrix: Any = convert_to_tensor(x, name="x")
        n: Any = matrix.shape.with_rank_at_least(2)[-1].value if matrix.shape.rank is not None else None
        if n is None:
            n = shape(matrix)[-1]  # type: ignore[index]
        count = n * (n + 1) // 2
        # In the order of the spiral: the first row (from the end, for lower ones), then what comes after it.
        flat = reshape(matrix, concat([shape(matrix)[:-2], [n * n]], 0))  # type: ignore[index]
        first = matrix[..., 0, :] if upper else flat[..., ::-1][..., :n]
        inside = matrix[..., 1:, :] if upper else matrix[..., :-1, :]
        rest = reshape(inside, concat([shape(matrix)[:-2], [n * (n - 1)]], 0))  # type: ignore[index]
        kept, mirrored = rest[..., : count - n], rest[..., ::-1][..., : count - n]
        return concat([first, kept + mirrored], -1)


def matrix_diag_transform(matrix: Any, transform: Callable[[Any], Any] | None = None, name: str | None = None) -> Any:
    """The matrices with their diagonals transformed."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        tensor = convert_to_tensor(matrix, name="matrix")
        return tensor if transform is None else matrix_set_diag(tensor, transform(matrix_diag_part(tensor)))


def tridiag(below: Any = None, diag: Any = None, above: Any = None, name: str | None = None) -> Any:
    """A matrix of three diagonals: those that are given. ValueError for none."""
    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        if below is not None:
            parts.append(_shifted(below, [[1, 0], [0, 1]]))
        if diag is not None:
            parts.append(matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(_shifted(above, [[0, 1], [1, 0]]))
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        total: Any = parts[0]
        for part in parts[1:]:
            total = total + part
        return total


def _shifted(diagonal: Any, paddings: list[list[int]]) -> Any:
    matrices: Any = matrix_diag(convert_to_tensor(diagonal))
    return pad_each(matrices, [[0, 0]] * (matrices.shape.rank - 2) + paddings)


def softplus_inverse(x: Any, name: str | None = None) -> Any:
    """y with softplus(y) = x: x + log(1 - exp(-x)), without loss for small and for large x."""
    with name_scope(name, "softplus_inverse", values=[x]):
        value: Any = convert_to_tensor(x, name="x")
        threshold = np.log(np.finfo(value.dtype.as_numpy_dtype).eps) + 2.0
        small, large = less(value, np.exp(threshold)), greater(value, -threshold)
        # What is not chosen is kept from overflowing, so that gradients stay numbers.
        middle = where_v2(logical_or(small, large), ones_like(value), value)
        found: Any = middle + log(-expm1(-middle))
        return where_v2(small, log(value), where_v2(large, value, found))


def reduce_weighted_logsumexp(
    logx: Any, w: Any = None, axis: Any = None, keep_dims: bool = False, return_sign: bool = False, name: str | None = None
) -> Any:
    """log|sum(w exp(logx))|, and the sign of that sum if asked for."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        exponents: Any = convert_to_tensor(logx, name="logx")
        weights: Any = ones_like(exponents) if w is None else convert_to_tensor(w, dtype=exponents.dtype, name="w")
        terms: Any = exponents + log(abs_(weights))
        most: Any = reduce_max(terms, axis, keepdims=True)
        most = where_v2(logical_and(greater(most, -np.inf), less(most, np.inf)), most, zeros_like(most))
        total: Any = reduce_sum(sign(weights) * exp(terms - most), axis, keepdims=keep_dims)  # type: ignore[operator]
        base = most if keep_dims else reduce_sum(most, axis)
        result = base + log(abs_(total))
        return (result, sign(total)) if return_sign else result


def percentile(
    x: Any,
    q: Any,
    axis: Any = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Any:
    """The number of x [...] that q per cent of those along the axes (all by default) are not above.

    Between two numbers it is the nearest by default, or the "lower" or "higher" one. ValueError for another interpolation,
    for a rank that is not known, or a q that is no scalar; where arguments are validated, q must be in [0, 100]. Source:
    `tf.contrib.distributions.percentile`.
    """
    rounded: dict[str | None, Callable[[Any], Any]] = {None: round_, "nearest": round_, "lower": ceil, "higher": floor}
    if interpolation not in rounded:
        raise ValueError(f"Argument 'interpolation' must be one of ('lower', 'higher', 'nearest'). Found {interpolation}")
    with name_scope(name, "percentile", values=[x, q]):
        numbers: Any = convert_to_tensor(x, name="x")
        share: Any = cast(convert_to_tensor(q, name="q"), dtypes.float64)
        if share.shape.ndims not in (None, 0):
            raise ValueError(f"q must be a scalar, not of the shape {share.shape}")
        if validate_args:
            low, high = (constant(end, dtypes.float64) for end in (0.0, 100.0))
            share = with_dependencies([assert_less_equal(low, share), assert_less_equal(share, high)], share)
        dims = numbers.shape.ndims
        if dims is None:
            raise ValueError("the rank of x must be known")
        axes = range(dims) if axis is None else np.atleast_1d(axis).tolist()
        along = sorted({one % dims for one in axes})
        kept = [one for one in range(dims) if one not in along]
        sizes: Any = shape(numbers)
        rows = reshape(transpose(numbers, [*kept, *along]), concat([gather(sizes, constant(kept, dtypes.int32)), [-1]], 0))
        count: Any = cast(shape(rows)[-1] - 1, dtypes.float64)  # type: ignore[index]
        from_above: Any = rounded[interpolation]((1.0 - share / 100.0) * count)
        from_above = clip_by_value(from_above, constant(0.0, dtypes.float64), count)
        found: Any = gather(sort(rows, direction="DESCENDING"), cast(from_above, dtypes.int32), axis=-1)
        found.set_shape([numbers.shape[one].value for one in kept])
        for one in along if keep_dims else []:
            found = expand_dims(found, one)
        return found
