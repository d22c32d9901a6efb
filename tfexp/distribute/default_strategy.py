"""The strategies with one replica: the default one, which changes nothing, and `OneDeviceStrategy`. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.distribute.contexts import ReplicaContext, set_default_strategy
from tfexp.distribute.copies import own
from tfexp.distribute.devices import whole
from tfexp.distribute.extended import StrategyExtended
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.strategy import Strategy
from tfexp.distribute.values import after_all
from tfexp.graph.replica_modes import ReplicaMode, entered
from tfexp.graph.scopes import colocate_with as colocated
from tfexp.graph.scopes import device


class OneReplicaExtended(StrategyExtended):
    """One replica, whose variables are plain ones. `device_name`: where all of it is; None leaves that to the program."""

    def __init__(self, device_name: str | None):
        self._device = None if device_name is None else whole(device_name)

    def _there(self) -> Any:
        return contextlib.nullcontext() if self._device is None else device(self._device)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return (self._device or whole("/cpu:0"),)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self.worker_devices

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        beside = kwargs.pop("colocate_with", None)
        with self._there() if beside is None else colocated(beside):
            return own(self._container_strategy, next_creator(**kwargs))

    def _call_for_each_replica(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self._there(), ReplicaContext(self._container_strategy, 0):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        return value

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        return self._updated(self._there(), lambda: fn(var, *args, **kwargs), group)

    def non_slot_devices(self, var_list: Sequence[Any]) -> Any:
        return self.worker_devices

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        return self._updated(self._there(), lambda: fn(*args, **kwargs), group)

    def _updated(self, where: Any, update: Callable[[], Any], group: bool) -> Any:
        with where, entered(ReplicaMode(self._container_strategy, updating=0)):
            return after_all([update()], group)


class OneDeviceStrategy(Strategy):
    """One replica, all of it and its variables on one device: a distributed program can be tried out with it."""

    def __init__(self, device: str):
        super().__init__(OneReplicaExtended(device))


class DefaultStrategy(Strategy):
    """What `tf.distribute.get_strategy` gives outside of every scope: one replica, variables as without a strategy."""

    _is_default = True

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(None))

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Inside, `has_strategy()` is still False."""
        with entered(ReplicaMode(self)):
            yield self


class _DefaultExtended(OneReplicaExtended):
    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        return colocated(colocate_with_variable)

    def variable_created_in_scope(self, v: Any) -> bool:
        return getattr(v, "_distribute_strategy", None) is None


set_default_strategy(DefaultStrategy())
