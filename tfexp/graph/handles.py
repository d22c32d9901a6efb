"""What is known of the variable behind a handle (a tensor of dtype resource): its shape and dtype, without a look at it."""

from __future__ import annotations

import weakref
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor

# Loops hand on each of their inputs, the others their first one.
_LOOPS = frozenset({"While", "StatelessWhile"})
_PASSING_ON = _LOOPS | {"Identity", "Enter", "Switch", "Merge", "Exit", "NextIteration"}


def _source(handle: Tensor) -> Tensor:
    while handle.dtype is dtypes.resource and handle.op.type in _PASSING_ON:
        handle = handle.op._inputs[handle.value_index if handle.op.type in _LOOPS else 0]
    return getattr(handle, "_captured_handle", handle)


def capture_handle(argument: Tensor, handle: Tensor) -> None:
    """Note that an argument of a function stands for a handle of the graph around it."""
    argument._captured_handle = _source(handle)  # type: ignore[attr-defined]  # for those that ask here


def own_handle(handle: Tensor, variable: Any) -> None:
    """Note which variable is behind a handle."""
    handle._owner = weakref.ref(variable)  # type: ignore[attr-defined]  # for `owner_of`


def owner_of(handle: Tensor) -> Any:
    """The variable behind a handle, or None: for other tensors, and when the program no longer holds the variable."""
    reference = getattr(handle, "_owner", None)
    return None if reference is None else reference()


def handle_shape(handle: Tensor) -> TensorShape:
    """The shape that a handle's variable has, as far as it is known; unknown for other things."""
    source = _source(handle)
    shape: TensorShape = source.op.attrs["shape"] if source.op.type == "VarHandleOp" else TensorShape(None)
    return shape


def handle_dtype(handle: Tensor) -> DType | None:
    """The dtype of a handle's variable, if it is known."""
    source = _source(handle)
    return source.op.attrs["dtype"] if source.op.type == "VarHandleOp" else None
