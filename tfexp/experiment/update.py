"""The config group `update`: when the gradients of the copies of a model reach the variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from tfexp.core.wording import plural
from tfexp.experiment.errors import SettingError
from tfexp.experiment.replication import AllReduce, BetweenGraph, Replication, Single
from tfexp.experiment.schema import Cluster, Section, bounded
from tfexp.train.staleness import LONGEST

__all__ = ["Async", "Staleness", "Sync", "Update"]


@dataclass(frozen=True, kw_only=True)
class Update(Section, ABC):
    together: ClassVar[bool]
    """Whether the copies train on the parts of one batch, and not on a batch each."""

    @abstractmethod
    def check(self, cluster: Cluster, replication: Replication) -> None:
        """Raise SettingError if it makes no sense with these. Its key is seen from outside of the section."""

    @abstractmethod
    def repeatable(self, cluster: Cluster, replication: Replication) -> bool:
        """Whether the same run comes to the same numbers, to the bit."""

    def alone_until(self, total: int, copies: int) -> int:
        """The step up to which the first of the copies trains alone, in a run of `total` steps."""
        return 0


@dataclass(frozen=True, kw_only=True)
class Staleness(Section):
    """What becomes of gradients that were made of variables which others have updated meanwhile (`train.staleness`)."""

    inside = "staleness."

    drop_above: int | None = bounded(
        least=0, below=LONGEST, says="gradients that are later than by so many updates are dropped; null: none is"
    )
    damping: float = bounded(least=0, says="a gradient that is s updates late is applied at the rate times (1+s)^-damping")
    warmup_steps: int = bounded(least=0, says="steps that the first worker makes alone, before the others begin")

    @property
    def remedies(self) -> list[str]:
        """The names of those settings that do something."""
        on = {"drop_above": self.drop_above is not None, "damping": self.damping > 0, "warmup_steps": self.warmup_steps > 0}
        return [name for name, is_on in on.items() if is_on]


@dataclass(frozen=True, kw_only=True)
class Async(Update):
    """Each copy's gradients are applied as soon as they are there."""

    together = False

    staleness: Staleness = bounded(says="what becomes of gradients that others' updates have overtaken")

    def check(self, cluster: Cluster, replication: Replication) -> None:
        if isinstance(replication, AllReduce):
            raise SettingError(
                "update",
                "async is for workers that share variables, and with replication=all_reduce each has its own: use "
                "update=sync, or choose replication=between_graph",
            )
        if replication.copies(cluster) == 1:
            for name in self.staleness.remedies:
                raise SettingError(
                    f"update.staleness.{name}",
                    f"{getattr(self.staleness, name)}: one copy of the model makes no gradient too late: choose a cluster "
                    "such as cluster=2workers, or replication=in_graph",
                )

    def alone_until(self, total: int, copies: int) -> int:
        # The first one leaves the last `copies - 1` steps to all (`turns.Apart`).
        return min(self.staleness.warmup_steps, total - copies + 1)

    def repeatable(self, cluster: Cluster, replication: Replication) -> bool:
        return replication.copies(cluster) == 1


@dataclass(frozen=True, kw_only=True)
class Sync(Update):
    """The mean of the gradients of all copies makes one update; of all but `spare` of them, with between_graph.

    Each copy has an equal part of the rows of a batch.
    """

    together = True

    spare: int = bounded(
        least=0, says="with between_graph: workers that an update does not wait for; what they bring too late is dropped"
    )

    def check(self, cluster: Cluster, replication: Replication) -> None:
        if isinstance(replication, Single):
            raise SettingError(
                "update",
                "sync puts the gradients of several copies of the model together, and replication=none has one: use "
                "update=async, or choose a cluster such as cluster=2workers, or replication=in_graph",
            )
        if self.spare and not isinstance(replication, BetweenGraph):
            raise SettingError(
                "update.spare",
                f"{self.spare}: only between_graph has workers that an update need not wait for: give 0, or choose it",
            )
        workers = replication.copies(cluster)
        if self.spare >= workers:
            raise SettingError(
                "update.spare",
                f"{self.spare} of {plural(workers, 'worker')} leaves none to make an update: give at most {workers - 1}",
            )

    def repeatable(self, cluster: Cluster, replication: Replication) -> bool:
        # Gradients are added up as they come in, and a sum of two numbers is the same in both orders.
        return not isinstance(replication, BetweenGraph) or (not self.spare and replication.copies(cluster) <= 2)
