"""What a debugger wants to know of a value: itself, or what is unusual about it. Source: TF 1.15's Debug… ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import FailedPreconditionError

DebugOp = Callable[[Any], Any]

_OPTIONS = ("gated_grpc", "tensor_name", "device_name", "debug_urls")
_SUMMARY_OPTIONS = (*_OPTIONS, "lower_bound", "upper_bound", "mute_if_healthy")


def debug_op(spec: str, dtype: DType, node: str, tolerate: bool) -> tuple[str, DType, DebugOp] | None:
    """Name, dtype and function of `Name` or `Name(option=value; option=value)`; None where the op does not take this dtype.

    Functions take an array, or None for a tensor that is not initialized. FailedPreconditionError, which says the name of
    the debug node (`node` and that of the op), where there is no such op or option, which those who `tolerate` it do
    without; and for options without a value.
    """
    name, _, text = spec.partition("(")
    if name != "DebugIdentity" and name not in _OF_NUMBERS:
        if tolerate:
            return None
        raise FailedPreconditionError(None, None, f"Failed to create node definition for debug op {name} of {node}{name}")
    given = [item.partition("=") for item in text.rstrip(")").split(";") if item.strip()]
    if not all(separator for _, separator, _ in given):
        raise FailedPreconditionError(None, None, f'Malformed attributes in debug op name "{spec}"')
    options = {key.strip(): value for key, _, value in given}
    wrong = [key for key in options if key not in (_OPTIONS if name != "DebugNumericSummary" else _SUMMARY_OPTIONS)]
    if wrong and not tolerate:
        raise FailedPreconditionError(
            None, None, f"{len(wrong)} attribute key(s) were not valid for debug node {node}{name}: {', '.join(wrong)}"
        )
    if name == "DebugIdentity":
        return name, dtype, lambda value: value
    if not _counts(dtype):
        return None
    result, function = _OF_NUMBERS[name]
    return name, result, lambda value: function(value, dtype, options)


def _counts(dtype: DType) -> bool:
    return dtype.is_floating or dtype.is_integer or dtype.is_bool


def _nan_count(value: Any, dtype: DType, options: dict[str, str]) -> Any:
    return None if value is None else np.array([np.count_nonzero(np.isnan(_as_doubles(value)))], np.int64)


def _numeric_summary(value: Any, dtype: DType, options: dict[str, str]) -> np.ndarray:
    """Whether there is a value; how many elements are there, NaN, too low, negative, zero, positive, too high; the least,
    the greatest, the mean and the variance of the finite ones; dtype, rank, and the sizes.

    `lower_bound`, `upper_bound`: from where on numbers are too low or too high; with `mute_if_healthy` the result is empty
    where none is, and no NaN either.
    """
    shape = () if value is None else value.shape
    x = np.zeros(0) if value is None else _as_doubles(value).ravel()
    low = x <= float(options.get("lower_bound", "-inf"))
    high = x >= float(options.get("upper_bound", "inf"))
    between = x[~(low | high)]
    counts = [np.isnan(x), low, between < 0, between == 0, between > 0, high]
    if options.get("mute_if_healthy", "false").lower() == "true" and not any(counts[i].any() for i in (0, 1, 5)):
        return np.zeros(0)
    finite = x[np.isfinite(x)]
    some = finite.size > 0
    moments = [finite.min(), finite.max(), finite.mean(), finite.var()] if some else [np.inf, -np.inf, np.nan, np.nan]
    kind = float(dtype.base_dtype.as_datatype_enum)
    numbers = [float(value is not None), x.size, *map(np.count_nonzero, counts), *moments, kind, len(shape), *shape]
    return np.array(numbers, np.float64)


def _as_doubles(value: Any) -> np.ndarray:
    return np.asarray(value).astype(np.float64)


_OF_NUMBERS: dict[str, tuple[DType, Callable[[Any, DType, dict[str, str]], Any]]] = {
    "DebugNanCount": (dtypes.int64, _nan_count),
    "DebugNumericSummary": (dtypes.float64, _numeric_summary),
}
