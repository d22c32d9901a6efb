"""What data sets make and ask of the structure of their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.data.functions import DatasetFunction
from tfexp.data.specs import spec_structure
from tfexp.data.structure import Component, map_leaves, slices_tensor
from tfexp.graph.constant_value import constant_value
from tfexp.graph.tensor import Tensor


def text_of(structure: Any) -> str:
    if isinstance(structure, dict):
        return "{" + ", ".join(f"{key}: {text_of(value)}" for key, value in structure.items()) + "}"
    if isinstance(structure, tuple):
        return "(" + ", ".join(map(text_of, structure)) + ")"
    return repr(structure) if isinstance(structure, DType) else str(structure)


def batched(batch_size: Any, drop_remainder: Any) -> Callable[[Component], Component]:
    size, drops = _known(batch_size), _known(drop_remainder)
    length = int(size) if drops and size is not None else None
    return lambda c: c.batch(length)


def _known(value: Any) -> Any:
    """What a number or a tensor always is; None where that depends on the run."""
    return constant_value(value) if isinstance(value, Tensor) else value


def normalize(*element: Any) -> Any:
    """The element as tensors that can be cut into slices: unbatching a data set begins with this map."""
    structure = element if len(element) > 1 else element[0]
    return map_leaves(slices_tensor, structure)


def check_predicate(function: DatasetFunction, says: str = "return type must be convertible to") -> None:
    """ValueError unless the function returns one boolean scalar: it `says` so."""
    result = function.result
    if not (isinstance(result, Component) and result.dtype is dtypes.bool and result.shape.is_compatible_with([])):
        raise ValueError(f"`predicate` {says} a scalar boolean tensor. Was {text_of(spec_structure(result))}.")
