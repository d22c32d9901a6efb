"""Which strategy, and which of its replicas, a program builds for: `tf.distribute.get_strategy` and the like. TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfexp.core import dtypes, nest
from tfexp.distribute.lockstep import Merge, ReplicaCall
from tfexp.graph.convert import constant
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.replica_modes import ReplicaMode, current_mode, entered
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_scope import get_variable_scope

if TYPE_CHECKING:
    from tfexp.distribute.strategy import Strategy

_default: Strategy | None = None
_set, _set_mode = contextlib.ExitStack(), None  # what `experimental_set_strategy` has entered


def set_default_strategy(strategy: Strategy) -> None:
    """Say what `get_strategy` answers where no other is asked for (`distribute.default_strategy`)."""
    global _default
    _default = strategy


def get_strategy() -> Any:
    """The strategy whose scope this is in; outside of all, the default strategy: one replica, nothing distributed."""
    mode = current_mode()
    return _default if mode is None else mode.strategy


def has_strategy() -> bool:
    """Whether this is in the scope of a strategy other than the default one."""
    return current_mode() is not None and get_strategy() is not _default


def in_cross_replica_context() -> bool:
    """Whether this builds for all replicas at once: inside `scope()` and not inside a replica's function."""
    mode = current_mode()
    return mode is not None and mode.replica is None


def get_cross_replica_context() -> Any:
    """The strategy that this builds for all replicas of; None in a replica, and outside of all strategies."""
    return get_strategy() if in_cross_replica_context() else None


def get_replica_context() -> Any:
    """The `ReplicaContext` of the replica that is being built; None across replicas."""
    mode = current_mode()
    return ReplicaContext(_default, 0) if mode is None else mode.replica


def require_same(strategy: Strategy) -> None:
    """RuntimeError inside the scope of another strategy."""
    mode = current_mode()
    if mode is not None and mode.strategy is not strategy:
        raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {mode.strategy} is not {strategy}")


def across(strategy: Strategy) -> contextlib.AbstractContextManager[None]:
    """The context across the replicas of `strategy`, entered where this is outside of it. RuntimeError in a replica."""
    require_same(strategy)
    mode = current_mode()
    if mode is None:
        return entered(ReplicaMode(strategy))
    if mode.replica is not None:
        raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")
    return contextlib.nullcontext()


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Enter the scope of `strategy` for the rest of the program, or (None) leave it. RuntimeError inside another scope."""
    global _set_mode
    mode = current_mode()
    if mode is not None and mode is not _set_mode:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    _set.close()
    if strategy is not None:
        _set.enter_context(strategy.scope())
    _set_mode = current_mode()


class ReplicaContext:
    """What a function that runs for a replica may ask, and how it speaks with the others."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: int, call: ReplicaCall | None = None):
        self._strategy, self._replica_id, self._call = strategy, replica_id_in_sync_group, call

    @property
    def strategy(self) -> Any:
        return self._strategy

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The replica's number, from 0; a tensor, except where there is only one replica."""
        if self._call is None:
            return self._replica_id
        return constant(self._replica_id, dtype=dtypes.int32, name="replica_id_in_sync_group")

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas' gradients make up a step."""
        return int(self._strategy.num_replicas_in_sync)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this replica."""
        require_replica(self)
        return (self._strategy.extended._replica_device(self._replica_id),)

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """`merge_fn(strategy, *args, **kwargs)`, once for all replicas, each argument what all of them give for it.

        Every replica gets its own part of the result. RuntimeError where the replica is not the one being built.
        """
        require_replica(self)
        kwargs = {} if kwargs is None else kwargs
        if self._call is None:
            with entered(ReplicaMode(self._strategy)):
                return merge_fn(self._strategy, *args, **kwargs)
        return self._call.stop(Merge(merge_fn, args, kwargs, get_variable_scope()))

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """The sum or mean of the replicas' `value` (a tensor or a nest of them), which every replica gets.

        Its gradient is the same reduction of the replicas' gradients.
        """
        if nest.is_nested(value):
            return nest.map_structure(lambda one: self.all_reduce(reduce_op, one), value)

        def reduced(strategy: Any, given: Any) -> Any:
            return strategy.extended.reduce_to(reduce_op, given, destinations=given)

        @custom_gradient
        def reduction(given: Tensor) -> Any:
            return self.merge_call(reduced, args=(given,)), lambda grad: self.all_reduce(reduce_op, grad)

        return reduction(value)

    def __enter__(self) -> ReplicaContext:
        self._entered = entered(ReplicaMode(self._strategy, self))
        self._entered.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._entered.__exit__(*exc)


def require_replica(context: ReplicaContext) -> None:
    """RuntimeError unless `context` is that of the replica that is being built."""
    mode = current_mode()
    if mode is None and context._strategy is _default:
        return
    if mode is None or mode.replica is not context:
        raise RuntimeError(
            f"Replica {context._replica_id} of {context._strategy} is not being built here: its context is only of use in "
            f"the function that it runs (graph {get_default_graph()})"
        )
