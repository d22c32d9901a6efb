"""`tf.assert_equal` and its like: what can be decided while building is decided there, the rest becomes an Assert node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op, with_dependencies
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape
from tfexp.ops.check import Assert
from tfexp.ops.check_texts import called, differences, lines_of
from tfexp.ops.comparison import equal, greater_equal, less
from tfexp.ops.comparison import greater as greater_op
from tfexp.ops.comparison import less_equal as less_equal_op
from tfexp.ops.comparison import not_equal as not_equal_op
from tfexp.ops.logical import logical_or
from tfexp.ops.reduce import reduce_all

_STATIC: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_DYNAMIC: dict[str, Callable[[Any, Any], Tensor]] = {
    "==": equal,
    "!=": not_equal_op,
    "<": less,
    "<=": less_equal_op,
    ">": greater_op,
    ">=": greater_equal,
}


def _binary(
    sign: str, default_name: str, x: Any, y: Any, data: Any, summarize: int | None, message: str | None, name: str | None
) -> Operation:
    """Assert that `x sign y` holds element-wise; InvalidArgumentError now, when both are known and it does not."""
    with name_scope(name, default_name, [x, y, data]):
        x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
        if executing_eagerly():
            return _check_now(sign, x, y, data, summarize, message)
        if data is None:
            data = [f"Condition x {sign} y did not hold element-wise:", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
        if message:
            data = [message, *data]
        condition = reduce_all(_DYNAMIC[sign](x, y))
        static_x, static_y = constant_value(x), constant_value(y)
        if static_x is not None and static_y is not None and not _STATIC[sign](static_x, static_y).all():
            raise InvalidArgumentError(None, None, "\n".join(_static_text(d) for d in data))
        return Assert(condition, data, summarize=summarize)


def _check_now(sign: str, x: Any, y: Any, data: Any, summarize: int | None, message: str | None) -> Any:
    """None, or the error of what does not hold; `x` and `y` are eager tensors."""
    holds: Any = _DYNAMIC[sign](x, y)
    holds = holds.numpy()
    if not np.all(holds):
        parts = differences(sign, x.numpy(), y.numpy(), holds, summarize) if data is None else data
        parts = parts if message is None else [message, *parts]
        raise InvalidArgumentError(None, None, lines_of(parts, summarize))
    return None


def _static_text(part: Any) -> str:
    value = constant_value(part) if isinstance(part, Tensor) else None
    return str(part) if value is None else str(value)


def _equality(
    sign: str, default_name: str, x: Any, y: Any, data: Any, summarize: int | None, message: str | None, name: str | None
) -> Operation:
    with name_scope(name, default_name, [x, y, data]):
        if x is y and sign == "==":
            return no_op()
    return _binary(sign, default_name, x, y, data, summarize, message, name)


def assert_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x == y in every element. Source: `tf.assert_equal`."""
    return _equality("==", "assert_equal", x, y, data, summarize, message, name)


def assert_less(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x < y in every element. Source: `tf.assert_less`."""
    return _binary("<", "assert_less", x, y, data, summarize, message, name)


def assert_less_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x <= y in every element. Source: `tf.assert_less_equal`."""
    return _binary("<=", "assert_less_equal", x, y, data, summarize, message, name)


def assert_greater(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x > y in every element. Source: `tf.assert_greater`."""
    return _binary(">", "assert_greater", x, y, data, summarize, message, name)


def assert_greater_equal(
    x: Any, y: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x >= y in every element. Source: `tf.assert_greater_equal`."""
    return _binary(">=", "assert_greater_equal", x, y, data, summarize, message, name)


def _sentence(message: str | None) -> str:
    """A caller's message as the graph holds it, in front of what these checks say themselves."""
    return f"{message}.  " if message else ""


def _opening(message: str | None) -> str:
    """The same as a part of its own, which eager execution shows on a line of its own."""
    return message or "" if executing_eagerly() else _sentence(message)


# --- against zero -----------------------------------------------------------------------------------------------------


def _against_zero(
    sign: str, default_name: str, x: Any, data: Any, summarize: int | None, message: str | None, name: str | None
) -> Operation:
    with name_scope(name, default_name, [x, data]):
        x = convert_to_tensor(x, name="x")
        if data is None:
            texts = [f"Condition x {sign} 0 did not hold element-wise:", f"x ({called(x)}) = "]
            if sign == "<=":
                texts = ["".join(texts)]  # one string: so it is in TensorFlow's graphs, for this condition alone
            data = [_opening(message), *texts, x]
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype)
        low, high = (zero, x) if sign in (">", ">=") else (x, zero)
        compare = assert_less if sign in (">", "<") else assert_less_equal
        return compare(low, high, data=data, summarize=summarize)


def assert_negative(
    x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x < 0 in every element. Source: `tf.assert_negative`."""
    return _against_zero("<", "assert_negative", x, data, summarize, message, name)


def assert_positive(
    x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x > 0 in every element. Source: `tf.assert_positive`."""
    return _against_zero(">", "assert_positive", x, data, summarize, message, name)


def assert_non_negative(
    x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x >= 0 in every element. Source: `tf.assert_non_negative`."""
    return _against_zero(">=", "assert_non_negative", x, data, summarize, message, name)


def assert_non_positive(
    x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x <= 0 in every element. Source: `tf.assert_non_positive`."""
    return _against_zero("<=", "assert_non_positive", x, data, summarize, message, name)


# --- ranks, types -----------------------------------------------------------------------------------------------------


def _check_static_rank(value: Any) -> None:
    if value.ndim != 0:
        raise ValueError("Rank must be a scalar.")


def _rank_assertion(
    x: Any,
    ranks: Sequence[Any],
    accepts: Callable[[int, list[int]], bool],
    compare: Callable[[Tensor], Tensor],
    wanted: str,
    data: Any,
    summarize: int | None,
    message: str | None,
) -> Operation:
    """The part that the rank assertions share: assert types, decide statically, or compare at run time."""
    for one in ranks:
        assert_type(one, dtypes.int32)
    known = [constant_value(one) for one in ranks]
    for value in known:
        if value is not None:
            _check_static_rank(value)
    if all(v is not None for v in known) and x.get_shape().ndims is not None:
        numbers = [int(v) for v in known if v is not None]
        if not accepts(x.get_shape().ndims, numbers):
            shown = numbers[0] if len(numbers) == 1 else tuple(numbers)
            raise ValueError(
                f"{f'{message}.  ' if message else ''}Tensor {called(x)} must have rank {wanted}{shown}.  Received rank "
                f"{x.get_shape().ndims}, shape {x.get_shape()}"
            )
        return no_op(name="static_checks_determined_all_ok")
    condition = compare(rank(x))
    checks = [
        assert_rank(one, 0, data=["Rank must be a scalar. Received rank: ", one])
        for one, value in zip(ranks, known, strict=True)
        if value is None
    ]
    if checks:
        condition = with_dependencies(checks, condition)
    return Assert(condition, data, summarize=summarize)


def assert_rank(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x has that rank; ValueError when it is known to have another. Source: `tf.assert_rank`."""
    with name_scope(name, "assert_rank", [x, *(data or [])]):
        x = convert_to_tensor(x, name="x")
        wanted = convert_to_tensor(rank, name="rank")
        prefix = f"{message}.  " if message else ""
        if data is None:
            data = [prefix, f"Tensor {called(x)} must have rank", wanted, "Received shape: ", shape(x)]
        return _rank_assertion(
            x,
            [wanted],
            lambda found, allowed: found == allowed[0],
            lambda found: equal(found, wanted),
            "",
            data,
            summarize,
            message,
        )


def assert_rank_at_least(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """x has that rank or a higher one; ValueError when it is known not to. Source: `tf.assert_rank_at_least`."""
    with name_scope(name, "assert_rank_at_least", [x, *(data or [])]):
        x = convert_to_tensor(x, name="x")
        wanted = convert_to_tensor(rank, name="rank")
        prefix = f"{message}.  " if message else ""
        if data is None:
            data = [prefix, f"Tensor {called(x)} must have rank at least", wanted, "Received shape: ", shape(x)]
        return _rank_assertion(
            x,
            [wanted],
            lambda found, allowed: found >= allowed[0],
            lambda found: greater_equal(found, wanted),
            "at least ",
            data,
            summarize,
            message,
        )


def assert_rank_in(
    x: Any,
    ranks: Sequence[Any],
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """x has one of these ranks; ValueError when it is known not to. Source: `tf.assert_rank_in`."""
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or [])]):
        x = convert_to_tensor(x, name="x")
        allowed = [convert_to_tensor(one, name="rank") for one in ranks]
        prefix = f"{message}.  " if message else ""
        if data is None:
            data = [prefix, f"Tensor {called(x)} must have rank in", *allowed, "Received shape: ", shape(x)]

        def is_one_of(found: Tensor) -> Tensor:
            checks = [equal(one, found) for one in allowed]
            result = checks[0]
            for check in checks[1:]:
                result = logical_or(result, check)
            return result

        return _rank_assertion(
            x,
            allowed,
            lambda found, numbers: found in numbers,
            is_one_of,
            "in ",
            data,
            summarize,
            message,
        )


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Operation:
    """A NoOp, or TypeError when `tensor` is of another dtype. Source: `tf.assert_type`."""
    tf_type = dtypes.as_dtype(tf_type)
    with name_scope(name, "assert_type", [tensor]):
        if not isinstance(getattr(tensor, "dtype", None), dtypes.DType):
            tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype is not tf_type:
            raise TypeError(f"{_sentence(message)}{called(tensor)} must be of type {tf_type!r}; got {tensor.dtype!r}")
        return no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """A NoOp, or TypeError when x is not of an integer type. Source: `tf.assert_integer`."""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f'{_sentence(message)}Expected "x" to be integer type.  Found: {called(x)} of dtype {x.dtype}')
        return no_op("statically_determined_was_integer")


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """`tensor`; ValueError when its rank is known and not 0. Source: `tf.assert_scalar`."""
    with name_scope(name, "assert_scalar", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.get_shape().ndims != 0:
            whose = "" if executing_eagerly() else f" for {tensor.name}"
            raise ValueError(f"{_sentence(message)}Expected scalar shape{whose}, saw shape: {tensor.get_shape()}.")
        result: Tensor = tensor
        return result


# --- predicates -------------------------------------------------------------------------------------------------------
