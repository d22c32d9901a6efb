"""`StrategyExtended`: how a strategy does what it offers, and what building blocks (optimizers, metrics) need. TF 1.15.

A subclass says which devices there are, how variables are made, how replicas run, and how values and variables change.
"""

from __future__ import annotations

import contextlib
import copy
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.distribute import contexts
from tfexp.distribute.input import InputContext
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.steps import MultiStepContext, run_steps
from tfexp.distribute.values import local_results
from tfexp.graph.scopes import device
from tfexp.ops.variable_base import variable_creator_scope
from tfexp.ops.variable_scope import get_variable_scope, variable_scope

_log = logging.getLogger("tensorflow")


class StrategyExtended:
    """`tf.distribute.StrategyExtended`. The strategy that it belongs to sets `_container_strategy`."""

    _container_strategy: Any = None
    _cluster_resolver: Any = None
    _default_device: str | None = None
    _allows_partitions = False  # whether variables may be partitioned

    # --- what there is ---------------------------------------------------------------------------------------------

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        raise NotImplementedError("must be implemented by the strategy")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of variables."""
        raise NotImplementedError("must be implemented by the strategy")

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    @property
    def _replicas_here(self) -> range:
        """Which of the replicas in sync this process builds."""
        return range(len(self.worker_devices))

    def _replica_device(self, replica_id: int) -> str:
        return self.worker_devices[replica_id]

    @property
    def experimental_between_graph(self) -> bool:
        """Whether each worker builds a graph of its own."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initialises the variables."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        return True

    @property
    def should_save_summary(self) -> bool:
        return True

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether every shape must be known: it need not."""
        return False

    def _configure(self, session_config: Any, cluster_spec: Any, task_type: str | None, task_id: int | None) -> None:
        """Nothing is left open, unless a strategy says so."""

    def _session_target(self) -> str:
        """Where sessions of this process run that the program does not make itself."""
        return ""

    def _update_config_proto(self, config_proto: Any) -> Any:
        return copy.deepcopy(config_proto)

    # --- variables -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _scope(self) -> Iterator[None]:
        around = get_variable_scope()
        getter = None if self._allows_partitions else _unpartitioned
        with (
            variable_creator_scope(self._creator),
            variable_scope(around, use_resource=True, custom_getter=getter, auxiliary_name_scope=False),
            contextlib.nullcontext() if self._default_device is None else device(self._default_device),
        ):
            yield

    def _creator(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        if kwargs.get("variable_def") is not None:
            return next_creator(**kwargs)
        return self._create_variable(next_creator, **{**kwargs, "use_resource": True})

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """A variable of this strategy; `colocate_with` among the arguments: where that one is."""
        raise NotImplementedError("must be implemented by the strategy")

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A context in which new variables lie where `colocate_with_variable` does. ValueError for another strategy's."""
        self._check_own(colocate_with_variable)

        def creator(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            return next_creator(**{**kwargs, "use_resource": True, "colocate_with": colocate_with_variable})

        return variable_creator_scope(creator)

    def _check_own(self, variable: Any) -> None:
        if not self.variable_created_in_scope(variable):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this `tf.distribute.Strategy.scope()`, not: "
                f"{variable}"
            )

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether the variable is this strategy's."""
        return getattr(v, "_distribute_strategy", None) is self._container_strategy

    def value_container(self, value: Any) -> Any:
        """The variable that `value` is a copy of; any other value itself."""
        container = getattr(value, "_distributed_container", None)
        return value if container is None else container

    def read_var(self, v: Any) -> Any:
        """The value of a variable across the replicas."""
        return v.value()

    # --- replicas --------------------------------------------------------------------------------------------------

    def call_for_each_replica(self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """As `Strategy.experimental_run_v2`."""
        with contexts.across(self._container_strategy):
            return self._call_for_each_replica(fn, tuple(args), {} if kwargs is None else kwargs)

    def _call_for_each_replica(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError("must be implemented by the strategy")

    def experimental_run_steps_on_iterator(
        self, fn: Callable[..., Any], iterator: Any, iterations: int = 1, initial_loop_values: Any = None
    ) -> MultiStepContext:
        """Run `fn(context, elements)` so many times in one step of a session: the context, with a `run_op`.

        `initial_loop_values`: a value like each of those that `fn` gives to `context.set_last_step_output`, by its name.
        """
        with contexts.across(self._container_strategy):
            return run_steps(fn, iterator, iterations, initial_loop_values)

    # --- values ----------------------------------------------------------------------------------------------------

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The sum or mean of the replicas' values, on the devices of `destinations` (a variable, a value, a device)."""
        with contexts.across(self._container_strategy):
            return self._reduce_to(ReduceOp.of(reduce_op), value, destinations)

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
        """`reduce_to` of each pair (value, destinations)."""
        with contexts.across(self._container_strategy):
            return self._batch_reduce_to(ReduceOp.of(reduce_op), value_destination_pairs)

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
        return [self._reduce_to(reduce_op, value, where) for value, where in pairs]

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        raise NotImplementedError("must be implemented by the strategy")

    def _reduce(self, reduce_op: ReduceOp, value: Any) -> Any:
        """The reduction, on one device of the host."""
        return local_results(self._reduce_to(reduce_op, value, self._reduction_device))[0]

    @property
    def _reduction_device(self) -> str:
        return "/device:CPU:0"

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The tensor on the devices of `destinations`; a Python number stays one."""
        with contexts.across(self._container_strategy):
            return tensor if isinstance(tensor, (int, float)) else self._broadcast_to(tensor, destinations)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return tensor

    # --- updates ---------------------------------------------------------------------------------------------------

    def update(self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True) -> Any:
        """`fn(copy, *args, **kwargs)` where each copy of the variable is, of the arguments' parts there.

        `group`: the results as one, which has run when all have; otherwise a tuple of them.
        """
        with contexts.across(self._container_strategy):
            return self._update(var, fn, tuple(args), {} if kwargs is None else kwargs, group)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        raise NotImplementedError("must be implemented by the strategy")

    def non_slot_devices(self, var_list: Sequence[Any]) -> Any:
        """Where an optimizer's own variables lie that belong to none of `var_list`."""
        raise NotImplementedError("must be implemented by the strategy")

    def update_non_slot(
        self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """`fn(*args, **kwargs)` on each of the devices that `non_slot_devices` gave."""
        with contexts.across(self._container_strategy):
            return self._update_non_slot(colocate_with, fn, tuple(args), {} if kwargs is None else kwargs, group)

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        raise NotImplementedError("must be implemented by the strategy")

    def _input_context(self) -> InputContext:
        """What input functions are told."""
        return InputContext(num_replicas_in_sync=self._num_replicas_in_sync)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        return self._container_strategy.experimental_make_numpy_dataset(numpy_input, session)


def _unpartitioned(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if kwargs.pop("partitioner", None) is not None:
        _log.info("Partitioned variables are disabled when using current tf.distribute.Strategy.")
    return getter(*args, **kwargs)
