"""The config group `replication`: how a model's training is spread over the tasks of a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Cluster, Section, WireDtype, bounded

__all__ = ["AllReduce", "BetweenGraph", "InGraph", "Replication", "Single"]


@dataclass(frozen=True, kw_only=True)
class Replication(Section, ABC):
    @abstractmethod
    def check(self, cluster: Cluster) -> None:
        """Raise SettingError if it makes no sense on this cluster. Its key is seen from outside of the section."""

    @abstractmethod
    def copies(self, cluster: Cluster) -> int:
        """How many copies of the model train at the same time."""


@dataclass(frozen=True, kw_only=True)
class Single(Replication):
    """One process trains one model."""

    def check(self, cluster: Cluster) -> None:
        if cluster.tasks:
            raise SettingError(
                "replication",
                f"none trains in one process, and the cluster has {cluster.described}: choose replication="
                "between_graph, in_graph or all_reduce, or cluster=local",
            )

    def copies(self, cluster: Cluster) -> int:
        return 1


@dataclass(frozen=True, kw_only=True)
class InGraph(Replication):
    """One client's graph has a copy of the model for each worker; without a cluster, `towers` of them in this process."""

    towers: int = bounded(
        least=1, says="without a cluster: copies of the model, each on a virtual CPU device of this process"
    )

    def check(self, cluster: Cluster) -> None:
        if cluster.tasks or cluster.is_static:
            _needs_both("in_graph", cluster)

    def copies(self, cluster: Cluster) -> int:
        return cluster.worker_count or self.towers


@dataclass(frozen=True, kw_only=True)
class BetweenGraph(Replication):
    """Each worker builds the graph and trains it by itself; the parameter servers have the variables that all share."""

    def check(self, cluster: Cluster) -> None:
        if not cluster.tasks and not cluster.is_static:
            raise SettingError(
                "replication",
                "between_graph needs workers and a parameter server, and cluster=local has neither: choose "
                "cluster=2workers, 2ps3workers or static, or replication=in_graph or none",
            )
        _needs_both("between_graph", cluster)

    def copies(self, cluster: Cluster) -> int:
        return cluster.worker_count


@dataclass(frozen=True, kw_only=True)
class AllReduce(Replication):
    """Each worker builds the graph and has all variables, to which it applies the mean of all workers' gradients."""

    def check(self, cluster: Cluster) -> None:
        if not cluster.tasks and not cluster.is_static:
            raise SettingError(
                "replication",
                "all_reduce needs workers, and cluster=local has none: choose cluster=2peers, or replication=in_graph or "
                "none",
            )
        if cluster.ps_count:
            raise SettingError(
                "cluster.ps_hosts" if cluster.is_static else "cluster.ps",
                f"all_reduce has all variables on each worker, and the cluster has {cluster.described}: give no parameter "
                "servers (cluster=2peers has none), or choose replication=between_graph",
            )
        if cluster.worker_count < 2:
            raise SettingError(
                "cluster.worker_hosts" if cluster.is_static else "cluster.workers",
                f"{cluster.worker_count}: all_reduce needs workers to make steps together: give at least 2",
            )
        if cluster.restarts:
            raise SettingError(
                "cluster.restarts",
                f"{cluster.restarts}: all_reduce ends the run when a worker is lost, and resume= goes on: give 0",
            )
        if cluster.wire_dtype is not WireDtype.float32:
            raise SettingError(
                "cluster.wire_dtype",
                f"{cluster.wire_dtype.value}: all_reduce sends gradients as they are: give float32, or choose "
                "replication=between_graph",
            )

    def copies(self, cluster: Cluster) -> int:
        return cluster.worker_count


def _needs_both(choice: str, cluster: Cluster) -> None:
    for what, count, field in (
        ("a parameter server to keep the variables that the workers share", cluster.ps_count, "ps"),
        ("a worker to train", cluster.worker_count, "workers"),
    ):
        if not count:
            given = {"ps": "ps_hosts", "workers": "worker_hosts"}[field] if cluster.is_static else field
            raise SettingError(f"cluster.{given}", f"{choice} needs {what}: give at least 1")
