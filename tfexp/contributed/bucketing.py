"""Batches of examples of one kind each, or of similar length, by way of a queue for each kind.

Source: `tf.contrib.training.{bucket,bucket_by_sequence_length}`, TF 1.15.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes, errors
from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal, less_equal
from tfexp.ops.queue import FIFOQueue, PaddingFIFOQueue, QueueBase
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.summary import scalar
from tfexp.train.queue_runner import QueueRunner, add_queue_runner

_ENDS = (errors.OutOfRangeError, errors.CancelledError)


def bucket(
    tensors: Any,
    which_bucket: Any,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(number of a bucket, a batch of it): each example, `tensors` (a list or dict), goes to the bucket `which_bucket`.

    A batch has the form of the examples; of a list of one tensor it is a tensor.
    batch_size: one for all, or a list with each bucket's. capacity: of the queue of batches and, unless `bucket_capacities`
    says otherwise, of each bucket's. shapes, dynamic_pad, allow_smaller_final_batch: as `tf.train.batch`. keep_input: a
    bool, whether the example counts. The queues are filled by queue runners. ValueError for sizes of other numbers of
    buckets, without tensors, and for shapes that are not known.
    """
    keys = sorted(tensors) if isinstance(tensors, Mapping) else None
    listed = [tensors[key] for key in keys] if keys is not None else list(tensors)
    if not listed:
        raise ValueError("Expected at least one tensor in bucket().")
    sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else [batch_size] * num_buckets
    capacities = [capacity] * num_buckets if bucket_capacities is None else list(bucket_capacities)
    for what, given in (("batch_size", sizes), ("bucket_capacities", capacities)):
        if len(given) != num_buckets:
            raise ValueError(f"{what} has to be a list with a number for each of the {num_buckets} buckets: {given}")
    with name_scope(name, "bucket", listed) as scope:
        values = [convert_to_tensor(tensor) for tensor in listed]
        which = convert_to_tensor(which_bucket, dtypes.int32)
        known = [TensorShape(s) for s in shapes] if shapes is not None else [value.get_shape() for value in values]
        kinds = [value.dtype for value in values]
        make = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queues = [
            make(
                capacities[i],
                kinds,
                known,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        top = _queue_of_batches(capacity, kinds, known, sizes, allow_smaller_final_batch, shared_name)
        _fill(queues, which, values, keep_input, num_threads)
        _collect(queues, top, sizes, allow_smaller_final_batch)
        scalar(f"bucket/{top.name}/size", cast(top.size(), dtypes.float32))
        number, *batch = top.dequeue(name=scope)
        if keys is not None:
            return number, dict(zip(keys, batch, strict=True))
        return number, batch[0] if len(batch) == 1 else batch


def _queue_of_batches(
    capacity: int, kinds: list[Any], known: list[TensorShape], sizes: list[Any], smaller: bool, shared_name: str | None
) -> QueueBase:
    size = sizes[0] if all(isinstance(s, (int, np.integer)) for s in sizes) and len(set(sizes)) == 1 else None
    shapes = [TensorShape([None if smaller else size]).concatenate(shape) for shape in known]
    return PaddingFIFOQueue(
        capacity, [dtypes.int32, *kinds], [TensorShape([]), *shapes], shared_name=shared_name, name="top_queue"
    )


def _fill(queues: list[Any], which: Any, values: list[Any], keep_input: Any, num_threads: int) -> None:
    """Each example into its bucket's queue."""

    def put_into(queue: QueueBase) -> Any:
        return lambda: queue.enqueue(values)

    def put() -> Any:
        nodes = [cond(equal(which, i), put_into(queue), no_op).op for i, queue in enumerate(queues)]
        return group(*nodes, name="group_enqueues")

    keep = convert_to_tensor(keep_input, dtypes.bool)
    always = static_value(keep)
    node = cond(keep, put, no_op) if always is None else put() if always else no_op()
    runner = QueueRunner(
        queues[0],
        [node] * num_threads,
        close_op=group(*[queue.close() for queue in queues], name="close_buckets"),
        cancel_op=group(*[queue.close(cancel_pending_enqueues=True) for queue in queues], name="cancel_buckets"),
        queue_closed_exception_types=_ENDS,
    )
    add_queue_runner(runner)


def _collect(queues: list[Any], top: QueueBase, sizes: list[Any], smaller: bool) -> None:
    """Each bucket's full batches into the queue of batches."""
    nodes = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        taken = (queue.dequeue_up_to if smaller else queue.dequeue_many)(size, name=f"read_bucket_{i}")
        batch = list(taken) if isinstance(taken, (list, tuple)) else [taken]
        nodes.append(top.enqueue([constant(i), *batch], name=f"enqueue_from_bucket_{i}"))
    add_queue_runner(QueueRunner(top, nodes, queue_closed_exception_types=_ENDS))


def bucket_by_sequence_length(
    input_length: Any,
    tensors: Any,
    batch_size: Any,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(lengths [batch], a batch) of examples of similar length: bucket i has those from boundary i - 1 to below boundary i.

    input_length: the example's, an int32 scalar. For the rest see `bucket`. TypeError for boundaries that are no integers,
    ValueError where they do not go upwards.
    """
    boundaries = list(bucket_boundaries)
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    if any(not isinstance(b, (int, np.integer)) for b in boundaries):
        raise TypeError(f"bucket boundaries must be integers: {boundaries}")
    if any(low >= high for low, high in itertools.pairwise(boundaries)):
        raise ValueError(f"Buckets must contain increasing boundaries: {boundaries}")
    keys = sorted(tensors) if isinstance(tensors, Mapping) else None
    listed = [tensors[key] for key in keys] if keys is not None else list(tensors)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *listed]) as scope:
        length = convert_to_tensor(input_length, dtypes.int32, name="input_length")
        which = reduce_sum(cast(less_equal(constant(boundaries, dtypes.int32), length), dtypes.int32))
        _, (lengths, *batch) = bucket(
            [length, *listed],
            which,
            batch_size,
            len(boundaries) + 1,
            num_threads,
            capacity,
            bucket_capacities,
            None if shapes is None else [[], *shapes],
            dynamic_pad,
            allow_smaller_final_batch,
            keep_input,
            shared_name,
            scope,
        )
        return lengths, dict(zip(keys, batch, strict=True)) if keys is not None else batch
