"""The config group `replication`: how a model's training is spread over the tasks of a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Cluster, Section

__all__ = ["BetweenGraph", "InGraph", "Replication", "Single"]

_WORKS = "replication=between_graph update=async with a cluster such as cluster=2workers, and replication=none without one"


@dataclass(frozen=True, kw_only=True)
class Replication(Section, ABC):
    @abstractmethod
    def check(self, cluster: Cluster) -> None:
        """Raise SettingError if it makes no sense on this cluster. Its key is seen from outside of the section."""


@dataclass(frozen=True, kw_only=True)
class Single(Replication):
    """One process trains one model."""

    def check(self, cluster: Cluster) -> None:
        if cluster.tasks:
            raise SettingError(
                "replication",
                f"none trains in one process, and the cluster has {cluster.described}: choose replication=between_graph, "
                "or cluster=local",
            )


@dataclass(frozen=True, kw_only=True)
class InGraph(Replication):
    """One client's graph has a copy of the model for each worker."""

    def check(self, cluster: Cluster) -> None:
        raise SettingError("replication", f"in_graph is not there yet; what works is {_WORKS}")


@dataclass(frozen=True, kw_only=True)
class BetweenGraph(Replication):
    """Each worker builds the graph and trains it by itself; the parameter servers have the variables that all share."""

    def check(self, cluster: Cluster) -> None:
        if not cluster.tasks and not cluster.is_static:
            raise SettingError(
                "replication",
                "between_graph needs workers and a parameter server, and cluster=local has neither: choose "
                "cluster=2workers, 2ps3workers or static, or replication=none",
            )
        for what, count, field in (
            ("a parameter server to keep the variables that the workers share", cluster.ps_count, "ps"),
            ("a worker to train", cluster.worker_count, "workers"),
        ):
            if not count:
                given = {"ps": "ps_hosts", "workers": "worker_hosts"}[field] if cluster.is_static else field
                raise SettingError(f"cluster.{given}", f"between_graph needs {what}: give at least 1")
