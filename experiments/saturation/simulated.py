"""A cluster of simulated tasks: the masters and workers of real ones, running real graphs in miniature, in computed time.

A graph runs at once, when the time that it costs is over. What waits in it (for a token, for enough gradients) is a strand,
which goes on as soon as another graph on its task has brought that.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto import config_pb2, graph_pb2

from experiments.saturation.costs import Costs, Network, Stage, size_of
from experiments.saturation.strands import Strand, asleep
from experiments.saturation.virtual import Clock, Interpreter, Machine
from tfexp.distributed import events as ev
from tfexp.distributed import machine as machines
from tfexp.distributed import messages as m
from tfexp.distributed.master import Master
from tfexp.distributed.master_steps import OURS
from tfexp.distributed.program import GraphProgram
from tfexp.distributed.worker import Worker
from tfexp.runtime.resources import Resources, SessionResources
from tfexp.runtime.step import StepState

__all__ = ["Cluster", "Session", "Task"]

OnReply = Callable[[Any], None]


@dataclass(eq=False)
class Task:
    """One process. `computed` are the seconds of a core that it has had."""

    name: str
    place: Machine
    master: Master
    worker: Worker
    interpreter: Interpreter = field(default_factory=Interpreter)
    computed: float = 0.0
    resources: SessionResources = field(default_factory=lambda: SessionResources(Resources()))
    stages: dict[int, Stage] = field(default_factory=dict)
    calls: dict[int, OnReply] = field(default_factory=dict)
    strands: list[tuple[Strand, Callable[[], None]]] = field(default_factory=list)
    """What waits here, with what is to be done when it has ended."""


class Cluster:
    """Tasks named in `places` (`/job:ps/replica:0/task:0`), each on its machine.

    In messages a float of a matrix stands for `unit` floats, of which each has so many `bits` (32, or 16: bfloat16).
    `costs` and `network` are what everything costs now.
    """

    def __init__(
        self, clock: Clock, places: dict[str, Machine], costs: Costs, network: Network, unit: int, bits: int
    ) -> None:
        self._random = random.Random(0)
        self.clock, self.costs, self.network, self.unit, self.bits = clock, costs, network, unit, bits
        self._numbers = itertools.count(1)
        addresses = {name: f"{name}:1" for name in places}
        self.tasks: dict[str, Task] = {}
        for name, place in places.items():
            device = m.Device(f"{name}/device:CPU:0", "CPU", 1 << 28, next(self._numbers), OURS)
            master = Master(name, [device], addresses, lambda: next(self._numbers) << 8)
            self.tasks[name] = Task(name, place, master, Worker(name, [device], addresses, lambda: next(self._numbers)))

    def recost(self, costs: Costs, network: Network) -> None:
        """Everything costs that from now on."""
        self.costs, self.network = costs, network
        for task in self.tasks.values():
            task.stages.clear()

    def close(self) -> None:
        """End whatever still waits."""
        for task in self.tasks.values():
            for strand, _ in task.strands:
                strand.kill()
            task.strands.clear()

    def compute(self, task: Task, seconds: float, then: Callable[[], None], in_python: bool = True) -> None:
        """Go on when the task has computed so long, with the interpreter or without."""
        if not seconds:
            then()
            return
        task.computed += seconds
        task.place.cores.use(seconds, then, task.interpreter if in_python else None)

    # --- requests ------------------------------------------------------------------------------------------------------

    def ask(self, asker: Task, to: str, request: m.Request, done: OnReply) -> None:
        """`done` gets the reply; an error is raised where it happens, as none is meant to."""
        task, number = self.tasks[to], next(self._numbers)
        if task is asker:
            task.calls[number] = done
            self._feed(task, self._machine(task, request), ev.Asked(number, request))
            return
        costs = self.costs

        def arrived() -> None:
            task.calls[number] = answered
            self._feed(task, self._machine(task, request), ev.Asked(number, request))

        def answered(reply: Any) -> None:
            values = reply.values.values() if isinstance(reply, m.GraphRun) else ()
            received = lambda: self.compute(asker, costs.asking / 2, lambda: done(reply))  # noqa: E731
            self._carry(task, asker, size_of(values, self.unit), 0.0, received)

        values = request.sends.values() if isinstance(request, m.RunGraph) else ()
        served = lambda: self.compute(task, costs.answering, arrived)  # noqa: E731
        self._carry(asker, task, size_of(values, self.unit), costs.asking / 2, served)

    def _carry(self, sender: Task, receiver: Task, size: float, fixed: float, then: Callable[[], None]) -> None:
        """A message: its bytes cost both tasks, and the links between their machines."""
        network, bytes_cost = self.network, size * self.costs.carrying
        here, there = sender.place, receiver.place

        def received() -> None:
            self.compute(receiver, bytes_cost, then, in_python=False)

        def sent() -> None:
            if here is there:
                self.clock.after(network.near, received)
            else:
                here.send(self.clock, there, size, network.bandwidth, network.latency, received)

        self.compute(sender, fixed, lambda: self.compute(sender, bytes_cost, sent, in_python=False))

    def _machine(self, task: Task, request: m.Request) -> machines.Machine:
        return task.master if task.master.handles(request) else task.worker

    # --- a task's driver -----------------------------------------------------------------------------------------------

    def _feed(self, task: Task, machine: machines.Machine, event: ev.Event) -> None:
        for command in machine.handle(event):
            self._perform(task, machine, command)

    def _perform(self, task: Task, machine: machines.Machine, command: ev.Command) -> None:
        match command:
            case ev.Respond(call, reply):
                done = task.calls.pop(call, None)
                if done is not None:
                    done(reply)
            case ev.Refuse(_, error):
                raise error
            case ev.Ask(ask=ask, task=to, request=request):
                self.ask(task, to, request, lambda reply: self._feed(task, machine, ev.Answered(ask, reply)))
            case ev.Load(ask=ask):
                names = (f"{task.name}/device:CPU:0",)
                program = GraphProgram(command.graph_def, command.config, task.resources, names)
                self._feed(task, task.worker, ev.Answered(ask, program))
            case ev.Execute():
                self._execute(task, command)
            case _:
                raise RuntimeError(f"{task.name} has no driver for {command}")

    def _execute(self, task: Task, command: ev.Execute) -> None:
        program: GraphProgram = command.program
        stage = task.stages.get(id(program))
        if stage is None:
            stage = task.stages[id(program)] = Stage.of(program._graph._operations, self.costs, self.unit)
        answer = lambda result: self._feed(task, task.worker, ev.Answered(command.ask, result))  # noqa: E731
        run = lambda: program.run(command.fed, StepState(), False)  # noqa: E731

        def begin() -> None:
            if stage.waits:
                self._begin_strand(task, run, stage.after, answer)
            else:
                answer(run())

        pace = self._random.lognormvariate(0.0, self.costs.spread) if stage.compute and self.costs.spread else 1.0
        self.compute(task, stage.before + stage.compute * pace, begin, in_python=False)

    def _begin_strand(self, task: Task, run: Callable[[], Any], after: float, answer: OnReply) -> None:
        """Run what may wait, and compute for so long once it has got what it waits for."""
        results: list[Any] = []
        errors: list[Exception] = []
        owed = [after] if after else []

        def woken() -> None:
            if owed:
                self._compute_in_strand(task, owed.pop())

        def work() -> None:
            try:
                results.append(run())
                woken()  # it was all there
            except Exception as error:
                errors.append(error)

        def end() -> None:
            if errors:
                raise errors[0]
            answer(results[0])

        task.strands.append((Strand(work, woken), end))
        self._wake(task)

    def _compute_in_strand(self, task: Task, seconds: float) -> None:
        over: list[bool] = []

        def end() -> None:
            over.append(True)
            self._wake(task)

        self.compute(task, seconds, end, in_python=False)
        asleep(lambda: bool(over))

    def _wake(self, task: Task) -> None:
        """Let all go on for whom something is there; what they have computed goes on its way afterwards."""
        moved = True
        while moved:
            moved = False
            for strand, _ in task.strands:
                moved |= strand.advance()
        ended = [end for strand, end in task.strands if strand.over]
        task.strands = [(strand, end) for strand, end in task.strands if not strand.over]
        for end in ended:
            self.clock.after(0.0, end)


class Session:
    """A client's, in the process of a task whose master it uses."""

    def __init__(self, cluster: Cluster, task: Task, graph: graph_pb2.GraphDef) -> None:
        self._cluster, self._task = cluster, task
        config = config_pb2.ConfigProto(device_filters=["/job:ps", task.name])
        config.graph_options.enable_bfloat16_sendrecv = cluster.bits == 16
        opened: list[m.SessionCreated] = []
        cluster.ask(task, task.name, m.CreateSession(graph, config), opened.append)
        while not opened:
            cluster.clock.advance()
        self._handle = opened[0].session

    def begin(self, targets: Sequence[str], then: Callable[[], None]) -> None:
        """Run these operations, and go on when they have run."""
        step = m.RunStep(self._handle, (), (), tuple(targets))
        ask = lambda: self._cluster.ask(self._task, self._task.name, step, lambda reply: then())  # noqa: E731
        self._cluster.compute(self._task, self._cluster.costs.step, ask)

    def run(self, targets: Sequence[str]) -> None:
        over: list[bool] = []
        self.begin(targets, lambda: over.append(True))
        while not over:
            self._cluster.clock.advance()
