"""Asynchronous training in a simulated cluster (`world`): two workers, two parameter servers, and what must hold of it.

Every step has a number of its own, and adds one to that number's place in a variable on each parameter server, where its
gradient would go; so what was applied, and how often, can be read off. The workers go on after faults as
`tfexp.experiment.recovering` does: in a new session, the chief restoring the newest checkpoint where values were lost.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from tensorboard.compat.proto import config_pb2

import tfexp as tf
from tests.chaos.world import PS, WORKERS, Faults, Host, World
from tfexp.core import errors
from tfexp.core.errors import OpError
from tfexp.distributed import events as ev
from tfexp.distributed import messages as m
from tfexp.experiment.recovering import lost

__all__ = ["Outcome", "Violation", "simulate"]

STEPS = 2048
_FAULTY_EVENTS = 1500
_MORE_STEPS = 5
_PATIENCE = 20000
VARIABLES = ("step", "first", "second")


class Violation(AssertionError):  # noqa: N818 -- what happened
    """Something happened that must not, whatever the faults."""


@dataclass(frozen=True)
class Outcome:
    """What a simulation came to: the steps that were made, what went wrong on the way, and how workers' calls ended."""

    steps: int
    restored: int
    happened: Counter[str]
    ended: Counter[str]


def graph_of(worker: str) -> Any:
    with tf.Graph().as_default() as graph:
        number = tf.placeholder(tf.int32, [], name="number")
        saved = [tf.placeholder(tf.int32, [STEPS] if name != "step" else [], name=f"saved_{name}") for name in VARIABLES]
        with tf.device("/job:ps/task:0"):
            step = tf.Variable(0, name="step")
            first = tf.Variable(np.zeros(STEPS, np.int32), name="first")
        with tf.device("/job:ps/task:1"):
            second = tf.Variable(np.zeros(STEPS, np.int32), name="second")
        variables = step, first, second
        for variable, value in zip(variables, saved, strict=True):
            with tf.device(variable.device):
                tf.identity(tf.is_variable_initialized(variable), name=f"has_{variable.op.name}")
                tf.assign(variable, value, name=f"restore_{variable.op.name}")
                tf.identity(variable, name=f"value_{variable.op.name}")
        with tf.device(worker):
            # As a gradient it is made of what both servers have.
            gradient = tf.reshape(1 + 0 * (tf.gather(first, 0) + tf.gather(second, 0)), [1], name="gradient")
            place = tf.reshape(number, [1], name="place")
        with tf.device(first.device):
            one = tf.scatter_add(first, place, gradient, name="apply_first")
        with tf.device(second.device):
            other = tf.scatter_add(second, place, gradient, name="apply_second")
        with tf.control_dependencies([one.op, other.op]), tf.device(step.device):
            tf.assign_add(step, 1, name="train")
    return graph.as_graph_def()


class _Client:
    """A worker's program: it has one request under way at a time, and goes on from its answer."""

    def __init__(self, training: _Training, host: Host):
        self.training, self.world, self.host = training, training.world, host
        self.chief = host.name == WORKERS[0]
        self.session = ""
        self.made = 0
        self.open()

    def ask(self, request: m.Request, then: Any, to: str | None = None) -> None:
        def done(reply: Any, error: OpError | None) -> None:
            self.training.ended[type(error).__name__ if error else "ok"] += 1
            if error is None:
                then(reply)
            elif isinstance(error, errors.CancelledError) or lost(error):
                self.open()
            else:
                raise Violation(f"{self.host.name}: {type(request).__name__} ended with {error!r}")

        self.world.ask(self.host, to or self.host.name, request, done, wait=False)

    def run(self, fetches: tuple[str, ...], then: Any, feeds: dict[str, Any] | None = None) -> None:
        given = tuple((name, value) for name, value in (feeds or {}).items())
        self.ask(m.RunStep(self.session, given, fetches, ()), lambda reply: then(reply.values))

    def open(self) -> None:
        if self.session:
            close = m.CloseSession(self.session)
            self.world.ask(self.host, self.host.name, close, lambda reply, error: None, wait=False)
        config = config_pb2.ConfigProto(device_filters=["/job:ps", self.host.name])

        def opened(reply: m.SessionCreated) -> None:
            self.session = reply.session
            self.look()

        self.ask(m.CreateSession(self.training.graphs[self.host.name], config), opened)

    def look(self) -> None:
        self.run(tuple(f"has_{name}:0" for name in VARIABLES), self.found)

    def found(self, there: tuple[Any, ...]) -> None:
        if all(there):
            self.train()
        elif not self.chief:
            self.look()
        elif any(there):
            reset = m.Reset((), ("/job:ps",))
            self.ask(reset, lambda _: self.restore(), to=PS[0])
        else:
            self.restore()

    def restore(self) -> None:
        saved = self.training.saved
        feeds = {f"saved_{name}:0": value for name, value in zip(VARIABLES, saved, strict=True)}

        self.run(tuple(f"restore_{name}:0" for name in VARIABLES), lambda _: self.train(), feeds)

    def train(self) -> None:
        if self.training.over:
            return
        if self.made % 7 == 6 and self.chief:
            self.made += 1
            self.run(tuple(f"value_{name}:0" for name in VARIABLES), self.save)
            return
        number, epoch = self.training.next_number(), self.training.restored

        def trained(values: tuple[Any, ...]) -> None:
            self.trained(number, int(values[0]), epoch)

        self.run(("train:0",), trained, {"number:0": np.int32(number)})

    def trained(self, number: int, step: int, epoch: int) -> None:
        self.made += 1
        if epoch == self.training.restored:  # else the step may have been made before the loss
            self.training.acknowledged.append((number, step, epoch))
        self.train()

    def save(self, values: tuple[Any, ...]) -> None:
        self.training.saved = tuple(np.array(value) for value in values)
        self.training.check_once(self.training.saved[1], self.training.saved[2])
        self.train()


class _Training:
    def __init__(self, seed: int, faults: Faults):
        self.world = World(seed, faults)
        self.world.on_execute = self.check_execution
        self.world.on_start = self.started
        self.graphs = {name: graph_of(name) for name in WORKERS}
        self.saved: tuple[Any, ...] = (np.int32(0), np.zeros(STEPS, np.int32), np.zeros(STEPS, np.int32))
        self.restored = 0
        self.restored_with: dict[str, int] = {}
        self.numbers = 0
        self.acknowledged: list[tuple[int, int, int]] = []
        self.ended: Counter[str] = Counter()
        self.over = False
        self.clients = {name: _Client(self, self.world.hosts[name]) for name in WORKERS}

    def started(self, host: Host) -> None:
        if host.name in WORKERS:
            self.clients[host.name] = _Client(self, host)

    def next_number(self) -> int:
        self.numbers += 1
        return self.numbers - 1

    # --- what must hold ---------------------------------------------------------------------------------------------

    def check_execution(self, host: Host, command: ev.Execute) -> None:
        """No session of before a loss changes what was restored after it."""
        names = [op.name for op in command.program._graph._operations]
        known = host.worker._sessions[command.run.session].incarnations
        if any(name.startswith("restore_") for name in names):
            self.restored += 1
            self.restored_with = dict(known)
        if host.name in PS and any(name.startswith("apply_") for name in names):
            old = [name for name in PS if known[_cpu(name)] < self.restored_with.get(_cpu(name), 0)]
            if old:
                raise Violation(f"{host.name} applies a gradient of a session that knows a former {old}")

    def check_once(self, *marks: Any) -> None:
        twice = {int(number) for mark in marks for number in np.flatnonzero(mark > 1)}
        if twice:
            raise Violation(f"the gradients of the steps {sorted(twice)} were applied more than once")

    def check(self, values: tuple[Any, ...]) -> None:
        step, first, second = values
        self.check_once(first, second)
        now = [(number, at) for number, at, epoch in self.acknowledged if epoch == self.restored]
        missing = [number for number, _ in now if not (first[number] and second[number])]
        if missing:
            raise Violation(f"the steps {missing} were acknowledged, and their gradients are not there")
        steps = [at for _, at in now]
        if len(set(steps)) != len(steps):
            raise Violation("two steps brought the global step to the same number")
        if not int(self.saved[0]) <= int(step) <= self.numbers:
            raise Violation(f"the global step is {int(step)} after {self.numbers} steps")
        if int(step) > int(min(first.sum(), second.sum())):
            raise Violation(f"the global step is {int(step)}, and {first.sum()} and {second.sum()} gradients were applied")


def _cpu(task: str) -> str:
    return f"{task}/device:CPU:0"


def _settle(world: World) -> None:
    while world.letters:
        world.happen()


def simulate(seed: int, faults: Faults | None = None) -> Outcome:
    """Train under faults, then without; raises Violation, also when the workers do not come to train again."""
    training = _Training(seed, faults or Faults())
    world = training.world
    for _ in range(_FAULTY_EVENTS):
        world.happen()
    world.heal()
    before = {name: training.clients[name].made for name in WORKERS}
    for _ in range(_PATIENCE):
        if all(training.clients[name].made >= before[name] + _MORE_STEPS for name in WORKERS):
            break
        world.happen()
    else:
        raise Violation(f"the workers do not train any more: {before}")
    training.over = True
    _settle(world)
    final: list[Any] = []
    chief = training.clients[WORKERS[0]]
    world.ask(
        chief.host,
        chief.host.name,
        m.RunStep(chief.session, (), tuple(f"value_{name}:0" for name in VARIABLES), ()),
        lambda reply, error: final.append((reply, error)),
        wait=False,
    )
    _settle(world)
    reply, error = final[0]
    if error is not None:
        raise Violation(f"the values cannot be read at the end: {error}")
    training.check(tuple(np.asarray(value) for value in reply.values))
    return Outcome(len(training.acknowledged), training.restored, world.happened, training.ended)
