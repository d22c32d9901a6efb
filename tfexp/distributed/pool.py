"""Workers that do one job after the other: the interface that this process, local processes and Ray actors have in common.

A pool runs jobs, as many at once as it is asked to, in workers that stay warm between them. A job is `Work`, a function
that is named, never sent; it is called with a `Station` and the work's arguments. A pool knows nothing of what a job does.

of a job    whatever it sends (`kind` and content; of what it asks, `asked` is true, and it waits for an `answer`), then
            `ended` with its result, or `failed` with the error, or, if its worker is gone, `exited` with the reason
of no job   `gone`: what the pool runs on is not there any more, with all jobs (the job's name is empty)
to a job    `answer`s, and `stop`: end when it suits
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from tfexp.distributed.hosting import Message, Say, Sink, Work

__all__ = ["Capacity", "Job", "Pool"]


@dataclass(frozen=True)
class Capacity:
    cpus: float
    gpus: float = 0.0


@dataclass(frozen=True)
class Job:
    """`name` is unique in its pool. What it prints goes to the end of `log`, whose folder is there.

    `cpus` and `gpus` are what its worker takes; the `gang_…`, what others take for it while it runs.
    """

    name: str
    work: Work
    log: Path
    cpus: float = 1.0
    gpus: float = 0.0
    gang_cpus: float = 0.0
    gang_gpus: float = 0.0


class Pool(ABC):
    """Implementations pass `tests/contract/test_pools.py`."""

    kind: str
    most: int | None = None
    """Jobs at once that the pool can have, whatever they take."""

    @abstractmethod
    def open(self, sink: Sink, say: Say) -> Capacity:
        """Make ready; from here on `sink` gets the jobs' messages, from any thread. Returns what there is to share out.

        Raises HostingError if that cannot be. What takes time is said before it is waited for.
        """

    @abstractmethod
    def start(self, job: Job) -> None:
        """Let a worker begin the job, and return at once. All that run at a time have to fit into the capacity."""

    @abstractmethod
    def tell(self, job: str, message: Message) -> None:
        """Send a message to a job; nothing happens when it is gone."""

    @abstractmethod
    def close(self) -> None:
        """End every worker, with whatever it is doing. Nothing is left running. May be repeated."""
