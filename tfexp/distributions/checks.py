"""What values must be where a distribution validates its arguments, and the values that it is asked about. TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import no_op, with_dependencies
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_order import matrix_transpose
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import (
    assert_equal,
    assert_greater_equal,
    assert_less_equal,
    assert_non_negative,
    assert_none_equal,
    assert_positive,
)


def checked_positive(validate_args: bool, value: Any, name: str, message: str | None = None) -> Any:
    """`value`, which must be positive where arguments are validated."""
    if not validate_args:
        return value
    tensor = convert_to_tensor(value)
    return with_dependencies([assert_positive(tensor, message=message)], tensor, name=name)


def checked_regular(validate_args: bool, scale: Any, diag: Any) -> Any:
    """`scale`, a triangular or diagonal one with that diagonal, which must not be singular where arguments are validated."""
    if not validate_args:
        return scale
    message = "The scale is singular: its diagonal has a zero."
    return with_dependencies([assert_none_equal(diag, constant(0, diag.dtype), message=message)], scale)


def assert_integer_form(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    int_dtype: Any = None,
    name: str = "assert_integer_form",
) -> Operation:
    """An operation that fails for numbers with a fraction. TypeError for types that are no numbers."""
    with name_scope(name, values=[x, data]):
        tensor = convert_to_tensor(x, name="x")
        if tensor.dtype.is_integer:
            return no_op()
        message = message or f"{tensor} has non-integer components"
        if int_dtype is None:
            if tensor.dtype.base_dtype not in _INTEGERS:
                raise TypeError(f"Unrecognized type {tensor.dtype.name}")
            int_dtype = _INTEGERS[tensor.dtype.base_dtype]
        whole = cast(cast(tensor, int_dtype), tensor.dtype)
        made: Operation = assert_equal(tensor, whole, data=data, summarize=summarize, message=message, name=name)
        return made


_INTEGERS: dict[DType, DType] = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}


def embed_check_nonnegative_integer_form(x: Any, name: str = "embed_check_nonnegative_integer_form") -> Tensor:
    """`x`, of numbers that count."""
    with name_scope(name, values=[x]):
        tensor = convert_to_tensor(x, name="x")
        checks = [assert_non_negative(tensor, message=f"'{tensor}' must be non-negative.")]
        if not tensor.dtype.is_integer:
            checks.append(assert_integer_form(tensor, message=f"'{tensor}' cannot contain fractional components."))
        return _after(checks, tensor)


def embed_check_integer_casting_closed(
    x: Any, target_dtype: Any, assert_nonnegative: bool = True, name: str = "embed_check_casting_closed"
) -> Tensor:
    """`x`, of whole numbers that `target_dtype` can hold. TypeError unless one of the types is of whole numbers."""
    with name_scope(name, values=[x]):
        tensor, target = convert_to_tensor(x, name="x"), dtypes.as_dtype(target_dtype)
        for dtype in (tensor.dtype, target):
            if not (_counts(dtype) or dtype.is_floating):
                raise TypeError(f"Unrecognized dtype: {dtype.name}")
        if not (_counts(tensor.dtype) or _counts(target)):
            raise TypeError(
                f"At least one of {tensor}.dtype ({tensor.dtype.name}) and target_dtype ({target.name}) must be "
                "integer-type."
            )
        checks = []
        if assert_nonnegative:
            checks.append(assert_non_negative(tensor, message="Elements must be non-negative."))
        if tensor.dtype.is_floating:
            message = f"Elements must be {target.name}-equivalent."
            checks.append(assert_integer_form(tensor, int_dtype=target, message=message))
        elif _largest(tensor.dtype) > _largest(target):
            limit = convert_to_tensor(_largest(target), tensor.dtype)
            checks.append(assert_less_equal(tensor, limit, message=f"Elements cannot exceed {_largest(target)}."))
        if not (assert_nonnegative or tensor.dtype.is_floating) and _smallest(tensor.dtype) < _smallest(target):
            least = _smallest(target)
            message = f"Elements cannot be smaller than {least}."
            checks.append(assert_greater_equal(tensor, convert_to_tensor(least, tensor.dtype), message=message))
        return _after(checks, tensor)


def _counts(dtype: DType) -> bool:
    """Whether its values are whole numbers, or two of them."""
    return dtype.is_integer or dtype is dtypes.bool


def _largest(dtype: DType) -> int:
    """The largest whole number up to which a type has all of them."""
    if dtype is dtypes.bool:
        return 1
    if dtype.is_floating:
        digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
        return 2 ** digits[dtype.name]
    return int(dtype.max)


def _smallest(dtype: DType) -> int:
    """The smallest whole number from which on a type has all of them."""
    if dtype is dtypes.bool or dtype.is_unsigned:
        return 0
    return -_largest(dtype) if dtype.is_floating else int(dtype.min)


def embed_check_categorical_event_shape(categorical_param: Any, name: str = "embed_check_categorical_event_shape") -> Tensor:
    """`categorical_param`, [..., classes] of at least two classes, each of which its type can number.

    ValueError where that is known to be wrong, TypeError for a type that numbers nothing.
    """
    with name_scope(name, values=[categorical_param]):
        tensor = convert_to_tensor(categorical_param, name="categorical_param")
        if not tensor.dtype.is_floating:
            raise TypeError(f"Unable to validate size of unrecognized dtype ({tensor.dtype.base_dtype.name}).")
        limit = _largest(tensor.dtype.base_dtype)
        if tensor.shape.rank == 0:
            raise ValueError("A categorical-distribution parameter must have at least 1 dimension.")
        known = None if tensor.shape.rank is None else tensor.shape[-1].value
        if known is None:
            classes: Any = shape(tensor)[-1]  # type: ignore[index]
            at_least = "A categorical-distribution parameter must have at least 2 events."
            at_most = (
                f"Number of classes exceeds `dtype` precision, i.e., {tensor.dtype.name} dtype cannot exceed {limit} shape."
            )
            checks = [assert_less_equal(2, classes, message=at_least), assert_less_equal(classes, limit, message=at_most)]
            return _after(checks, tensor)
        if known < 2:
            raise ValueError("A categorical-distribution parameter must have at least 2 events.")
        if known > limit:
            raise ValueError(
                f"Number of classes exceeds `dtype` precision, i.e., {tensor.dtype.name} implies shape ({known}) cannot "
                f"exceed {limit}."
            )
        return tensor


def assert_symmetric(matrix: Any) -> Tensor:
    """`matrix`, which fails in the run unless it is its own transpose."""
    return _after([assert_equal(matrix, matrix_transpose(matrix))], matrix)


def _after(checks: Sequence[Operation], tensor: Tensor) -> Tensor:
    checked: Tensor = with_dependencies(checks, tensor) if checks else tensor
    return checked
