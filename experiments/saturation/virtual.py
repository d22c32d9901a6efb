"""Time that is computed, and what is used in it: the cores of machines, and the links between them.

What happens at the same time happens in the order in which it was asked for, so a simulation is the same every time.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["PACKET", "Clock", "Cores", "Interpreter", "Link", "Machine"]

Act = Callable[[], None]

PACKET = 1500
"""The bytes of a message that one Ethernet frame has room for."""


class Clock:
    """`now` in seconds. What is to happen `after` some seconds does so in `advance`, which goes to the next of it."""

    def __init__(self) -> None:
        self.now = 0.0
        self._order = itertools.count()
        self._coming: list[tuple[float, int, Act]] = []

    def after(self, seconds: float, act: Act) -> None:
        heapq.heappush(self._coming, (self.now + seconds, next(self._order), act))

    def advance(self) -> None:
        """To the next that happens. RuntimeError when nothing is to come: everybody waits for somebody else."""
        if not self._coming:
            raise RuntimeError(f"Nothing is to come after {self.now:g} s: all wait for each other")
        self.now, _, act = heapq.heappop(self._coming)
        act()


class Interpreter:
    """The lock that the threads of one process share for what they compute in Python."""

    def __init__(self) -> None:
        self.taken = False


@dataclass
class _Job:
    seconds: float
    then: Act
    interpreter: Interpreter | None


class Cores:
    """`count` cores, to which work comes in turn; `busy` is the sum of the seconds of all that was begun."""

    def __init__(self, clock: Clock, count: int) -> None:
        self._clock, self._free = clock, count
        self._waiting: list[_Job] = []
        self.count, self.busy = count, 0.0

    def use(self, seconds: float, then: Act, interpreter: Interpreter | None = None) -> None:
        """Work for so long as soon as a core is free, and the interpreter if it needs that; then go on."""
        self._waiting.append(_Job(seconds, then, interpreter))
        self._begin()

    def _begin(self) -> None:
        for job in list(self._waiting):
            if not self._free:
                return
            if job.interpreter is not None and job.interpreter.taken:
                continue
            self._waiting.remove(job)
            self._free -= 1
            self.busy += job.seconds
            if job.interpreter is not None:
                job.interpreter.taken = True
            self._clock.after(job.seconds, lambda job=job: self._end(job))  # type: ignore[misc]

    def _end(self, job: _Job) -> None:
        self._free += 1
        if job.interpreter is not None:
            job.interpreter.taken = False
        job.then()
        self._begin()


class Link:
    """One direction of a machine's network, on which messages go one after another; `busy` as for cores."""

    def __init__(self) -> None:
        self.free_at = self.busy = 0.0

    def take(self, earliest: float, seconds: float) -> tuple[float, float]:
        """When a message begins and ends that takes so long."""
        begins = max(earliest, self.free_at)
        self.free_at = begins + seconds
        self.busy += seconds
        return begins, self.free_at


@dataclass
class Machine:
    """Where tasks are: their cores, and the two directions of the network."""

    cores: Cores
    out: Link = field(default_factory=Link)
    into: Link = field(default_factory=Link)

    def send(self, clock: Clock, to: Machine, size: float, bandwidth: float, latency: float, then: Act) -> None:
        """So many bytes, at `bandwidth` bytes a second: the last is there `latency` seconds after it was sent.

        The receiver's link takes what the sender's gives, at the same time, if it is free. A single packet gets in between
        those of larger messages.
        """
        seconds = size / bandwidth
        if size <= PACKET:
            clock.after(seconds + latency, then)
            return
        begins, ends = self.out.take(clock.now, seconds)
        _, arrives = to.into.take(begins, seconds)
        clock.after(max(ends, arrives) + latency - clock.now, then)
