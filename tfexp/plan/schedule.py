"""List scheduling: how long jobs take that need each other's results, on devices that share threads, and where to put them.

`place` follows HEFT (Topcuoglu, Hariri and Wu, "Performance-effective and low-complexity task scheduling for heterogeneous
computing", 2002): jobs are ranked by the longest way from them to the end (their own mean time, transfers included), and
each in turn goes to the device where it ends earliest, in the first gap that fits it. Some things are added. Jobs of one
`group` go where the first of them went. Devices of one `team` share its threads, so that a second CPU device of a process
brings no second processor. And a device takes no more bytes than it has; where nobody has room, the job goes to whoever
has most. Light jobs that work for one other device alone follow to it.

All of it is arithmetic on what it is given: equal input, equal schedule.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

# A device has to end a job earlier by this part, and by so much, to take it from where it would be without a schedule.
_BETTER = 0.02
_NOTICEABLE = 20e-6


@dataclass(frozen=True)
class Job:
    """One node: what it takes, in seconds, on each device that may have it; what it needs, and from whom.

    `before`: the jobs that it needs (by position, each before itself), with the bytes that come from each. `home`: where it
    is without a schedule. `memory`: bytes that it makes. `group`: jobs with the same one stay together (None: alone).
    """

    seconds: Mapping[str, float]
    home: str
    before: Mapping[int, int] = field(default_factory=dict)
    memory: int = 0
    group: int | None = None


@dataclass(frozen=True)
class Hardware:
    """`team`: whose threads a device uses. `threads`: how many a team has. `transfer(from, to, bytes)`: seconds.

    `memory`: bytes, by device; a device that is not there has enough for anything.
    """

    team: Mapping[str, str]
    threads: Mapping[str, int]
    transfer: Callable[[str, str, int], float]
    memory: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Schedule:
    """Where each job runs and from when to when, in seconds from the beginning. `bytes_on`: what each device has to hold."""

    devices: tuple[str, ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    bytes_on: Mapping[str, int]

    @property
    def makespan(self) -> float:
        return max(self.ends, default=0.0)

    def fits(self, hardware: Hardware) -> bool:
        return all(held <= hardware.memory.get(device, held) for device, held in self.bytes_on.items())


def simulate(jobs: Sequence[Job], devices: Sequence[str], hardware: Hardware) -> Schedule:
    """The schedule of jobs of which each runs on its one of `devices`."""
    order = _order(jobs, _ranks(jobs, hardware))
    timetable = _Timetable(jobs, hardware)
    for position in order:
        timetable.put(position, devices[position])
    return timetable.schedule()


def place(jobs: Sequence[Job], hardware: Hardware) -> Schedule:
    """The better schedule of HEFT's and that in which every job is at home: one that fits, and of those the shorter."""
    homely = simulate(jobs, [job.home for job in jobs], hardware)
    found = _heft(jobs, hardware)
    following = simulate(jobs, _followed(jobs, found.devices), hardware)
    if (following.fits(hardware) or not found.fits(hardware)) and following.makespan <= found.makespan + _NOTICEABLE:
        found = following
    if homely.fits(hardware) and (not found.fits(hardware) or found.makespan >= homely.makespan):
        return homely
    return found


def _heft(jobs: Sequence[Job], hardware: Hardware) -> Schedule:
    timetable = _Timetable(jobs, hardware)
    allowed = _allowed(jobs)
    chosen: dict[int, str] = {}
    for position in _order(jobs, _ranks(jobs, hardware)):
        job = jobs[position]
        device = chosen.get(job.group) if job.group is not None else None
        if device is None:
            device = _earliest(timetable, position, allowed[position])
            if job.group is not None:
                chosen[job.group] = device
        timetable.put(position, device)
    return timetable.schedule()


def _followed(jobs: Sequence[Job], devices: Sequence[str]) -> list[str]:
    """The devices, but with the light jobs that work for one other device alone on that one.

    A task sends when all that it was asked for is done: what others wait for should not be among its heavy jobs.
    """
    readers: dict[int, set[str]] = defaultdict(set)
    followed = list(devices)
    for position in reversed(range(len(jobs))):
        job, wanted = jobs[position], readers[position]
        if len(wanted) == 1 and job.group is None:
            (device,) = wanted
            if job.seconds.get(device, math.inf) < _NOTICEABLE:
                followed[position] = device
        for other in job.before:
            readers[other].add(followed[position])
    return followed


def _allowed(jobs: Sequence[Job]) -> list[tuple[str, ...]]:
    """The devices of each job: of a group, those that all of its jobs may have."""
    common: dict[int, list[str]] = {}
    for job in jobs:
        if job.group is not None:
            common[job.group] = [d for d in common.get(job.group, job.seconds) if d in job.seconds]
    return [tuple(job.seconds if job.group is None else common[job.group]) for job in jobs]


def _earliest(timetable: _Timetable, position: int, allowed: Sequence[str]) -> str:
    """Where the job ends first, if that is to be noticed; else where it is at home."""
    home = timetable.jobs[position].home
    roomy = [device for device in allowed if timetable.has_room(position, device)]
    if not roomy:
        return max(allowed, key=lambda device: (timetable.room(device), device == home))
    ends = {device: timetable.trial(position, device)[2] for device in roomy}
    best = min(roomy, key=lambda device: ends[device])
    if home not in ends or ends[best] < (1 - _BETTER) * ends[home] - _NOTICEABLE:
        return best
    return home


def _ranks(jobs: Sequence[Job], hardware: Hardware) -> list[float]:
    """The mean time from the beginning of each job to the end of the last one that needs it."""
    ranks = [0.0] * len(jobs)
    costs = [math.fsum(job.seconds.values()) / len(job.seconds) for job in jobs]
    pairs = [(a, b) for a in hardware.team for b in hardware.team if a != b]
    sizes: dict[int, float] = {}

    def transfer(size: int) -> float:
        if size not in sizes:
            sizes[size] = math.fsum(hardware.transfer(a, b, size) for a, b in pairs) / len(pairs) if pairs else 0.0
        return sizes[size]

    for position in reversed(range(len(jobs))):
        ranks[position] += costs[position]
        for other, size in jobs[position].before.items():
            ranks[other] = max(ranks[other], transfer(size) + ranks[position])
    return ranks


def _order(jobs: Sequence[Job], ranks: Sequence[float]) -> list[int]:
    """By rank, the highest first; of equal ones (a job that takes no time), the earlier."""
    return sorted(range(len(jobs)), key=lambda position: (-ranks[position], position))


class _Timetable:
    """The threads of every team, with what they run from when to when."""

    def __init__(self, jobs: Sequence[Job], hardware: Hardware):
        self.jobs = jobs
        self._hardware = hardware
        self._busy: dict[str, list[list[tuple[float, float]]]] = {
            team: [[] for _ in range(max(1, hardware.threads.get(team, 1)))] for team in set(hardware.team.values())
        }
        self._device: list[str] = [""] * len(jobs)
        self._start = [0.0] * len(jobs)
        self._end = [0.0] * len(jobs)
        self._bytes: dict[str, int] = dict.fromkeys(hardware.team, 0)

    def room(self, device: str) -> float:
        """Bytes that are left on the device."""
        return self._hardware.memory.get(device, math.inf) - self._bytes[device]

    def has_room(self, position: int, device: str) -> bool:
        return self.jobs[position].memory <= self.room(device)

    def trial(self, position: int, device: str) -> tuple[int, float, float]:
        """The thread that would have the job, and from when to when: the first gap after all that it needs has come."""
        job, transfer = self.jobs[position], self._hardware.transfer
        ready = 0.0
        for other, size in job.before.items():
            source = self._device[other]
            ready = max(ready, self._end[other] + (transfer(source, device, size) if source != device else 0.0))
        seconds = job.seconds[device]
        threads = self._busy[self._hardware.team[device]]
        starts = [_first_gap(busy, ready, seconds) for busy in threads]
        thread = min(range(len(threads)), key=lambda number: starts[number])
        return thread, starts[thread], starts[thread] + seconds

    def put(self, position: int, device: str) -> None:
        thread, start, end = self.trial(position, device)
        if end > start:
            insort(self._busy[self._hardware.team[device]][thread], (start, end))
        self._device[position], self._start[position], self._end[position] = device, start, end
        self._bytes[device] += self.jobs[position].memory

    def schedule(self) -> Schedule:
        return Schedule(tuple(self._device), tuple(self._start), tuple(self._end), dict(self._bytes))


def _first_gap(busy: Sequence[tuple[float, float]], ready: float, seconds: float) -> float:
    """When a thread that runs `busy` (in order) first has so many seconds, from `ready` on."""
    start = ready
    for begins, ends in busy[max(0, bisect_left(busy, (ready,)) - 1) :]:
        if start + seconds <= begins:
            return start
        start = max(start, ends)
    return start
