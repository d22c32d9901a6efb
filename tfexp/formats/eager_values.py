"""Python values as the arrays of tensors where ops run at once. Graphs take the same ones, and refuse others in other words.

Source: the errors of `tf.constant` in eager execution, TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.formats.tensor import to_array

_MIXED = "Can't convert Python sequence with mixed types to Tensor."
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_TOO_LARGE = "Can't convert Python sequence with out-of-range integer to Tensor."
_INT64 = np.iinfo(np.int64)


def eager_array(value: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    """`value` as (array, dtype), by the rules of `to_array`.

    ValueError for what no tensor can hold: other objects than numbers and text, numbers beside text, sequences of unequal
    lengths, integers beyond 64 bits. TypeError for what the `dtype` cannot hold.
    """
    try:
        return to_array(value, dtype, any_sequence=True)
    except (TypeError, ValueError, OverflowError) as error:
        raise _refusal(value, dtype, error) from None


def _refusal(value: Any, dtype: DType | None, error: Exception) -> Exception:
    if isinstance(value, (np.ndarray, np.generic)):
        odd = next((leaf for leaf in np.ravel(value).tolist() if not isinstance(leaf, (str, bytes))), None)
        return ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(odd).__name__}).")
    first, sizes = value, []
    while _is_sequence(first) and len(first):
        sizes.append(len(first))
        first = first[0]
    kind = _kind(first)
    if kind is None:
        return ValueError(f"Attempt to convert a value ({first!r}) with an unsupported type ({type(first)}) to a Tensor.")
    message = _fault(value, sizes, kind)
    if message is not None:
        return ValueError(message)
    if dtype is not None:
        return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    return error


def _fault(value: Any, sizes: list[int], kind: type) -> str | None:
    """What keeps nested sequences from being those of these sizes, with leaves of that kind."""
    if not sizes:
        if _kind(value) is not kind:
            return _MIXED
        return _TOO_LARGE if isinstance(value, int) and not _INT64.min <= value <= _INT64.max else None
    if not _is_sequence(value) or len(value) != sizes[0]:
        return _RAGGED
    return next(filter(None, (_fault(one, sizes[1:], kind) for one in value)), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple, range)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _kind(leaf: Any) -> type | None:
    """Numbers or text; None for anything else."""
    if isinstance(leaf, (bool, int, float, complex, np.number, np.bool_)):
        return complex
    return str if isinstance(leaf, (str, bytes)) else None
