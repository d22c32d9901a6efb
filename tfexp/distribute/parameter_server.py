"""Variables that lie once: on parameter servers (`ParameterServerStrategy`), or on one device (`CentralStorageStrategy`).

The first is between-graph: each worker builds its own replica and goes at its own pace; which server a variable is on is
what `tf.train.replica_device_setter` says. The second has a replica on each device of this machine, in step.

Source: TF 1.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver
from tfexp.distribute.cluster_resolver.tf_config import TFConfigClusterResolver
from tfexp.distribute.copies import own, registered
from tfexp.distribute.devices import whole, whole_and_different
from tfexp.distribute.input import InputContext
from tfexp.distribute.mirrored import InGraphExtended
from tfexp.distribute.strategy import Strategy
from tfexp.distribute.values import after_all
from tfexp.distribute.variables import AggregatingVariable
from tfexp.distribute.worker_tasks import worker_tasks
from tfexp.distributed.cluster import ClusterSpec
from tfexp.graph.replica_modes import ReplicaMode, entered
from tfexp.graph.scopes import colocate_with as colocated
from tfexp.graph.scopes import device
from tfexp.train.device_setter import replica_device_setter


class CentralExtended(InGraphExtended):
    """Replicas on `devices`, each variable once, where `variable_device` (a name or a device function) says."""

    def __init__(self, devices: Sequence[str], variable_device: Any):
        super().__init__(devices)
        self._variable_device = variable_device

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return (self._variable_device,)

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        beside = kwargs.pop("colocate_with", None)

        def make(settings: dict[str, Any]) -> list[Any]:
            with contextlib.ExitStack() as where:
                where.enter_context(device(None))
                where.enter_context(device(self._variable_device) if beside is None else colocated(beside))
                return [next_creator(**settings)]

        if len(self.worker_devices) == 1:
            return own(self._container_strategy, *make(kwargs))
        strategy = self._container_strategy
        return registered(kwargs, make, lambda copies, aggregation: AggregatingVariable(strategy, copies, aggregation))

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        if isinstance(var, AggregatingVariable):
            (var,) = var.values
        with colocated(var), entered(ReplicaMode(self._container_strategy, updating=0)):
            return after_all([fn(var, *args, **kwargs)], group)

    def non_slot_devices(self, var_list: Sequence[Any]) -> Any:
        """The variable whose name comes first: every worker chooses the same."""
        return min(var_list, key=lambda variable: variable.name)

    def _update_non_slot(self, colocate_with: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        with device(colocate_with.device), entered(ReplicaMode(self._container_strategy, updating=0)):
            return after_all([fn(*args, **kwargs)], group)


class CentralStorageStrategy(Strategy):
    """A replica on each of `compute_devices`, each variable once, on `parameter_device`; by default all on the CPU."""

    def __init__(self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None):
        devices = whole_and_different(compute_devices or ("/cpu:0",), "compute_devices")
        super().__init__(CentralExtended(devices, parameter_device or devices[0]))


class ParameterServerExtended(CentralExtended):
    """One replica, this worker's; without a cluster, all of it on this machine's CPU."""

    _allows_partitions = True

    def __init__(self, cluster_resolver: ClusterResolver):
        super().__init__((whole("/cpu:0"),), whole("/cpu:0"))
        self._cluster_resolver = cluster_resolver
        cluster = cluster_resolver.cluster_spec()
        self._join(cluster, cluster_resolver.task_type, cluster_resolver.task_id)

    def _join(self, cluster: ClusterSpec, task_type: str | None, task_id: int | None) -> None:
        self._cluster, self._task_type, self._task_id = cluster, task_type, task_id
        if not cluster:
            return
        if task_type is None or task_id is None:
            raise ValueError(
                f"A strategy with parameter servers must know which task of {cluster} this is: the resolver's task_type is "
                f"{task_type!r} and its task_id {task_id!r}"
            )
        servers = len(cluster.as_dict().get("ps", ()))
        if not servers:
            raise ValueError(f"The cluster spec needs to have `ps` jobs. There are: {', '.join(cluster.jobs)}")
        worker = f"/job:{task_type}/task:{task_id}"
        self._devices, self._default_device = (whole(worker),), worker
        self._variable_device = replica_device_setter(ps_tasks=servers, worker_device=worker, cluster=cluster)
        self._servers = tuple(f"/job:ps/task:{number}" for number in range(servers))

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._servers if self._cluster else super().parameter_devices

    @property
    def _is_chief(self) -> bool:
        if not self._cluster or self._task_type in ("chief", "master"):
            return True
        with_chief = {"chief", "master"} & set(self._cluster.jobs)
        return self._task_type == "worker" and self._task_id == 0 and not with_chief

    @property
    def _reduction_device(self) -> str:
        return self._devices[0]

    @property
    def experimental_between_graph(self) -> bool:
        return True

    @property
    def experimental_should_init(self) -> bool:
        return self._is_chief

    @property
    def should_checkpoint(self) -> bool:
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        return self._is_chief

    def _configure(self, session_config: Any, cluster_spec: Any, task_type: str | None, task_id: int | None) -> None:
        if cluster_spec and not self._cluster:
            self._join(ClusterSpec(cluster_spec), task_type, task_id)

    def _input_context(self) -> InputContext:
        workers, own = worker_tasks(self._cluster), (self._task_type or "", self._task_id or 0)
        if own not in workers:
            return InputContext()
        return InputContext(len(workers), workers.index(own), self._num_replicas_in_sync)

    def _update_config_proto(self, config_proto: Any) -> Any:
        """A worker's sessions see its own task and the parameter servers: they need not wait for other workers."""
        updated = super()._update_config_proto(config_proto)
        if not self._cluster:
            return updated
        updated.isolate_session_state = False
        del updated.device_filters[:]
        if self._task_type in ("chief", "worker"):
            updated.device_filters.extend([f"/job:{self._task_type}/task:{self._task_id}", "/job:ps"])
        elif self._task_type == "evaluator":
            updated.device_filters.append(f"/job:{self._task_type}/task:{self._task_id}")
        return updated


class ParameterServerStrategy(Strategy):
    """Each worker trains at its own pace; its variables lie on the parameter servers, in turn.

    `cluster_resolver` says which task of which cluster this process is; default, the environment's `TF_CONFIG`. ValueError
    for a cluster without parameter servers or where the task is not known.
    """

    def __init__(self, cluster_resolver: ClusterResolver | None = None):
        super().__init__(
            ParameterServerExtended(TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver)
        )
