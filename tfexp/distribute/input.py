"""Input for replicas: batches that are shared out, or a data set whose elements go to the replicas in turn. TF 1.15.

There is one iterator on the host. The replicas take their elements in the order of their numbers, so that which replica
sees which example does not depend on time.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.autograph.iteration import State, Step, Test, register_iteration
from tfexp.core import dtypes, nest
from tfexp.core.errors import OutOfRangeError
from tfexp.core.shape import TensorShape
from tfexp.data.dataset import Dataset
from tfexp.data.iterator import Iterator, make_initializable_iterator, make_one_shot_iterator
from tfexp.data.looping import looped
from tfexp.data.structure import flatten
from tfexp.data.transformations import get_single_element
from tfexp.distribute.values import regroup
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import minimum


class InputReplicationMode(enum.Enum):
    """How often an input function is called: for each worker, or for each replica (which 1.15 has a name for, no more)."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputContext:
    """What an input function may ask: which of how many input pipelines it makes, and for how many replicas."""

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """A replica's share of a batch. ValueError where it cannot be shared evenly."""
        if global_batch_size % self._num_replicas_in_sync != 0:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                f"{self._num_replicas_in_sync!r} "
            )
        return global_batch_size // self._num_replicas_in_sync

    def __str__(self) -> str:
        return f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, total: {self.num_input_pipelines})"


class DistributedIterator:
    """An iterator that gives each replica of a strategy an element."""

    def __init__(self, strategy: Any, iterator: Iterator):
        self._strategy, self._iterator = strategy, iterator

    @property
    def initializer(self) -> Operation:
        """The operation that begins the data set."""
        return self._iterator.initializer

    def initialize(self) -> Operation:
        return self.initializer

    def get_next(self, name: str | None = None) -> Any:
        """The replicas' next elements: a structure of values with a part for each. OutOfRangeError at the end."""
        elements: list[Any] = []
        for _ in self._strategy.extended.worker_devices:
            earlier = nest.flatten(elements[-1], expand_composites=True) if elements else []
            with control_dependencies(earlier[:1]):
                elements.append(self._iterator.get_next(name))
        return _together(elements)

    @property
    def output_types(self) -> Any:
        return self._iterator.output_types

    @property
    def output_shapes(self) -> Any:
        return self._iterator.output_shapes

    @property
    def output_classes(self) -> Any:
        return self._iterator.output_classes


class DistributedElements(DistributedIterator):
    """The same where ops run at once: `initialize()` begins the data set anew, and need not be called before."""

    def __init__(self, strategy: Any, dataset: Dataset):
        super().__init__(strategy, iter(dataset))  # type: ignore[arg-type]
        self._dataset = dataset

    def initialize(self) -> Any:
        self._iterator = iter(self._dataset)  # type: ignore[assignment]
        return []

    def __iter__(self) -> DistributedElements:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None


def _together(elements: Sequence[Any]) -> Any:
    """The replicas' elements as one."""
    return regroup(elements) if len(elements) > 1 else elements[0]


class DistributedDataset:
    """A data set for the replicas of a strategy. A `for` loop of a `tf.function` goes through it, too."""

    def __init__(self, strategy: Any, dataset: Dataset):
        self._strategy, self._dataset = strategy, dataset

    def _steps(self) -> Dataset:
        """For each step the replicas' elements, as what is a data set itself: their shapes may differ."""
        return self._dataset.window(len(self._strategy.extended.worker_devices), drop_remainder=True)

    def _of_step(self, step: Any) -> Any:
        own = Dataset.zip(step)
        replicas = range(len(self._strategy.extended.worker_devices))
        return _together([get_single_element(own.skip(number).take(1)) for number in replicas])

    def __iter__(self) -> DistributedElements:
        """The replicas' elements, where ops run at once, as long as there is one for each. RuntimeError in a graph."""
        if not executing_eagerly():
            raise RuntimeError(
                "__iter__() is only supported when eager execution is enabled, outside of functions, and in the loops of "
                "functions. In a graph, use make_initializable_iterator()."
            )
        return DistributedElements(self._strategy, self._dataset)

    def make_initializable_iterator(self) -> DistributedIterator:
        if executing_eagerly():
            return DistributedElements(self._strategy, self._dataset)
        return DistributedIterator(self._strategy, make_initializable_iterator(self._dataset))

    def make_one_shot_iterator(self) -> DistributedIterator:
        iterator: Any = make_one_shot_iterator(self._dataset)
        return DistributedIterator(self._strategy, iterator)


def _looped(data: DistributedDataset, state: State, step: Step, going_on: Test | None) -> State:
    return looped(data._steps(), state, lambda element, *state: step(data._of_step(element), *state), going_on)


register_iteration(DistributedDataset, _looped, lambda data: data._of_step(get_single_element(data._steps())))


def of_dataset(strategy: Any, dataset: Any) -> DistributedIterator:
    """Each replica's share of every batch of `dataset`."""
    return DistributedDataset(strategy, shared_out(strategy, dataset)).make_initializable_iterator()


def of_function(strategy: Any, input_fn: Callable[..., Any], replication_mode: Any) -> DistributedIterator:
    """The elements of the data set that `input_fn` makes, to the replicas in turn."""
    if replication_mode != InputReplicationMode.PER_WORKER:
        raise ValueError(
            f"Input replication mode not supported: {replication_mode}; it must be InputReplicationMode.PER_WORKER"
        )
    return DistributedDataset(strategy, made(strategy, input_fn)).make_initializable_iterator()


def made(strategy: Any, input_fn: Callable[..., Any]) -> Dataset:
    """The data set of an input function. ValueError for anything else."""
    dataset = input_fn(strategy.extended._input_context())
    if not isinstance(dataset, Dataset):
        raise ValueError(f"`input_fn` must return a tf.data.Dataset. Given: {dataset!r}")
    return dataset


def shared_out(strategy: Any, dataset: Any) -> Dataset:
    """Each batch in as many parts as there are replicas; where it is short, the last ones are smaller, or empty.

    TypeError for what is no data set, ValueError for one without batches, and for batches that cannot be shared evenly.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"The dataset must be a tf.data.Dataset. Given: {dataset!r}")
    replicas, here = strategy.num_replicas_in_sync, strategy.extended._replicas_here
    if replicas == 1:
        return dataset
    sizes = [_batch_size(part.shape) for part in flatten(dataset._element)]
    known = next((size for size in sizes if size is not None), None)
    if known is not None and known % replicas != 0:
        raise ValueError(
            f"The batches of {dataset} have {known} elements, which cannot be shared evenly among {replicas} replicas: "
            f"batch by a multiple of {replicas}."
        )

    has_one = not isinstance(dataset.output_shapes, tuple)

    def parts(*element: Any) -> Dataset:
        return Dataset.range(here.start, here.stop).map(
            lambda i: _part(element[0] if has_one else element, i, replicas, known)
        )

    return dataset.flat_map(parts)


def _batch_size(part: TensorShape) -> int | None:
    if part.rank == 0:
        raise ValueError(
            "A data set whose batches are to be shared among replicas must have batches: batch it first (`dataset.batch`). "
            "One of its components is a scalar."
        )
    return None if part.rank is None else part[0].value


def _part(batch: Any, number: Tensor, replicas: int, known: int | None) -> Any:
    """Part `number` of a batch."""

    def rows(tensor: Any) -> Any:
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Only batches of dense tensors can be shared among replicas. Given: {tensor}")
        size: Any = cast(shape(tensor)[0], dtypes.int64)  # type: ignore[index]
        share = (size + (replicas - 1)) // replicas
        begin = minimum(number * share, size)
        part = tensor[begin : minimum(begin + share, size)]
        if known is not None:
            part.set_shape([known // replicas, *tensor.get_shape()[1:]])
        return part

    return nest.map_structure(rows, batch)
