"""`tf.train.batch` and kin: examples become batches by way of a queue that threads keep full. Source: TF 1.15.

All of them come to the same: a queue, a QueueRunner whose nodes put examples into it, a summary of how full it is, and
a node that takes a batch. `…_join` has a list of tensors for each thread; `maybe_…` puts in only what `keep_input` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import as_shape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor, convert_to_tensor_or_indexed_slices
from tfexp.graph.dependencies import no_op
from tfexp.graph.scopes import executing_eagerly, name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.sparse_tensor import SparseTensor, SparseTensorValue
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_partition import dynamic_partition
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from tfexp.ops.summary import scalar
from tfexp.train.batching_sparse import Stored, restore, store
from tfexp.train.queue_runner import NO_QUEUES_EAGERLY, QueueRunner, add_queue_runner

# Examples: a list of tensors, or a dict of them; batches have the same form.
Tensors = Sequence[Any] | Mapping[str, Any]


def batch(
    tensors: Tensors,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of `batch_size` examples, in the order in which they come if one thread brings them.

    `enqueue_many`: the tensors have several examples along their first dimension. `shapes`: the examples', where they
    are not known; unknown dimensions take `dynamic_pad`. The last, smaller batch is dropped unless allowed.
    """
    source = _Source([tensors], True, enqueue_many, num_threads)
    return _batches(source, "batch", batch_size, capacity, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name)


def maybe_batch(
    tensors: Tensors,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch` of the examples for which `keep_input` (a bool; a vector with `enqueue_many`) holds."""
    source = _Source([tensors], keep_input, enqueue_many, num_threads)
    return _batches(source, "batch", batch_size, capacity, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name)


def batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch` with one thread for each of several lists of tensors."""
    source = _Source(tensors_list, True, enqueue_many, None)
    return _batches(
        source, "batch_join", batch_size, capacity, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name
    )


def maybe_batch_join(
    tensors_list: Sequence[Tensors],
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch_join` of the examples for which `keep_input` holds."""
    source = _Source(tensors_list, keep_input, enqueue_many, None)
    return _batches(
        source, "batch_join", batch_size, capacity, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name
    )


def shuffle_batch(
    tensors: Tensors,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples drawn at random from `capacity` of them, of which `min_after_dequeue` are always left."""
    source = _Source([tensors], True, enqueue_many, num_threads)
    shuffled = (batch_size, capacity, min_after_dequeue, seed, shapes, allow_smaller_final_batch, shared_name, name)
    return _shuffled(source, "shuffle_batch", *shuffled)


def maybe_shuffle_batch(
    tensors: Tensors,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`shuffle_batch` of the examples for which `keep_input` holds."""
    source = _Source([tensors], keep_input, enqueue_many, num_threads)
    shuffled = (batch_size, capacity, min_after_dequeue, seed, shapes, allow_smaller_final_batch, shared_name, name)
    return _shuffled(source, "shuffle_batch", *shuffled)


def shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`shuffle_batch` with one thread for each of several lists of tensors."""
    source = _Source(tensors_list, True, enqueue_many, None)
    shuffled = (batch_size, capacity, min_after_dequeue, seed, shapes, allow_smaller_final_batch, shared_name, name)
    return _shuffled(source, "shuffle_batch_join", *shuffled)


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`shuffle_batch_join` of the examples for which `keep_input` holds."""
    source = _Source(tensors_list, keep_input, enqueue_many, None)
    shuffled = (batch_size, capacity, min_after_dequeue, seed, shapes, allow_smaller_final_batch, shared_name, name)
    return _shuffled(source, "shuffle_batch_join", *shuffled)


# --- what they have in common --------------------------------------------------------------------------------------------


class _Source:
    """Where examples come from: the lists of tensors, which to keep, and how many threads run a single list's node."""

    def __init__(self, tensors_list: Sequence[Tensors], keep_input: Any, enqueue_many: bool, num_threads: int | None):
        if executing_eagerly():
            raise ValueError(NO_QUEUES_EAGERLY)
        if not tensors_list:
            raise ValueError("Expected at least one input in batch_join().")
        self.form = tensors_list[0]
        if isinstance(self.form, Mapping):
            keys = set(self.form)
            if any(not isinstance(t, Mapping) or set(t) != keys for t in tensors_list):
                raise ValueError("All dictionaries in tensors_list must have the same keys")
        self.lists = [_listed(tensors) for tensors in tensors_list]
        self.keep_input = keep_input
        self.enqueue_many = enqueue_many
        self.num_threads = num_threads
        self.stored: list[Stored | None] = []

    def scope_values(self) -> list[Any]:
        values = [t.values if isinstance(t, SparseTensor) else t for tensors in self.lists for t in tensors]
        return [*values, self.keep_input]

    def convert(self) -> None:
        """Make tensors of everything; ValueError and TypeError for what does not fit together."""
        self.lists = [[_converted(t) for t in tensors] for tensors in self.lists]
        if not all(self.lists):
            raise ValueError("Expected at least one tensor in batch().")
        if len({len(tensors) for tensors in self.lists}) > 1:
            counts = ", ".join(str(len(tensors)) for tensors in self.lists)
            raise ValueError(f"Every list needs as many tensors as the others, and they have {counts}.")
        keep = convert_to_tensor(self.keep_input)
        if keep.shape.rank is None:
            raise ValueError("`keep_input` dimensions must be known at graph construction.")
        if not self.enqueue_many and keep.shape.rank == 1:
            raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
        if keep.shape.rank > 1:
            raise ValueError("`keep_input` must be 0 or 1 dimensions.")
        self.keep_input = keep
        self.lists, self.stored = store(self.lists, self.enqueue_many, keep)

    def dtypes(self) -> list[DType]:
        all_types = [[t.dtype for t in tensors] for tensors in self.lists]
        for types in all_types[1:]:
            if types != all_types[0]:
                names = (", ".join(t.name for t in each) for each in (all_types[0], types))
                raise TypeError("Expected types to be consistent: {} vs. {}.".format(*names))
        return all_types[0]

    def shapes(self, given: Any) -> Any:
        """The shapes of an example's components, as far as they are known: `given`, or those of the first list.

        ValueError where a rank is unknown, or another list's shapes do not fit.
        """
        if given is not None:
            return given
        return [_first_shape(column, self.enqueue_many) for column in zip(*self.lists, strict=True)]

    def fill(self, queue: QueueBase) -> None:
        """The nodes that bring examples into the queue, and their runner."""
        nodes = [self._enqueue(queue, tensors) for tensors in self.lists]
        add_queue_runner(QueueRunner(queue, nodes * (1 if self.num_threads is None else self.num_threads)))

    def _enqueue(self, queue: QueueBase, tensors: list[Any]) -> Any:
        put: Callable[[list[Any]], Any] = queue.enqueue_many if self.enqueue_many else queue.enqueue
        if self.keep_input.shape.rank == 1:
            kept = cast(self.keep_input, dtypes.int32)
            return queue.enqueue_many([dynamic_partition(t, kept, num_partitions=2)[1] for t in tensors])
        always = static_value(self.keep_input)
        if always is None:
            return cond(self.keep_input, lambda: put(tensors), no_op)
        return put(tensors) if always else no_op()


def _converted(value: Any) -> Any:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else convert_to_tensor_or_indexed_slices(value)


def _listed(tensors: Tensors) -> list[Any]:
    if isinstance(tensors, Mapping):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return list(tensors)


def _first_shape(tensors: Sequence[Any], enqueue_many: bool) -> list[int | None]:
    """The first tensor's shape, of an example; a size that only the others know may differ in a later example of its."""
    shapes = [as_shape(tensor.get_shape()) for tensor in tensors]
    for tensor, shape in zip(tensors, shapes, strict=True):
        if shape.ndims is None:
            raise ValueError(f"Cannot infer Tensor's rank: {tensor}: give `shapes`, or set the shapes of the tensors")
    first, *others = [shape.with_rank_at_least(1)[1:] if enqueue_many else shape for shape in shapes]
    for other in others:
        first.assert_is_compatible_with(other)
    dims: list[int | None] = first.as_list()
    return dims


def _batches(
    source: _Source,
    scope_name: str,
    batch_size: Any,
    capacity: int,
    shapes: Any,
    dynamic_pad: bool,
    smaller_final: bool,
    shared_name: str | None,
    name: str | None,
) -> Any:
    with name_scope(name, scope_name, source.scope_values()) as scope:
        source.convert()
        types = source.dtypes()
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = kind(capacity=capacity, dtypes=types, shapes=source.shapes(shapes), shared_name=shared_name)
        source.fill(queue)
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return _take(source, queue, batch_size, smaller_final, scope)


def _shuffled(
    source: _Source,
    scope_name: str,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None,
    shapes: Any,
    smaller_final: bool,
    shared_name: str | None,
    name: str | None,
) -> Any:
    with name_scope(name, scope_name, source.scope_values()) as scope:
        if capacity <= min_after_dequeue:
            raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")
        source.convert()
        types = source.dtypes()
        queue = RandomShuffleQueue(
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed,
            dtypes=types,
            shapes=source.shapes(shapes),
            shared_name=shared_name,
        )
        source.fill(queue)
        spare = capacity - min_after_dequeue
        over = cast(maximum(0, queue.size() - min_after_dequeue), dtypes.float32)
        scalar(f"fraction_over_{min_after_dequeue}_of_{spare}_full", over * (1.0 / spare))
        return _take(source, queue, batch_size, smaller_final, scope)


def _take(source: _Source, queue: QueueBase, batch_size: Any, smaller_final: bool, scope: str) -> Any:
    """A batch, in the form of the examples."""
    taken = (queue.dequeue_up_to if smaller_final else queue.dequeue_many)(batch_size, name=scope)
    values = [taken] if isinstance(taken, Tensor) else list(taken)
    if any(source.stored):
        values = restore(values, source.stored)
        taken = values[0] if len(values) == 1 else values
    if not isinstance(source.form, Mapping):
        return taken
    return dict(zip(sorted(source.form, key=str), values, strict=True))
