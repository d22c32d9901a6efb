"""A simulated cluster: the masters and workers of tasks as they are, with a network and processes that fail by a seed.

One event at a time, chosen by the seed: a letter is delivered, or lost, or comes twice; a task is killed, suspended, goes
on, or is started again. Graphs are run by the programs of the tasks themselves, with variables in the tasks' own resources.
What belongs to a process (its connections, the requests that it serves) ends with it, as with sockets. Graphs that wait, and
clients that do, are strands, which go on after an event as far as they can.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from experiments.saturation.strands import Strand
from tfexp.core.errors import OpError, UnavailableError
from tfexp.distributed import events as ev
from tfexp.distributed import messages as m
from tfexp.distributed.machine import Machine
from tfexp.distributed.master import Master
from tfexp.distributed.master_steps import OURS
from tfexp.distributed.program import GraphProgram
from tfexp.distributed.worker import Worker
from tfexp.runtime.resources import Resources, SessionResources
from tfexp.runtime.step import StepState

__all__ = ["PS", "WORKERS", "Faults", "Host", "World"]

PS = ("/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1")
WORKERS = ("/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1")
ADDRESSES = {name: f"{name}:1" for name in (*PS, *WORKERS)}


@dataclass(frozen=True)
class Faults:
    """How likely each of them is, per event."""

    lost_request: float = 0.01
    lost_reply: float = 0.01
    repeated_request: float = 0.01
    repeated_reply: float = 0.02
    kill: float = 0.004
    suspend: float = 0.004
    back: float = 0.05
    """That a task which was killed or suspended comes back."""


@dataclass
class Letter:
    """Something under way to a host. `tied` are the processes (host, incarnation) with whose end it is lost."""

    to: str
    act: Callable[[], None]
    tied: tuple[tuple[str, int], ...]
    lost: Callable[[], None] = lambda: None
    """What the loss means, to those who live."""
    waits: bool = False
    """Whether it waits for its receiver to be there."""
    call: int = 0
    """The request's number; it is not begun when its sender gives it up before it comes."""


@dataclass
class Host:
    """One process of a task."""

    name: str
    incarnation: int
    master: Master
    worker: Worker
    alive: bool = True
    suspended: bool = False
    resources: Resources = field(default_factory=Resources)
    sessions: dict[str, SessionResources] = field(default_factory=dict)
    partial: dict[int, Any] = field(default_factory=dict)
    calls: dict[int, Callable[[Any, OpError | None], None]] = field(default_factory=dict)
    cancel: dict[tuple[Machine, int], Callable[[OpError], None]] = field(default_factory=dict)
    strands: list[Strand] = field(default_factory=list)

    @property
    def process(self) -> tuple[str, int]:
        return self.name, self.incarnation


class World:
    """`happened` counts faults, `now` events; `on_execute(host, session)` sees every graph that is about to run."""

    def __init__(self, seed: int, faults: Faults):
        self.random = random.Random(seed)
        self.faults: Faults | None = faults
        self.letters: list[Letter] = []
        self.now = self._wake = 0
        self.happened: Counter[str] = Counter()
        self.on_execute: Callable[[Host, ev.Execute], None] = lambda host, command: None
        self.on_start: Callable[[Host], None] = lambda host: None
        self._numbers = itertools.count(1)
        self._incarnations = itertools.count(1)
        self.hosts = {name: self._new(name) for name in ADDRESSES}

    def _new(self, name: str) -> Host:
        incarnation = next(self._incarnations)
        device = m.Device(f"{name}/device:CPU:0", "CPU", 1 << 28, incarnation, OURS)
        master = Master(name, [device], ADDRESSES, lambda: next(self._numbers) << 8)
        return Host(name, incarnation, master, Worker(name, [device], ADDRESSES, lambda: next(self._numbers)))

    # --- time --------------------------------------------------------------------------------------------------------

    def wake_at(self, number: int) -> None:
        """Somebody waits for the event of that number, if there are no others."""
        self._wake = max(self._wake, number)

    def happen(self) -> None:
        """The next event."""
        self.now += 1
        faults, chance = self.faults, self.random.random
        if faults is not None:
            self._processes(faults, chance)
        able = [letter for letter in self.letters if self._deliverable(letter)]
        if not able:
            self._come_back(1.0)
            self.now = max(self.now, self._wake)
            self._go_on()
            return
        letter = self.random.choice(able)
        self.letters.remove(letter)
        letter.act()
        self._go_on()

    def _go_on(self) -> None:
        """Let everybody who sleeps, and is there, look whether what he waits for has come."""
        moved = True
        while moved:
            moved = False
            for host in self.hosts.values():
                if host.suspended:
                    continue
                for strand in list(host.strands):
                    moved |= strand.advance()
                host.strands = [strand for strand in host.strands if not strand.over]

    def begin(self, host: Host, work: Callable[[], None]) -> Strand:
        """Let a process do what may have to wait."""
        strand = Strand(work)
        if not strand.over:
            host.strands.append(strand)
        return strand

    def close(self) -> None:
        """End whatever still sleeps."""
        for host in self.hosts.values():
            self._end_strands(host)

    def _end_strands(self, host: Host) -> None:
        for strand in host.strands:
            strand.kill()
        host.strands.clear()

    def _deliverable(self, letter: Letter) -> bool:
        host = self.hosts[letter.to]
        return not host.suspended and (host.alive or not letter.waits)

    def _processes(self, faults: Faults, chance: Callable[[], float]) -> None:
        if chance() < faults.kill:
            self.kill(self.random.choice(list(self.hosts)))
        if chance() < faults.suspend:
            self.hosts[self.random.choice(list(self.hosts))].suspended = True
            self.happened["suspended"] += 1
        self._come_back(faults.back)

    def _come_back(self, likely: float) -> None:
        for name, host in list(self.hosts.items()):
            if (host.suspended or not host.alive) and self.random.random() < likely:
                if host.alive:
                    host.suspended = False
                else:
                    self.hosts[name] = self._new(name)
                    self.on_start(self.hosts[name])

    def heal(self) -> None:
        """No more faults; everybody comes back."""
        self.faults = None
        self._come_back(1.0)

    def kill(self, name: str) -> None:
        host = self.hosts[name]
        if not host.alive:
            return
        self.happened["killed"] += 1
        host.alive, host.suspended = False, False
        self._end_strands(host)
        gone = [letter for letter in self.letters if host.process in letter.tied]
        self.letters = [letter for letter in self.letters if host.process not in letter.tied]
        for letter in gone:
            letter.lost()
        for answer in list(host.calls.values()):
            answer(None, UnavailableError(None, None, f"{name} was killed"))
        host.calls.clear()

    # --- letters -----------------------------------------------------------------------------------------------------

    def ask(self, asker: Host, to: str, request: m.Request, done: Callable[[Any, OpError | None], None], wait: bool) -> int:
        """Send a request; `done` is called at most once, and not when the asker is gone. The number of the call."""
        call, abroad = next(self._numbers), to != asker.name  # within a process nothing is lost
        answered: list[bool] = []

        def finish(reply: Any, error: OpError | None) -> None:
            if asker.alive and not answered:
                answered.append(True)
                done(reply, error)

        def fail(why: str) -> None:
            error = UnavailableError(None, None, f"{to}: {why}")
            self._post(asker, lambda: finish(None, error))

        def deliver(number: int) -> None:
            host = self.hosts[to]
            if not host.alive:
                fail("nobody answers")
                return
            if abroad and self._chance("lost_request"):
                fail("the connection was cut before the request came")
                return
            host.calls[number] = lambda reply, error: self._answer(host, asker, number, reply, error, finish, fail)
            machine: Machine = host.master if host.master.handles(request) else host.worker
            self.feed(host, machine, ev.Asked(number, request))

        self.letters.append(Letter(to, lambda: deliver(call), (asker.process,), waits=wait, call=call))
        if abroad and self._chance("repeated_request"):
            again = next(self._numbers)
            self.letters.append(Letter(to, lambda: deliver(again), (asker.process,), waits=wait, call=call))
        return call

    def _answer(
        self,
        host: Host,
        asker: Host,
        number: int,
        reply: Any,
        error: OpError | None,
        finish: Callable[[Any, OpError | None], None],
        fail: Callable[[str], None],
    ) -> None:
        host.calls.pop(number, None)
        if host is not asker and self._chance("lost_reply"):
            fail("the connection was cut before the answer came")
            return
        # A letter that is under way arrives though its sender is killed: the kernel has it.
        for _ in range(1 + self._chance("repeated_reply")):
            self._post(asker, lambda: finish(reply, error))

    def _post(self, to: Host, act: Callable[[], None]) -> None:
        if to.alive:
            self.letters.append(Letter(to.name, act, (to.process,)))

    def _chance(self, fault: str) -> bool:
        if self.faults is None or self.random.random() >= getattr(self.faults, fault):
            return False
        self.happened[fault.replace("_", " ")] += 1
        return True

    # --- a task's driver ----------------------------------------------------------------------------------------------

    def feed(self, host: Host, machine: Machine, event: ev.Event) -> None:
        for command in machine.handle(event):
            self._perform(host, machine, command)

    def _perform(self, host: Host, machine: Machine, command: ev.Command) -> None:
        match command:
            case ev.Respond(call, reply):
                host.calls.get(call, _nobody)(reply, None)
            case ev.Refuse(call, error):
                host.calls.get(call, _nobody)(None, error)
            case ev.Ask(ask=ask, task=task, request=request, wait=wait):
                number = self.ask(
                    host, task, request, lambda reply, error: self._told(host, machine, ask, reply, error), wait
                )
                host.cancel[(machine, ask)] = lambda error: self._cancel(host, task, number, error)
            case ev.Abandon(ask, error):
                cancel = host.cancel.pop((machine, ask), None)
                if cancel is not None:
                    cancel(error)
            case ev.Load(ask=ask):
                self._post(host, lambda: self._work(host, ask, lambda: self._load(host, command)))
            case ev.Execute(ask=ask):
                state = StepState()
                host.cancel[(machine, ask)] = state.cancel
                self._post(host, lambda: self._begin_graph(host, command, state))
            case ev.Drop(containers):
                host.resources.reset(containers)
            case ev.Unload(program=program):
                program.close()
            case ev.Forget(session):
                host.sessions.pop(session, None)

    def _told(self, host: Host, machine: Machine, ask: int, reply: Any, error: OpError | None) -> None:
        host.cancel.pop((machine, ask), None)
        self.feed(host, machine, ev.Answered(ask, reply) if error is None else ev.Failed(ask, error))

    def _cancel(self, asker: Host, to: str, number: int, error: OpError) -> None:
        def deliver() -> None:
            host = self.hosts[to]
            if number in host.calls:
                self.feed(host, host.master, ev.Cancelled(number, error))
                self.feed(host, host.worker, ev.Cancelled(number, error))

        self.letters = [letter for letter in self.letters if letter.call != number]
        self.letters.append(Letter(to, deliver, (asker.process,)))

    def _work(self, host: Host, ask: int, work: Callable[[], Any]) -> None:
        try:
            result = work()
        except OpError as error:
            self.feed(host, host.worker, ev.Failed(ask, error))
        else:
            self.feed(host, host.worker, ev.Answered(ask, result))

    def _load(self, host: Host, command: ev.Load) -> GraphProgram:
        resources = host.sessions.setdefault(command.session, SessionResources(host.resources))
        return GraphProgram(command.graph_def, command.config, resources, (f"{host.name}/device:CPU:0",))

    def _begin_graph(self, host: Host, command: ev.Execute, state: StepState) -> None:
        def run() -> None:
            self._work(host, command.ask, lambda: self._execute(host, command, state))
            host.cancel.pop((host.worker, command.ask), None)

        if any("Queue" in op.type or "Accumulator" in op.type for op in command.program._graph._operations):
            self.begin(host, run)
        else:
            run()

    def _execute(self, host: Host, command: ev.Execute, state: StepState) -> Any:
        state.check()
        if not host.worker._steps.get(command.run.step):
            raise UnavailableError(None, None, "The step has ended")
        self.on_execute(host, command)
        if command.parts is None:
            return command.program.run(command.fed, state, False)
        partial = host.partial.get(id(command.run))
        if partial is None:
            partial = host.partial[id(command.run)] = command.program.begin()
        return partial.run(command.parts, dict(command.fed), state), None


def _nobody(reply: Any, error: OpError | None) -> None:
    """Whoever asked does not wait any more."""
