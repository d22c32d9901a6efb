"""The config group `update`: when the workers' gradients reach the variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Cluster, Section

__all__ = ["Async", "Sync", "Update"]


@dataclass(frozen=True, kw_only=True)
class Update(Section, ABC):
    @abstractmethod
    def check(self, cluster: Cluster) -> None:
        """Raise SettingError if it makes no sense on this cluster. Its key is seen from outside of the section."""


@dataclass(frozen=True, kw_only=True)
class Async(Update):
    """Each worker applies its gradients as soon as it has them."""

    def check(self, cluster: Cluster) -> None:
        """One process and any number of workers can."""


@dataclass(frozen=True, kw_only=True)
class Sync(Update):
    """The gradients of all workers make one update."""

    def check(self, cluster: Cluster) -> None:
        if not cluster.tasks:
            raise SettingError(
                "update", "sync puts the gradients of several workers together, and cluster=local has none: use update=async"
            )
        raise SettingError(
            "update", "sync is not there yet; what works is update=async, where each worker updates when it is ready"
        )
