"""`tf.train.experimental.PythonState`: what an object of Python's has to remember, in checkpoints. Source: TF 1.15."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, ClassVar

from tfexp.core import dtypes
from tfexp.graph.tensor import Tensor
from tfexp.ops.py_func import py_func
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.trackable import SavedState


class PythonState(SavedState):
    """A part of a `tf.train.Checkpoint` that is no variable: derive from it, and say how it is written and read.

    `Checkpoint.restore` calls `deserialize`, in graphs, too; `tf.train.Saver`'s nodes for it call both when they run, in the
    process that built the graph.
    """

    _attribute: ClassVar = "py_state"

    @abc.abstractmethod
    def serialize(self) -> bytes | str:
        """The state as it is to be written."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Take on the state that `serialize` gave."""

    @property
    def name(self) -> str:
        return type(self).__name__

    def saveable(self, key: str) -> SaveableObject:
        return _Saveable(self, key)


class _Saveable(SaveableObject):
    def __init__(self, state: PythonState, key: str):
        written = py_func(state.serialize, [], dtypes.string, name="py_state")
        super().__init__(written, [SaveSpec(written, "", key)], key)
        self._state = state

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        return py_func(self._state.deserialize, restored_tensors, [], name="restore_py_state")
