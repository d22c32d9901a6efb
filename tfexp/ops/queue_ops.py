"""The ops of queues; the queues themselves are `ops.queue_resource`, what programs hold is `ops.queue`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.ops.array import Array
from tfexp.ops.handle_ops import define_resource, shared_or_own
from tfexp.ops.queue_resource import Element, PaddingQueue, PriorityQueue, Queue, ShuffleQueue, batched
from tfexp.ops.shape_rules import with_rank

# --- handles -----------------------------------------------------------------------------------------------------------

_TYPES = "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; "

fifo_queue = define_resource("FIFOQueue", "handle", _TYPES)


@fifo_queue.kernel("CPU", handle=True)
def _(
    ctx: Any, *, component_types: list[DType], shapes: list[TensorShape], capacity: int, container: str, shared_name: str
) -> Queue:
    return _queue(ctx, container, shared_name, Queue, component_types, shapes, capacity)


padding_fifo_queue = define_resource("PaddingFIFOQueue", "handle", _TYPES)


@padding_fifo_queue.kernel("CPU", handle=True)
def _(
    ctx: Any, *, component_types: list[DType], shapes: list[TensorShape], capacity: int, container: str, shared_name: str
) -> Queue:
    return _queue(ctx, container, shared_name, PaddingQueue, component_types, shapes, capacity)


random_shuffle_queue = define_resource(
    "RandomShuffleQueue", "handle", f"{_TYPES}min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; "
)


@random_shuffle_queue.kernel("CPU", handle=True)
def _(
    ctx: Any,
    *,
    component_types: list[DType],
    shapes: list[TensorShape],
    capacity: int,
    min_after_dequeue: int,
    seed: int,
    seed2: int,
    container: str,
    shared_name: str,
) -> Queue:
    settings = (component_types, shapes, capacity, min_after_dequeue, seed, seed2)
    return _queue(ctx, container, shared_name, ShuffleQueue, *settings)


priority_queue = define_resource(
    "PriorityQueue",
    "handle",
    "component_types: list(type) >= 0 = []; shapes: list(shape) >= 0; capacity: int = -1; ",
)


@priority_queue.kernel("CPU", handle=True)
def _(
    ctx: Any, *, component_types: list[DType], shapes: list[TensorShape], capacity: int, container: str, shared_name: str
) -> Queue:
    """Its elements have one component more than the node says: the priority, which comes first."""
    types, all_shapes = [dtypes.int64, *component_types], [TensorShape([]), *shapes]
    return _queue(ctx, container, shared_name, PriorityQueue, types, all_shapes, capacity)


def _queue(ctx: Any, container: str, shared_name: str, kind: type[Queue], *settings: Any) -> Queue:
    found: Queue = shared_or_own(ctx, "queue", container, shared_name, lambda name: kind(name, *settings))
    if shared_name:
        found.check_same(kind(found.name, *settings))
    return found


# --- giving ------------------------------------------------------------------------------------------------------------

queue_enqueue = define_op(
    "QueueEnqueueV2(handle: resource, components: Tcomponents) -> () {Tcomponents: list(type) >= 1; "
    "timeout_ms: int = -1} #stateful"
)
queue_enqueue.not_differentiable()


@queue_enqueue.shape
def _(handle: InputShape, components: list[InputShape]) -> None:
    return None


@queue_enqueue.kernel("CPU", waits=True)
def _(ctx: Any, handle: Queue, components: list[Array], *, Tcomponents: list[DType], timeout_ms: int) -> Any:
    _check_types(handle, Tcomponents)
    _check_timeout(timeout_ms)
    for i, (array, dims) in enumerate(zip(components, handle.dims)):
        if array.shape != dims:
            _check_shape(i, array.shape, handle.shapes[i].as_list())
    return handle.enqueue(tuple(map(_own, components)))


queue_enqueue_many = define_op(
    "QueueEnqueueManyV2(handle: resource, components: Tcomponents) -> () {Tcomponents: list(type) >= 1; "
    "timeout_ms: int = -1} #stateful"
)
queue_enqueue_many.not_differentiable()


@queue_enqueue_many.shape
def _(handle: InputShape, components: list[InputShape]) -> None:
    return None


@queue_enqueue_many.kernel("CPU", waits=True)
def _(ctx: Any, handle: Queue, components: list[Array], *, Tcomponents: list[DType], timeout_ms: int) -> Any:
    _check_types(handle, Tcomponents)
    _check_timeout(timeout_ms)
    count = components[0].shape[0] if components[0].ndim else None
    for i, array in enumerate(components):
        if handle.shapes:
            _check_shape(i, array.shape, [count, *handle.shapes[i].as_list()])
        elif array.ndim == 0:
            raise InvalidArgumentError(
                None, None, f"Component {i} of several elements is a scalar: it has no first dimension"
            )
        elif array.shape[0] != count:
            raise InvalidArgumentError(
                None,
                None,
                "All input tensors must have the same size in the 0th dimension. Component "
                f"{i} has {array.shape[0]}, and should have {count}",
            )
    rows = [_rows(_own(array)) for array in components]
    return handle.enqueue_many(list(zip(*rows, strict=True)))


def _own(array: Any) -> np.ndarray:
    """A copy: what comes in may be the caller's array, or a buffer that the next step writes to."""
    return np.array(array) if isinstance(array, np.generic) else array.copy()


def _rows(array: np.ndarray) -> list[np.ndarray]:
    """The elements along the first dimension, each an array."""
    if array.ndim > 1:
        return list(array)
    return [array[i : i + 1].reshape(()) for i in range(len(array))]


def _check_types(queue: Queue, types: Sequence[DType]) -> None:
    if queue.types != tuple(types):
        mine, theirs = (", ".join(t.name for t in each) for each in (queue.types, types))
        raise InvalidArgumentError(
            None, None, f"{queue.kind} '{queue.name}' has components of types ({mine}), but the node's are ({theirs})"
        )


def _check_timeout(timeout_ms: int) -> None:
    if timeout_ms != -1:
        raise InvalidArgumentError(None, None, "Timeout not supported yet.")


def _check_shape(component: int, shape: Sequence[int], expected: Sequence[int | None]) -> None:
    if len(shape) != len(expected) or any(e is not None and e != d for d, e in zip(shape, expected, strict=True)):
        raise InvalidArgumentError(
            None,
            None,
            f"Shape mismatch in tuple component {component}. Expected {dims_text(expected)}, got {dims_text(shape)}",
        )


# --- taking ------------------------------------------------------------------------------------------------------------

_TAKEN = "(components: component_types) {component_types: list(type) >= 1; timeout_ms: int = -1}"

queue_dequeue = define_op(f"QueueDequeueV2(handle: resource) -> {_TAKEN} #stateful")
queue_dequeue.not_differentiable()


@queue_dequeue.shape
def _(handle: InputShape, *, component_types: list[DType]) -> list[TensorShape]:
    return [TensorShape(None)] * len(component_types)


@queue_dequeue.kernel("CPU", waits=True)
def _(ctx: Any, handle: Queue, *, component_types: list[DType], timeout_ms: int) -> Any:
    _check_types(handle, component_types)
    _check_timeout(timeout_ms)
    return handle.dequeue()


queue_dequeue_many = define_op(f"QueueDequeueManyV2(handle: resource, n: int32) -> {_TAKEN} #stateful")
queue_dequeue_many.not_differentiable()


@queue_dequeue_many.shape
def _(handle: InputShape, n: InputShape, *, component_types: list[DType]) -> list[TensorShape]:
    with_rank(n, 0)
    return [TensorShape(None)] * len(component_types)


@queue_dequeue_many.kernel("CPU", waits=True)
def _(ctx: Any, handle: Queue, n: Array, *, component_types: list[DType], timeout_ms: int) -> Any:
    _check_types(handle, component_types)
    _check_timeout(timeout_ms)
    return _dequeue_many(handle, n, False, "DequeueManyOp")


queue_dequeue_up_to = define_op(f"QueueDequeueUpToV2(handle: resource, n: int32) -> {_TAKEN} #stateful")
queue_dequeue_up_to.not_differentiable()


@queue_dequeue_up_to.shape
def _(handle: InputShape, n: InputShape, *, component_types: list[DType]) -> list[TensorShape]:
    with_rank(n, 0)
    return [TensorShape(None)] * len(component_types)


@queue_dequeue_up_to.kernel("CPU", waits=True)
def _(ctx: Any, handle: Queue, n: Array, *, component_types: list[DType], timeout_ms: int) -> Any:
    _check_types(handle, component_types)
    _check_timeout(timeout_ms)
    return _dequeue_many(handle, n, True, "DequeueUpToOp")


def _dequeue_many(queue: Queue, n: Array, small: bool, op: str) -> Any:
    if n.ndim:
        raise InvalidArgumentError(
            None, None, f"{op} wants a scalar number of elements, not one of shape {dims_text(n.shape)}"
        )
    count = int(n)
    if count < 0:
        raise InvalidArgumentError(None, None, f"{op} requested {count} < 0 elements")
    if not queue.shapes:
        raise InvalidArgumentError(
            None, None, f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
        )
    if count == 0:
        return [
            np.zeros([0, *(d or 0 for d in s.as_list())], t.as_numpy_dtype)
            for s, t in zip(queue.shapes, queue.types, strict=True)
        ]
    padded = isinstance(queue, PaddingQueue)

    def components(elements: list[Element]) -> list[np.ndarray]:
        return [batched(elements, i, padded) for i in range(len(queue.types))]

    return queue.dequeue_many(count, small, components)


# --- the rest ----------------------------------------------------------------------------------------------------------

queue_close = define_op("QueueCloseV2(handle: resource) -> () {cancel_pending_enqueues: bool = false} #stateful")
queue_close.not_differentiable()


@queue_close.shape
def _(handle: InputShape) -> None:
    return None


@queue_close.kernel("CPU", waits=True)
def _(ctx: Any, handle: Queue, *, cancel_pending_enqueues: bool) -> Any:
    return handle.close(cancel_pending_enqueues)


queue_size = define_op("QueueSizeV2(handle: resource) -> (size: int32) #stateful")
queue_size.not_differentiable()


@queue_size.shape
def _(handle: InputShape) -> TensorShape:
    return TensorShape([])


@queue_size.kernel("CPU")
def _(ctx: Any, handle: Queue) -> Any:
    return np.int32(handle.size())


queue_is_closed = define_op("QueueIsClosedV2(handle: resource) -> (is_closed: bool) #stateful")
queue_is_closed.not_differentiable()


@queue_is_closed.shape
def _(handle: InputShape) -> TensorShape:
    return TensorShape([])


@queue_is_closed.kernel("CPU")
def _(ctx: Any, handle: Queue) -> Any:
    return np.bool_(handle.closed)
