"""`tf.QueueBase` and its kinds: what programs hold of a queue. The queue itself lives in a session, or where its name says.

Source: `tf.queue`, TF 1.15.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.op import Op
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import device, init_scope, name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import stack
from tfexp.ops.queue_ops import (
    fifo_queue,
    padding_fifo_queue,
    priority_queue,
    queue_close,
    queue_dequeue,
    queue_dequeue_many,
    queue_dequeue_up_to,
    queue_enqueue,
    queue_enqueue_many,
    queue_is_closed,
    queue_size,
    random_shuffle_queue,
)


class QueueBase:
    """What all queues do. An element is a tuple of tensors of the types `dtypes`, and of `shapes` where these are known.

    Elements with `names` are dicts. A node that gives waits while the queue is full, one that takes while it is empty;
    once the queue is closed, giving ends with CancelledError, and taking with OutOfRangeError when too little is left.
    """

    def __init__(self, dtypes: Sequence[Any], shapes: Sequence[Any] | None, names: Sequence[str] | None, queue_ref: Tensor):
        self._dtypes = [as_dtype(t) for t in dtypes]
        if shapes is not None:
            if len(shapes) != len(self._dtypes):
                raise ValueError(
                    "Queue shapes must have the same length as dtypes, received "
                    f"len(shapes)={len(shapes)}, len(dtypes)={len(self._dtypes)}"
                )
            self._shapes = [as_shape(s) for s in shapes]
        else:
            self._shapes = [TensorShape(None)] * len(self._dtypes)
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError(
                "List of names must have the same length as the list of dtypes, received "
                f"len(names)={len(names)},len(dtypes)={len(self._dtypes)}"
            )
        self._names = None if names is None else list(names)
        self._queue_ref = queue_ref
        self._name = queue_ref._op.name.rpartition("/")[2]

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue that `index`, an int or a scalar tensor, chooses when a step runs. Their types and names must agree."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(q.dtypes == first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(q.names == first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [_common(component) for component in zip(*(q.shapes for q in queues), strict=True)]
        chosen = gather(stack([q.queue_ref for q in queues]), index)
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The queue's handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        return self._queue_ref._op.name

    @property
    def dtypes(self) -> list[DType]:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        return self._names

    # --- giving ------------------------------------------------------------------------------------------------------

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """A node that puts one element in: a tensor, a list or tuple of the components, or a dict of them."""
        with name_scope(name, f"{self._name}_enqueue", _parts(vals)) as scope:
            components = self._components(vals)
            for component, shape in zip(components, self._shapes):
                component.get_shape().assert_is_compatible_with(shape)
            return queue_enqueue(self._queue_ref, components, name=scope)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """A node that puts in as many elements as the components have rows, one after another."""
        with name_scope(name, f"{self._name}_EnqueueMany", _parts(vals)) as scope:
            components = self._components(vals)
            batch = components[0].get_shape().with_rank_at_least(1)[0]
            for component, shape in zip(components, self._shapes):
                batch = batch.merge_with(component.get_shape().with_rank_at_least(1)[0])
                component.get_shape()[1:].assert_is_compatible_with(shape)
            return queue_enqueue_many(self._queue_ref, components, name=scope)

    def _components(self, vals: Any) -> list[Tensor]:
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  "
                    f"Dictionary: {sorted(vals)},Queue: {sorted(self._names)}"
                )
            parts = [vals[k] for k in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            parts = list(vals) if isinstance(vals, (list, tuple)) else [vals]
        return [
            convert_to_tensor(part, dtype=dtype, name=f"component_{i}")
            for i, (part, dtype) in enumerate(zip(parts, self._dtypes))
        ]

    # --- taking ------------------------------------------------------------------------------------------------------

    def dequeue(self, name: str | None = None) -> Any:
        """The next element: a tensor, a list of them, or a dict."""
        outputs = self._taken(queue_dequeue, name or f"{self._name}_Dequeue")
        return self._as_element(outputs, self._shapes)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """The next `n` elements, stacked. OutOfRangeError, with nothing taken, when the closed queue has fewer."""
        outputs = self._taken(queue_dequeue_many, name or f"{self._name}_DequeueMany", n)
        known = static_value(outputs[0].op.inputs[1])
        batch = TensorShape([None if known is None else int(known)])
        return self._as_element(outputs, [batch.concatenate(s) for s in self._shapes])

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """The next `n` elements, stacked, or what is left when the queue is closed and has fewer."""
        outputs = self._taken(queue_dequeue_up_to, name or f"{self._name}_DequeueUpTo", n)
        return self._as_element(outputs, [TensorShape([None]).concatenate(s) for s in self._shapes])

    def _taken(self, op: Op, name: str, *n: Any) -> list[Tensor]:
        return list(op(self._queue_ref, *n, component_types=self._dtypes, name=name))

    def _as_element(self, outputs: list[Tensor], shapes: Sequence[TensorShape]) -> Any:
        for output, shape in zip(outputs, shapes, strict=True):
            output.set_shape(shape)
        if self._names:
            return dict(zip(self._names, outputs, strict=True))
        return outputs[0] if len(outputs) == 1 else outputs

    # --- the rest ----------------------------------------------------------------------------------------------------

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """A node that closes the queue once all that wait to put something in have, or, if asked to, cancels those."""
        name = name or f"{self._name}_Close"
        node: Operation = queue_close(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)
        return node

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue is closed, a bool."""
        closed: Tensor = queue_is_closed(self._queue_ref, name=name or f"{self._name}_Is_Closed")
        return closed

    def size(self, name: str | None = None) -> Tensor:
        """How many elements are in it, an int32."""
        size: Tensor = queue_size(self._queue_ref, name=name or f"{self._name}_Size")
        return size


def _parts(vals: Any) -> list[Any]:
    if isinstance(vals, (list, tuple)):
        return list(vals)
    return list(vals.values()) if isinstance(vals, dict) else [vals]


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    """What is true of all of them."""
    common = shapes[0]
    for shape in shapes[1:]:
        if common.rank is None or shape.rank is None or common.rank != shape.rank:
            return TensorShape(None)
        dims = zip(common.as_list(), shape.as_list(), strict=True)
        common = TensorShape([a if a == b else None for a, b in dims])
    return common


def _as_types(types: Any) -> list[DType]:
    return [as_dtype(t) for t in types] if isinstance(types, (list, tuple)) else [as_dtype(types)]


def _as_shapes(shapes: Any, types: Sequence[DType], unknown_dims: bool = False) -> list[TensorShape] | None:
    """The shapes as a list; None where none are given. A single shape is one for a single component."""
    if shapes is None:
        return None
    if len(types) == 1 and not (isinstance(shapes, (list, tuple)) and shapes and all(map(_is_shape, shapes))):
        found = [as_shape(shapes)]
    else:
        found = [as_shape(s) for s in shapes]
    if not unknown_dims and not all(s.is_fully_defined() for s in found):
        raise ValueError(f"All shapes must be fully defined: {found}")
    if any(s.rank is None for s in found):
        raise ValueError(f"All shapes must have a defined rank: {found}")
    return found


def _is_shape(value: Any) -> bool:
    return isinstance(value, (list, tuple, TensorShape))


def _as_names(names: Any, types: Sequence[DType]) -> list[str] | None:
    if not names:
        return None
    listed = [names] if isinstance(names, str) else list(names)
    if len(listed) != len(types):
        raise ValueError(
            "List of names must have the same length as the list of dtypes, received "
            f"len(names)={len(listed)},len(dtypes)={len(types)}"
        )
    return listed


class FIFOQueue(QueueBase):
    """First in, first out, of at most `capacity` elements. `shared_name`: for all sessions at a server. `tf.FIFOQueue`."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ):
        types = _as_types(dtypes)
        known = _as_shapes(shapes, types)
        listed = _as_names(names, types)
        with init_scope(), device("CPU"):
            ref = fifo_queue(
                component_types=types, shapes=known or [], capacity=capacity, shared_name=shared_name or "", name=name
            )
        super().__init__(types, known, listed, ref)


class RandomShuffleQueue(QueueBase):
    """Elements come out at random; `min_after_dequeue` of them stay until it is closed. `tf.RandomShuffleQueue`."""

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ):
        types = _as_types(dtypes)
        known = _as_shapes(shapes, types)
        listed = _as_names(names, types)
        seed1, seed2 = get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # Every session has to come to the same seeds, whatever else is in its graph: so the name decides.
            digest = hashlib.md5(f"{seed1}{shared_name}".encode(), usedforsecurity=False).hexdigest()
            seed2 = int(digest[:8], 16) & 0x7FFFFFFF
        ref = random_shuffle_queue(
            component_types=types,
            shapes=known or [],
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed1,
            seed2=seed2,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, known, listed, ref)


class PaddingFIFOQueue(QueueBase):
    """First in, first out; dimensions of `shapes` may be None: batches are padded with zeros. `tf.PaddingFIFOQueue`."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ):
        types = _as_types(dtypes)
        if not isinstance(shapes, (list, tuple)) or any(s is None for s in shapes):
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        known = _as_shapes(shapes, types, unknown_dims=True)
        listed = _as_names(names, types)
        ref = padding_fifo_queue(
            component_types=types, shapes=known, capacity=capacity, shared_name=shared_name or "", name=name
        )
        super().__init__(types, known, listed, ref)


class PriorityQueue(QueueBase):
    """The element of least priority first: an int64, which is an element's first component. `tf.PriorityQueue`."""

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ):
        own_types = _as_types(types)
        known = _as_shapes(shapes, own_types)
        ref = priority_queue(
            component_types=own_types, shapes=known or [], capacity=capacity, shared_name=shared_name or "", name=name
        )
        all_types = [dtypes.int64, *own_types]
        all_shapes = [TensorShape([]), *known] if known else known
        super().__init__(all_types, all_shapes, _as_names(names, all_types), ref)
