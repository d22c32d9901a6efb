"""`MirroredStrategy`: a replica on each device, variables mirrored on all of them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.distribute.contexts import ReplicaContext
from tfexp.distribute.copies import SharedVariables, mirrored
from tfexp.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice, reduce_undistributed
from tfexp.distribute.devices import devices_of, whole, whole_and_different
from tfexp.distribute.extended import StrategyExtended
from tfexp.distribute.lockstep import ReplicaCall, run_together
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.strategy import Strategy
from tfexp.distribute.values import DistributedValues, after_all, copies_of, local_results, regroup, select
from tfexp.graph.replica_modes import ReplicaMode, entered
from tfexp.graph.scopes import device, get_default_graph, name_scope
from tfexp.ops.variable_base import variable_creator_scope
from tfexp.ops.variable_scope import get_variable_scope, variable_scope


class InGraphExtended(StrategyExtended):
    """Replicas on several devices of one graph. A subclass says where variables lie."""

    def __init__(self, devices: Sequence[str], cross_device_ops: CrossDeviceOps | None = None):
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            raise ValueError(f"cross_device_ops must be a tf.distribute.CrossDeviceOps. Given: {cross_device_ops!r}")
        self._devices = tuple(devices)
        self._cross_device_ops = ReductionToOneDevice() if cross_device_ops is None else cross_device_ops

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return self._devices

    # --- replicas --------------------------------------------------------------------------------------------------

    def _call_for_each_replica(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return regroup(self._results(fn, args, kwargs))

    def _results(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """What `fn` gives in each of the replicas."""
        graph = get_default_graph()
        shared, scope, variables = SharedVariables(), graph.get_name_scope(), get_variable_scope()

        def call(replica: int) -> ReplicaCall:
            def run() -> Any:
                name = "/".join(part for part in (scope, f"replica_{replica}" if replica else "") if part)
                with (
                    ReplicaContext(self._container_strategy, replica, made),
                    device(self._devices[replica]),
                    name_scope(f"{name}/" if name else None),
                    variable_scope(variables, reuse=replica > 0),
                    variable_creator_scope(shared.creator(replica)),
                ):
                    return fn(*select(replica, args), **select(replica, kwargs))

            made = ReplicaCall(graph, run)
            return made

        return run_together([call(replica) for replica in range(len(self._devices))], self._merged)

    def _merged(self, calls: Sequence[ReplicaCall]) -> list[Any]:
        """What all the replicas ask for, done once where the first of them stands."""
        merges = [call.merge for call in calls if call.merge is not None]
        first, graph, name = merges[0], get_default_graph(), calls[0].name_scope
        with (
            graph.name_scope(f"{name}/" if name else None),
            graph.control_dependencies(dict.fromkeys(op for call in calls for op in call.control_inputs)),
            variable_scope(first.variable_scope),
        ):
            args, kwargs = regroup([merge.args for merge in merges]), regroup([merge.kwargs for merge in merges])
            result = first.function(self._container_strategy, *args, **kwargs)
        return [select(replica, result) for replica in range(len(calls))]

    # --- values ----------------------------------------------------------------------------------------------------

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        parts = self._of_replicas(value)
        if parts is None:
            return reduce_undistributed(reduce_op, value, destinations, len(self._devices), self._cross_device_ops)
        return self._cross_device_ops.reduce(reduce_op, parts, destinations)

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
        given = [(parts, where) for value, where in pairs if (parts := self._of_replicas(value)) is not None]
        if len(given) < len(pairs):
            return super()._batch_reduce_to(reduce_op, pairs)
        return self._cross_device_ops.batch_reduce(reduce_op, given)

    def _of_replicas(self, value: Any) -> DistributedValues | None:
        """The replicas' parts of a value; None for one that has not as many."""
        parts = copies_of(value)
        return None if parts is None or len(parts) != len(self._devices) else DistributedValues(parts)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return self._cross_device_ops.broadcast(tensor, self._devices if destinations is None else destinations)


class MirroredExtended(InGraphExtended):
    """Each device has a copy of every variable."""

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._devices

    @property
    def _reduction_device(self) -> str:
        return whole("/cpu:0")

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        beside = kwargs.pop("colocate_with", None)
        devices = self._devices if beside is None else devices_of(beside)
        return mirrored(self._container_strategy, devices, next_creator, kwargs)

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        if not self.variable_created_in_scope(var):
            raise ValueError(
                f"Only a variable that was made in the scope of {type(self._container_strategy).__name__} can be "
                f"updated on all its devices. Given: {var!r}"
            )
        copies = local_results(var)
        updates = self._on_each(devices_of(var), lambda i: fn(copies[i], *select(i, args), **select(i, kwargs)))
        return after_all(updates, group)

    def non_slot_devices(self, var_list: Sequence[Any]) -> Any:
        return self._devices

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        return after_all(self._on_each(colocate_with, lambda i: fn(*select(i, args), **select(i, kwargs))), group)

    def _on_each(self, devices: Sequence[str], update: Callable[[int], Any]) -> list[Any]:
        updates = []
        for number, where in enumerate(devices):
            with (
                device(where),
                entered(ReplicaMode(self._container_strategy, updating=number)),
                name_scope(f"update_{number}"),
            ):
                updates.append(update(number))
        return updates

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = super()._update_config_proto(config_proto)
        updated.isolate_session_state = True
        return updated


class MirroredStrategy(Strategy):
    """Every device has a replica and a copy of every variable; gradients are summed over the replicas in each step.

    `devices`: their names; default, this machine's CPU. Several are virtual devices of one process
    (`tf.ConfigProto(device_count={"CPU": 2})`) or tasks of a cluster (`/job:worker/task:1`). `cross_device_ops`: how values
    are summed, see `tf.distribute.CrossDeviceOps`. ValueError for the same device twice.
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: CrossDeviceOps | None = None):
        names = whole_and_different(devices or ("/cpu:0",), "devices")
        super().__init__(MirroredExtended(names, cross_device_ops))
