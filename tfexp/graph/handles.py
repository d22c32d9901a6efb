"""The shape and dtype of the variable behind a handle (a tensor of dtype resource), without a look at it."""

from __future__ import annotations

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor

_PASSING_ON = frozenset({"Identity", "Enter", "Switch", "Merge", "Exit", "NextIteration"})


def _source(handle: Tensor) -> Tensor:
    while handle.dtype is dtypes.resource and handle._op.type in _PASSING_ON:
        handle = handle._op._inputs[0]
    return getattr(handle, "_captured_handle", handle)


def capture_handle(argument: Tensor, handle: Tensor) -> None:
    """Note that an argument of a function stands for a tensor of the graph around it, where that is a handle."""
    if handle.dtype is dtypes.resource:
        argument._captured_handle = _source(handle)  # type: ignore[attr-defined]  # for those that ask here


def handle_shape(handle: Tensor) -> TensorShape:
    """The shape of a handle's variable as far as known; unknown for handles of other things."""
    source = _source(handle)
    shape: TensorShape = source._op.attrs["shape"] if source._op.type == "VarHandleOp" else TensorShape(None)
    return shape


def handle_dtype(handle: Tensor) -> DType | None:
    """The dtype of a handle's variable, if it is known."""
    source = _source(handle)
    return source._op.attrs["dtype"] if source._op.type == "VarHandleOp" else None
