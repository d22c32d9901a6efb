"""One run of a sweep: what it is, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tfexp.experiment.schema import Settings

__all__ = ["Attempt", "Needs", "Progress", "Trial", "label_of"]


def label_of(varied: Mapping[str, str]) -> str:
    """What a sweep chose for a trial, in words."""
    return " ".join(f"{name}={value}" for name, value in varied.items()) or "nothing varied"


@dataclass(frozen=True)
class Needs:
    """What an attempt takes of the machine while it runs: by itself, and for the tasks that Ray hosts for it."""

    cpus: float
    gpus: float = 0.0
    gang_cpus: float = 0.0
    gang_gpus: float = 0.0


@dataclass(frozen=True)
class Trial:
    """The `number`-th run (from 0). `words` are all its overrides, `varied` those of them that the sweep chose, by name."""

    number: int
    point: int
    words: tuple[str, ...]
    varied: dict[str, str]
    folder: str
    """The name of its first attempt's folder, inside the sweep's."""
    config_yaml: str
    settings: Settings
    total_steps: int
    needs: Needs

    @property
    def label(self) -> str:
        return label_of(self.varied)


@dataclass
class Attempt:
    """A try at a trial. `status` is None until it ended; "lost" if the driver ended before it."""

    number: int
    folder: str
    status: str | None = None
    message: str = ""
    hopeless: bool = False
    """Whether it failed in a way in which the next one would, too."""


@dataclass
class Progress:
    """What the journal says of a trial."""

    attempts: list[Attempt] = field(default_factory=list)
    status: str = "waiting"
    """waiting, running, finished, stopped early, halved, failed, or duplicate"""
    numbers: dict[str, Any] | None = None
    """What the result says, of a trial that came to one."""
    seconds: float = 0.0
    latest: tuple[int, float] | None = None
    """The last evaluation that the driver heard of, while it runs: step and value."""
    same_as: int | None = None

    @property
    def tries(self) -> int:
        """The attempts without those that were lost."""
        return sum(attempt.status != "lost" for attempt in self.attempts)

    @property
    def is_over(self) -> bool:
        return self.status not in ("waiting", "running")
