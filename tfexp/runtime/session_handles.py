"""`tf.get_session_handle` and its kin: a tensor stays where it was computed, and goes into later steps from there.

Fetching what `get_session_handle` gives returns a `TensorHandle`; its text is fed to the placeholder that
`get_session_tensor` made. Source: TF 1.15.
"""

from __future__ import annotations

import weakref
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import get_op
from tfexp.core.text import as_str_any
from tfexp.graph.scopes import colocate_with, device
from tfexp.graph.tensor import Tensor


class TensorHandle:
    """A tensor that a session's task keeps. It lives until it is deleted, or its session's resources end."""

    def __init__(self, handle: Any, dtype: DType, session: Any):
        self._handle: str = as_str_any(handle)
        self._dtype = dtype
        self._session = weakref.ref(session)

    def __str__(self) -> str:
        return self._handle

    def __repr__(self) -> str:
        return f"<tf.TensorHandle {self._handle!r} of {self._dtype.name}>"

    @property
    def handle(self) -> str:
        """The text that stands for the tensor: `node;number;device`."""
        return self._handle

    def get_raw_handle(self) -> str:
        return self._handle

    def eval(self) -> Any:
        """The tensor. RuntimeError when the session is gone, InvalidArgumentError when it was deleted."""
        holder, value = self._node(_READERS, lambda: get_session_tensor(self._handle, self._dtype))
        return self._of_session().run(value, {holder: self._handle})

    def delete(self) -> None:
        """Forget the tensor; InvalidArgumentError when it was deleted before."""
        holder, deleted = self._node(_DELETERS, lambda: delete_session_tensor(self._handle))
        self._of_session().run(deleted, {holder: self._handle})

    def _of_session(self) -> Any:
        session = self._session()
        if session is None:
            raise RuntimeError(f"The session of the tensor handle {self._handle!r} is gone")
        return session

    def _node(self, kind: tuple[str], make: Any) -> Any:
        """A graph has one reader and one deleter for each device (and dtype), however many handles there are."""
        graph = self._of_session().graph
        made = graph.get_collection_ref(kind)
        key = (_device_of(self._handle), self._dtype if kind is _READERS else None)
        for known, nodes in made:
            if known == key:
                return nodes
        with graph.as_default(), graph.control_dependencies(None):
            made.append((key, make()))
        return made[-1][1]


_READERS, _DELETERS = ("session tensors' readers",), ("session tensors' deleters",)


def _device_of(handle: str) -> str:
    return handle.rsplit(";", maxsplit=1)[-1]


def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """A string tensor; fetching it keeps `data` where it is and returns a `TensorHandle`. TypeError for no Tensor."""
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        handle: Tensor = get_op("GetSessionHandle")(data, name=name)
        return handle


def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(a placeholder for a handle's text, the tensor that it names), on the device that `handle` names."""
    with device(_device_of(str(handle))):
        holder = get_op("Placeholder")(dtype=dtypes.string)
        return holder, get_op("GetSessionTensor")(holder, dtype=dtype, name=name)


def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Any]:
    """(a placeholder for a handle's text, the operation that forgets the tensor), on the device that `handle` names."""
    with device(_device_of(str(handle))):
        holder = get_op("Placeholder")(dtype=dtypes.string)
        return holder, get_op("DeleteSessionTensor")(holder, name=name)
