"""`tensorflow.python.ops.distributions.util` and `special_math`: what distributions are made of. Source: TF 1.15."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, as_shape, broadcast_shapes
from tfexp.distributions import location_scale, normal
from tfexp.distributions.discrete import logits_and_probs
from tfexp.distributions.distribution import derived_seed
from tfexp.graph.constant_value import constant_value
from tfexp.graph.control_flow import cond as cond_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape
from tfexp.ops.array_fill import ones_like, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.array_order import transpose
from tfexp.ops.array_pad import pad as pad_each
from tfexp.ops.array_slice import slice as slice_of
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_quantile import erfinv_op
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.reduce import reduce_all, reduce_sum

# --- what is known while the graph is built ----------------------------------------------------------------------------


def static_value_of(x: Any, dtype: Any = None) -> Any:
    """The value where it is known, as an array; else None. `maybe_get_static_value`."""
    value = x if x is None or not isinstance(x, Tensor) else static_value(x)
    return None if value is None else np.array(value, None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype)


def prefer_static_value(x: Any) -> Any:
    """The value as an array where it is known, else the tensor."""
    known = static_value_of(x)
    return x if known is None else known


def prefer_static_rank(x: Any) -> Any:
    return prefer_static_value(rank(x))


def prefer_static_shape(x: Any) -> Any:
    return prefer_static_value(shape(x))


def prefer_static_broadcast_shape(shape1: Any, shape2: Any, name: str = "prefer_static_broadcast_shape") -> Any:
    """The shape that both have when broadcast: a TensorShape where both are known, else a tensor."""
    with name_scope(name, values=[shape1, shape2]):
        known = [one if isinstance(one, TensorShape) else static_value_of(one, dtypes.int32) for one in (shape1, shape2)]
        if all(one is not None and as_shape(one).is_fully_defined() for one in known):
            return broadcast_shapes(as_shape(known[0]), as_shape(known[1]))
        tensors = [one.as_list() if isinstance(one, TensorShape) else one for one in (shape1, shape2)]
        return broadcast_dynamic_shape(*(convert_to_tensor(one, dtypes.int32) for one in tensors))


def dimension_size(x: Any, axis: int) -> Any:
    """The size along an axis: a number where it is known, else a tensor."""
    known = x.shape.with_rank_at_least(abs(axis))[axis].value if x.shape.rank is not None else None
    return shape(x)[axis] if known is None else known  # type: ignore[index]


def same_dynamic_shape(a: Any, b: Any) -> Tensor:
    """A boolean: whether both have one shape."""
    one, two = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
    if one.shape.is_fully_defined() and two.shape.is_fully_defined():
        return convert_to_tensor(one.shape.as_list() == two.shape.as_list())

    def same() -> Any:
        return reduce_all(equal(concat([shape(one), shape(two)], 0), concat([shape(two), shape(one)], 0)))

    result: Tensor = cond_op(equal(rank(one), rank(two)), same, lambda: convert_to_tensor(False))
    return result


# --- arguments ---------------------------------------------------------------------------------------------------------


def get_logits_and_probs(
    logits: Any = None,
    probs: Any = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: Any = None,
) -> tuple[Any, Any]:
    """Both, of the one that is given. ValueError unless one is."""
    with name_scope(name, values=[logits, probs]):
        first, second = (None if one is None else convert_to_tensor(one, dtype=dtype) for one in (logits, probs))
        return logits_and_probs(first, second, multidimensional, validate_args)


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """Another seed for another purpose."""
    return derived_seed(seed, salt)


def parent_frame_arguments() -> dict[str, Any]:
    """The arguments of the function that calls this, by name, without positional rests."""
    frame = inspect.stack()[1][0]
    names, _, rest, values = inspect.getargvalues(frame)
    code = frame.f_code
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    found = {name: values[name] for name in (*names, *keyword_only)}
    found.update(values[rest] if rest else {})
    found.pop("self", None)
    return found


def pick_vector(cond: Any, true_vector: Any, false_vector: Any, name: str = "pick_vector") -> Any:
    """One of two vectors, which may differ in length. TypeError for a condition that is no boolean, or two types."""
    with name_scope(name, values=[cond, true_vector, false_vector]):
        condition = convert_to_tensor(cond, name="cond")
        if condition.dtype != dtypes.bool:
            raise TypeError(f"{condition}.dtype={condition.dtype} which is not {dtypes.bool}")
        known = constant_value(condition)
        if known is not None:
            return true_vector if known else false_vector
        one, other = convert_to_tensor(true_vector, name="true_vector"), convert_to_tensor(false_vector, name="false_vector")
        if one.dtype != other.dtype:
            raise TypeError(f"{one}.dtype={one.dtype} does not match {other}.dtype={other.dtype}")
        count: Any = shape(one)[0]  # type: ignore[index]
        both: Any = concat([one, other], 0)
        begin = where_v2(condition, zeros_like(count), count)
        length = where_v2(condition, count, -1 * ones_like(count))  # type: ignore[operator]
        return slice_of(both, [begin], [length])


# --- arrays ------------------------------------------------------------------------------------------------------------


def pad(
    x: Any,
    axis: int,
    front: bool = False,
    back: bool = False,
    value: Any = 0,
    count: Any = 1,
    name: str | None = None,
) -> Any:
    """`count` times `value` before, or after, what there is along an axis. ValueError for neither."""
    with name_scope(name, "pad", [x, value, count]):
        tensor = convert_to_tensor(x, name="x")
        if not front and not back:
            raise ValueError("At least one of `front`, `back` must be `True`.")
        dims = tensor.shape.rank
        if dims is None:
            raise ValueError(f"pad has to know the rank of {tensor}")
        paddings = [[0, 0]] * dims
        paddings[axis] = [count if front else 0, count if back else 0]
        return pad_each(tensor, paddings, constant_values=cast(value, tensor.dtype))


def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Any:
    """The axes moved `shift` places to the right, those at the end to the beginning."""
    with name_scope(name, values=[x, shift]):
        tensor, by = convert_to_tensor(x, name="x"), convert_to_tensor(shift, name="shift")
        known = static_value(by)
        if known is not None and tensor.shape.rank is not None:
            return transpose(tensor, np.roll(np.arange(tensor.shape.rank), known)) if tensor.shape.rank else tensor
        dims: Any = rank(tensor)
        order: Any = range_(0, dims)
        return transpose(tensor, (order - by) % dims)


# --- numbers -----------------------------------------------------------------------------------------------------------


def process_quadrature_grid_and_probs(
    quadrature_grid_and_probs: Any, dtype: Any, validate_args: bool, name: str | None = None
) -> tuple[Any, Any]:
    """(grid, probabilities that sum to 1): those given, or Gauss and Hermite's of 8 points. ValueError for two lengths."""
    with name_scope(name, "process_quadrature_grid_and_probs", [quadrature_grid_and_probs]):
        kind = dtypes.as_dtype(dtype)
        if quadrature_grid_and_probs is None:
            grid, probs = np.polynomial.hermite.hermgauss(deg=8)
            shares = probs / np.linalg.norm(probs, ord=1)
            return convert_to_tensor(grid, kind, name="grid"), convert_to_tensor(shares, kind, name="probs")
        grid, probs = quadrature_grid_and_probs
        points, weights = (
            convert_to_tensor(grid, dtype=kind, name="grid"),
            convert_to_tensor(probs, dtype=kind, name="probs"),
        )
        normal_weights: Any = weights / reduce_sum(abs_(weights), axis=-1, keepdims=True)  # type: ignore[operator]
        counts = [one.shape[0].value for one in (points, weights)]
        if None not in counts and counts[0] != counts[1]:
            raise ValueError(
                "`quadrature_grid_and_probs` must be a `tuple` of same-length zero-th-dimension `Tensor`s (saw lengths "
                f"{counts[1]}, {counts[0]})"
            )
        return points, normal_weights


# --- special functions -------------------------------------------------------------------------------------------------

LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER = np.float64(-20), np.float64(8)
LOGNDTR_FLOAT32_LOWER, LOGNDTR_FLOAT32_UPPER = np.float32(-10), np.float32(5)


def ndtr(x: Any, name: str = "ndtr") -> Any:
    """The standard normal's P(X <= x). TypeError unless x is float32 or float64."""
    with name_scope(name, values=[x]):
        return normal.ndtr(_float(x, "x"))


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Any:
    """Its logarithm, far below by an asymptotic series. `series_order` says nothing here: three terms do."""
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if not 0 <= series_order <= 30:
        raise ValueError("series_order must be " + ("non-negative." if series_order < 0 else "<= 30."))
    with name_scope(name, values=[x]):
        return normal.log_ndtr(_float(x, "x"))


def ndtri(p: Any, name: str = "ndtri") -> Any:
    """x with P(X <= x) = p."""
    with name_scope(name, values=[p]):
        return normal.quantile(_float(p, "p"))


def erfinv(x: Any, name: str = "erfinv") -> Any:
    """y with erf(y) = x."""
    with name_scope(name, values=[x]):
        return erfinv_op(_float(x, "x"))


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Any:
    """log P(X <= x) of the standard Laplace distribution."""
    with name_scope(name, values=[x]):
        return location_scale.log_cdf_laplace(convert_to_tensor(x, name="x"))


def _float(x: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(x, name=name)
    if tensor.dtype.base_dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"{name}.dtype={tensor.dtype} is not handled: it must be float32 or float64.")
    return tensor
