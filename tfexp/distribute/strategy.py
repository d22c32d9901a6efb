"""`Strategy`: how a program's replicas and variables lie on devices. What programs call; `extended` is how it is done.

Source: `tf.distribute.Strategy`, `tf.distribute.StrategyExtended`, TF 1.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.data.dataset import Dataset
from tfexp.distribute import contexts
from tfexp.distribute import input as feeding
from tfexp.distribute.extended import StrategyExtended
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.values import local_results
from tfexp.graph.dependencies import group
from tfexp.ops.array import shape
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_sum


class Strategy:
    """Programs make one of its subclasses, their variables inside `scope()`, and their steps by `experimental_run_v2`."""

    _is_default = False
    _scale_loss_for_estimator = False

    def __init__(self, extended: StrategyExtended):
        self._extended = extended
        extended._container_strategy = self

    @property
    def extended(self) -> StrategyExtended:
        """What those who write models' building blocks need besides."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas' gradients make up a step."""
        return self._extended._num_replicas_in_sync

    @property
    def cluster_resolver(self) -> Any:
        """What says which cluster this is part of; None without one."""
        return self._extended._cluster_resolver

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Variables that are made inside are this strategy's. RuntimeError inside another's scope, or in a replica."""
        inside = contexts.get_strategy() is self
        with contexts.across(self), contextlib.nullcontext() if inside else self._extended._scope():
            yield self

    # --- running ---------------------------------------------------------------------------------------------------

    def experimental_run_v2(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """Each replica's `fn(*args, **kwargs)`, of its own part of the arguments; results that differ as `PerReplica`."""
        with self.scope():
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    run = experimental_run_v2  # its name since 2.2

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """As `experimental_run_v2`, of the next element of `input_iterator`."""
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
            return self.experimental_run_v2(fn, args=args)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """The replicas' values as one: summed up, or their mean; also along `axis` of each, with that one gone.

        The mean along an axis is over all elements, also where the replicas have different numbers of them.
        """
        reduce_op = ReduceOp.of(reduce_op)
        with contexts.across(self):
            if axis is None:
                return self._extended._reduce(reduce_op, value)
            return self._reduce_along(reduce_op, value, axis)

    def _reduce_along(self, reduce_op: ReduceOp, value: Any, axis: int) -> Any:
        def total(given: Any) -> Any:
            return reduce_sum(given, axis=axis)

        def count(given: Any) -> Any:
            return shape(given)[axis]  # type: ignore[index]

        summed = self._extended._reduce(ReduceOp.SUM, self.experimental_run_v2(total, args=(value,)))
        if reduce_op is ReduceOp.SUM:
            return summed
        counted = self._extended._reduce(ReduceOp.SUM, self.experimental_run_v2(count, args=(value,)))
        return summed / cast(counted, summed.dtype)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The parts that a value has on this worker's devices, in the order of the replicas; of any other value, itself."""
        return local_results(value)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The older name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def group(self, value: Any, name: str | None = None) -> Any:
        """What has run when all parts of `value` have."""
        parts = local_results(value)
        if len(parts) != 1 or name is not None:
            return group(parts, name=name)
        return parts[0]

    # --- input -----------------------------------------------------------------------------------------------------

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator that gives each replica its share of every batch of `dataset`. Run its `initialize()` first."""
        return feeding.of_dataset(self, dataset)

    def make_input_fn_iterator(
        self, input_fn: Callable[..., Any], replication_mode: Any = feeding.InputReplicationMode.PER_WORKER
    ) -> Any:
        """An iterator over the data set that `input_fn(InputContext)` makes, whose elements go to the replicas in turn."""
        return feeding.of_function(self, input_fn, replication_mode)

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """A data set whose iterators give each replica its share of every batch of `dataset`."""
        return feeding.DistributedDataset(self, feeding.shared_out(self, dataset))

    def experimental_distribute_datasets_from_function(self, dataset_fn: Callable[..., Any]) -> Any:
        """A data set whose elements, those of `dataset_fn(InputContext)`, go to the replicas in turn."""
        return feeding.DistributedDataset(self, feeding.made(self, dataset_fn))

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A data set of the rows of arrays (a structure of them). `session` is not needed."""
        return Dataset.from_tensor_slices(numpy_input)

    # --- settings --------------------------------------------------------------------------------------------------

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        return self._extended.colocate_vars_with(colocate_with_variable)

    def configure(
        self, session_config: Any = None, cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None
    ) -> None:
        """Complete it with what is known of the cluster and the session now."""
        self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of the ConfigProto with what this strategy needs."""
        return self._extended._update_config_proto(config_proto)

    def __deepcopy__(self, memo: Any) -> Strategy:
        """Itself: variables belong to the strategy they were made under, also in a copy of what holds it."""
        return self
