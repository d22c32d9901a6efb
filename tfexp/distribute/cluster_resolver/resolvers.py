"""Who says which cluster there is and which of its tasks this process is: `ClusterResolver` and the plain kinds. TF 1.15."""

from __future__ import annotations

import abc
from typing import Any

from tfexp.core.device import DeviceName
from tfexp.distributed.cluster import ClusterSpec
from tfexp.runtime.device_list import local_devices


def with_layer(master: str, rpc_layer: str | None = None) -> str:
    """An address as sessions take it: `grpc://host:port`; as it is where there is no layer or no address."""
    return f"{rpc_layer}://{master}" if rpc_layer and master else master


class ClusterResolver(abc.ABC):
    """Base class. `task_type` and `task_id` are this process's, None where they are not known."""

    task_type: str | None = None
    task_id: int | None = None

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The cluster, as it is now."""

    @abc.abstractmethod
    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target for sessions: this process's, or that of the task that is named."""

    @property
    def environment(self) -> str | None:
        """`""` on machines of one's own, `google` in Google's."""
        return ""

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """{type: how many} of this machine's devices that are no CPUs."""
        found: dict[str, int] = {}
        for name in local_devices(config_proto):
            kind = DeviceName.parse(name).device_type or "CPU"
            if kind != "CPU":
                found[kind] = found.get(kind, 0) + 1
        return found


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program knows. TypeError for what is no ClusterSpec."""

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(f"cluster_spec must be a `tf.train.ClusterSpec`. Given: {cluster_spec!r}")
        if not isinstance(master, str):
            raise TypeError(f"master must be a string. Given: {master!r}")
        self._cluster_spec, self._master, self._environment = cluster_spec, master, environment
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._num_accelerators = num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        return self._cluster_spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """ValueError for a task that the cluster has not."""
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._cluster_spec.task_address(task_type, task_id)
        return with_layer(address, rpc_layer or self.rpc_layer)

    @property
    def environment(self) -> str:
        return self._environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        if self._num_accelerators is None:
            return super().num_accelerators(task_type, task_id, config_proto)
        return self._num_accelerators


class UnionResolver(ClusterResolver):
    """Several clusters as one: the tasks of a job in the order of the resolvers. What else there is, the first one says.

    `task_type`, `task_id`, `rpc_layer` are the first resolver's unless given. ValueError without resolvers, TypeError for
    what is none; KeyError where two name the same task of a job that has its tasks by number.
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any):
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError(f"All arguments must be a sub-class of `ClusterResolver.` Given: {resolver!r}")
        self._resolvers = args
        self.task_type = kwargs.pop("task_type", args[0].task_type)
        self.task_id = kwargs.pop("task_id", args[0].task_id)
        self.rpc_layer = kwargs.pop("rpc_layer", getattr(args[0], "rpc_layer", None))
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")

    def cluster_spec(self) -> ClusterSpec:
        jobs: dict[str, Any] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                jobs[job] = _joined(job, jobs[job], tasks) if job in jobs else tasks
        return ClusterSpec(jobs)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        if task_type is not None and task_id is not None:
            return with_layer(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    @property
    def environment(self) -> str | None:
        return self._resolvers[0].environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


def _joined(job: str, first: Any, second: Any) -> Any:
    """The tasks of a job that two resolvers have: one list after the other, or by number where one of them is so."""
    if isinstance(first, list) and isinstance(second, list):
        return [*first, *second]
    one, other = (dict(enumerate(tasks)) if isinstance(tasks, list) else dict(tasks) for tasks in (first, second))
    twice = one.keys() & other.keys()
    if twice:
        raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {twice!r} of job {job!r}")
    return one | other
