"""Who has not been heard of for too long: a state machine without clocks. Any thread may say that it has heard a task."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Silent", "Spoke", "Watchdog"]


@dataclass(frozen=True)
class Silent:
    """Nobody has heard from the task for so many seconds; said once."""

    task: str
    seconds: float


@dataclass(frozen=True)
class Spoke:
    """A task that was `Silent` has been heard of again, after so many seconds."""

    task: str
    seconds: float


class Watchdog:
    """`within`: the seconds in which a task that is well says something."""

    def __init__(self, within: float):
        self._within = within
        self._lock = threading.Lock()
        self._heard: dict[str, float] = {}
        self._silent: dict[str, float] = {}  # since when
        self._looked: float | None = None

    def watch(self, task: str, now: float) -> None:
        """Expect words of the task from now on."""
        with self._lock:
            self._heard[task] = now

    def leave(self, task: str) -> None:
        """Expect nothing more of it: it is known to be gone, or has done its part."""
        with self._lock:
            self._heard.pop(task, None)
        self._silent.pop(task, None)

    def hear(self, task: str, now: float) -> None:
        """The task has said something; nothing happens if it is not watched."""
        with self._lock:
            if task in self._heard:
                self._heard[task] = now

    def look(self, now: float) -> list[Silent | Spoke]:
        """What is new. Who did not look for long was away itself, which is none of the tasks' silence."""
        with self._lock:
            if self._looked is not None and now - self._looked > self._within:
                self._heard = dict.fromkeys(self._heard, now)
            latest = list(self._heard.items())
        self._looked = now
        found: list[Silent | Spoke] = []
        for task, heard in latest:
            since = self._silent.get(task)
            if since is None and now - heard > self._within:
                self._silent[task] = heard
                found.append(Silent(task, now - heard))
            elif since is not None and heard > since:
                del self._silent[task]
                found.append(Spoke(task, heard - since))
        return found

    def silent_for(self, seconds: float, now: float) -> Iterable[str]:
        """The tasks that have said nothing for longer than that."""
        return [task for task in self._silent if now - self._heard[task] > seconds]
