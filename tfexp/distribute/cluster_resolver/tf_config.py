"""`TFConfigClusterResolver`: the cluster that the environment variable `TF_CONFIG` describes. Source: TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver, with_layer
from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.tf_config import parse_tf_config


class TFConfigClusterResolver(ClusterResolver):
    """`{"cluster": {job: [address, …]}, "task": {"type": job, "index": number}, "rpc_layer": …, "environment": …}`.

    Arguments stand before what the variable says. ValueError, when it is asked, where the variable is no JSON object.
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ):
        self._task_type, self._task_id, self._rpc_layer, self._environment = task_type, task_id, rpc_layer, environment

    @property
    def task_type(self) -> str | None:  # type: ignore[override]
        found = _config().get("task", {}).get("type") if self._task_type is None else self._task_type
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:  # type: ignore[override]
        found = _config().get("task", {}).get("index") if self._task_id is None else self._task_id
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        return _config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str) -> None:
        self._rpc_layer = rpc_layer

    @property
    def environment(self) -> str | None:
        return _config().get("environment") if self._environment is None else self._environment

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec(_config().get("cluster", {}))

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """`session_master`, where the variable has it; else the address of the task; "" for a process that is alone."""
        config, cluster = _config(), self.cluster_spec()
        if "session_master" in config:
            return str(config["session_master"])
        tasks = sum(cluster.num_tasks(job) for job in cluster.jobs)
        if tasks <= 1:
            return ""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            raise ValueError(
                f'TF_CONFIG does not say which task of its cluster this process is: "task" needs "type" and "index". It is '
                f"{config}"
            )
        return with_layer(cluster.task_address(kind, number), rpc_layer or self.rpc_layer)


def _config() -> dict[str, Any]:
    return parse_tf_config(os.environ.get("TF_CONFIG"))
