"""Producers: queues of files, numbers or slices that a thread keeps full. Source: `tf.train.input_producer` and kin, 1.15.

Each makes a queue and a QueueRunner for it, in the graph's collection: nothing moves before `start_queue_runners`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant, convert_to_tensor, convert_to_tensor_or_indexed_slices
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape, size
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.comparison import greater
from tfexp.ops.files import matching_files
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.random import random_shuffle
from tfexp.ops.summary import scalar
from tfexp.ops.variables import Variable
from tfexp.train.queue_runner import NO_QUEUES_EAGERLY, QueueRunner, add_queue_runner


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """The files that match a pattern (or a vector of patterns), as a local variable: found once, at initialization."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            initial_value=matching_files(pattern),
            trainable=False,
            validate_shape=False,
            name=scope,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """`tensor`, `num_epochs` times; after that OutOfRangeError. The count is a local variable (None: no limit)."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        zero = constant(0, dtype=dtypes.int64)
        epochs: Any = Variable(zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
        counter = epochs.count_up_to(num_epochs)
        with control_dependencies([counter]):
            return identity(tensor, name=scope)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of the rows of `input_tensor`, again and again (`num_epochs` times), each time in another order if asked to.

    `seed` is for the order, `summary_name` for a summary of how full the queue is. ValueError when neither the tensor
    nor `element_shape` tells the shape of a row.
    """
    if executing_eagerly():
        raise RuntimeError(NO_QUEUES_EAGERLY)
    with name_scope(name, "input_producer", [input_tensor]):
        tensor = convert_to_tensor(input_tensor, name="input_tensor")
        row = tensor.get_shape()[1:].merge_with(element_shape)
        if not row.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be specified")
        if shuffle:
            tensor = random_shuffle(tensor, seed=seed)
        tensor = limit_epochs(tensor, num_epochs)
        queue = FIFOQueue(
            capacity,
            dtypes=[tensor.dtype.base_dtype],
            shapes=[row],
            shared_name=shared_name,
            name=name,  # type: ignore[arg-type]  # no name: the node is called like its op
        )
        enqueue = queue.enqueue_many([tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of strings, as a rule the names of files; see `input_producer`. ValueError, or an error at run time, for none.

    Source: `tf.train.string_input_producer`.
    """
    empty = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not _length(string_tensor):
        raise ValueError(empty)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([Assert(greater(size(strings), 0), [empty])]):
            strings = identity(strings)
        return input_producer(
            input_tensor=strings,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=scope,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else 1


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the numbers from 0 to `limit` - 1; see `input_producer`. Source: `tf.train.range_input_producer`."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each tensor, the same row of all of them; another one in every step. See `input_producer`.

    Source: `tf.train.slice_input_producer`.
    """
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor_or_indexed_slices(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        rows = shape(tensors[0])[0]
        queue = range_input_producer(
            rows, num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity, shared_name=shared_name
        )
        index = queue.dequeue()
        return [gather(tensor, index) for tensor in tensors]
