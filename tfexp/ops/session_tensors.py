"""Tensors that stay in the session's task, behind a string that names them; for programs: `runtime.session_handles`."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.shape_rules import with_rank


class _Store:
    """The kept tensors by handle. Handles are never used again, so sessions that share a task cannot meet in one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._kept: dict[bytes, np.ndarray] = {}

    def keep(self, node_name: str, device: str, value: Any) -> bytes:
        with self._lock:
            handle = f"{node_name};{next(self._numbers)};{device}".encode()
            self._kept[handle] = np.array(value)  # the step's own memory is used again
            return handle

    def find(self, handle: Any) -> np.ndarray:
        with self._lock:
            found = self._kept.get(_text(handle))
        if found is None:
            raise _unknown(handle)
        return found

    def delete(self, handle: Any) -> None:
        with self._lock:
            if self._kept.pop(_text(handle), None) is None:
                raise _unknown(handle)


def _text(handle: Any) -> bytes:
    return bytes(np.asarray(handle, object)[()])


def _unknown(handle: Any) -> InvalidArgumentError:
    text = _text(handle).decode(errors="replace")
    return InvalidArgumentError(None, None, f"The tensor with handle '{text}' is not in the session store.")


def _store(ctx: Any) -> _Store:
    store: _Store = ctx.resource("", "tensors", _Store, "session tensors")
    return store


get_session_handle = define_op("GetSessionHandle(value: T) -> (handle: string) {T: type} #stateful")
get_session_handle.not_differentiable()


@get_session_handle.shape
def _(value: InputShape) -> TensorShape:
    return TensorShape([])


@get_session_handle.kernel("CPU")
def _(ctx: Any, value: Any) -> Any:
    return np.array(_store(ctx).keep(ctx.node_name, ctx.device, value), object)


get_session_tensor = define_op("GetSessionTensor(handle: string) -> (value: dtype) {dtype: type} #stateful")
get_session_tensor.not_differentiable()


@get_session_tensor.shape
def _(handle: InputShape) -> TensorShape:
    with_rank(handle, 0)
    return TensorShape(None)


@get_session_tensor.kernel("CPU")
def _(ctx: Any, handle: Any, *, dtype: DType) -> Any:
    value = _store(ctx).find(handle)
    if value.dtype != np.dtype(dtype.as_numpy_dtype):
        text = _text(handle).decode(errors="replace")
        raise InvalidArgumentError(None, None, f"The tensor with handle '{text}' is of {value.dtype}, not {dtype.name}")
    return value.copy()


delete_session_tensor = define_op("DeleteSessionTensor(handle: string) -> () #stateful")
delete_session_tensor.not_differentiable()


@delete_session_tensor.shape
def _(handle: InputShape) -> None:
    with_rank(handle, 0)


@delete_session_tensor.kernel("CPU")
def _(ctx: Any, handle: Any) -> None:
    _store(ctx).delete(handle)
