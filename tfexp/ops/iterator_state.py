"""An iterator's position as a tensor, and back: what a checkpoint keeps; a resumed run sees the very next element."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import FailedPreconditionError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset_state import decode, encode
from tfexp.ops.iterator import IteratorResource

serialize_iterator = define_op(
    "SerializeIterator(resource_handle: resource) -> (serialized: variant) {external_state_policy: int = 0} #stateful"
)
deserialize_iterator = define_op("DeserializeIterator(resource_handle: resource, serialized: variant) -> () #stateful")


@serialize_iterator.shape
def _(resource_handle: InputShape) -> TensorShape:
    return TensorShape([])


@deserialize_iterator.shape
def _(resource_handle: InputShape, serialized: InputShape) -> list[TensorShape]:
    return []


@serialize_iterator.kernel("CPU")
def _(ctx: Any, resource: IteratorResource) -> Any:
    with resource.held() as iterator:
        if iterator is None:
            raise FailedPreconditionError(
                None, None, f"The iterator {resource.name!r} has no position: it was not initialized"
            )
        return np.array(encode(iterator.save()), object)


@deserialize_iterator.kernel("CPU")
def _(ctx: Any, resource: IteratorResource, serialized: Any) -> list[Any]:
    resource.restore(decode(bytes(serialized[()]), resource.name))
    return []
