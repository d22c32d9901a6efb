"""The position of an iterator as a part of checkpoints. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tfexp.graph.scopes import colocate_with
from tfexp.graph.tensor import Tensor
from tfexp.ops.iterator_state import deserialize_iterator, serialize_iterator
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.trackable import SavedState


class IteratorSaveable(SaveableObject):
    """The position of the iterator `resource`, for a Saver that keeps it under `key`."""

    def __init__(self, resource: Tensor, key: str, name: str):
        serialized = serialize_iterator(resource)
        super().__init__(resource, [SaveSpec(serialized, "", key)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with colocate_with(self.op):
            return deserialize_iterator(self.op, restored_tensors[0])


class SavedPosition(SavedState):
    """What an iterator is to a `tf.train.Checkpoint`."""

    _attribute: ClassVar = "ITERATOR"
    _iterator_resource: Tensor

    @property
    def name(self) -> str:
        return type(self).__name__

    def saveable(self, key: str) -> SaveableObject:
        return IteratorSaveable(self._iterator_resource, key, key)
