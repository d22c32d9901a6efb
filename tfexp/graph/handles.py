"""What is known of what is behind a handle, without a look at it: the shape and dtype of a variable (the handle is a tensor
of dtype resource), or of the elements of a list (dtype variant)."""

from __future__ import annotations

import weakref
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor

# Loops hand on each of their inputs, the others their first one.
_LOOPS = frozenset({"While", "StatelessWhile"})
# Lists are noted where they come from, output by output: what a loop or a branch gives may be another one.
_HANDLES = (dtypes.resource, dtypes.variant)
_PASSING_ON = _LOOPS | {"Identity", "Enter", "Switch", "Merge", "Exit", "NextIteration"}


def _source(handle: Tensor) -> Tensor:
    while handle.dtype is dtypes.resource and handle._op.type in _PASSING_ON:
        handle = handle._op._inputs[handle.value_index if handle._op.type in _LOOPS else 0]
    return getattr(handle, "_captured_handle", handle)


def capture_handle(argument: Tensor, handle: Tensor) -> None:
    """Note that a tensor (an argument of a function, what a call of one gives) stands for one of another graph.

    There is something to note where these are handles.
    """
    if handle.dtype in _HANDLES:
        argument._captured_handle = _source(handle)  # type: ignore[attr-defined]  # for those that ask here


def note_elements(handle: Tensor, shape: TensorShape, dtype: DType | None) -> None:
    """Note what is known of the elements of a list."""
    handle._elements = shape, dtype  # type: ignore[attr-defined]  # for `handle_shape` and `handle_dtype`


def own_handle(handle: Tensor, variable: Any) -> None:
    """Note which variable is behind a handle."""
    handle._owner = weakref.ref(variable)  # type: ignore[attr-defined]  # for `owner_of`


def owner_of(handle: Tensor) -> Any:
    """The variable behind a handle, or None: for other tensors, and when the program no longer holds the variable."""
    reference = getattr(handle, "_owner", None)
    return None if reference is None else reference()


def handle_shape(handle: Tensor) -> TensorShape:
    """The shape that a handle's variable has, or each element of its list, as far as known; unknown for other things."""
    return _behind(handle)[0]


def handle_dtype(handle: Tensor) -> DType | None:
    """The dtype of a handle's variable or of its list's elements, if it is known."""
    return _behind(handle)[1]


def _behind(handle: Tensor) -> tuple[TensorShape, DType | None]:
    source = _source(handle)
    if source.dtype is dtypes.resource and source._op.type == "VarHandleOp":
        return source._op.attrs["shape"], source._op.attrs["dtype"]
    return getattr(source, "_elements", (TensorShape(None), None))
