"""A training with so many workers and servers, simulated: what it reaches, and what it uses of the cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto import graph_pb2

import tfexp as tf
from experiments.saturation.costs import Costs, Network
from experiments.saturation.simulated import Cluster, Session
from experiments.saturation.strands import handing_over
from experiments.saturation.training import Model, Rule, Training
from experiments.saturation.virtual import Clock, Cores, Machine

__all__ = ["Layout", "Reached", "Scaled", "apart", "grouped", "on_one", "scaled"]

Layout = Callable[[Clock, list[str], list[str]], dict[str, Machine]]
"""(clock, servers, workers) -> the machine of each."""

_WARM_ROUNDS, _ROUNDS = 2, 5
_LEAST = 60
"""Gradients that are measured at least: few workers make as many rounds as that takes."""


def apart(cores: int) -> Layout:
    """Each task on a machine of its own."""
    return lambda clock, servers, workers: {name: Machine(Cores(clock, cores)) for name in (*servers, *workers)}


def on_one(cores: int) -> Layout:
    """All on one machine."""

    def lay(clock: Clock, servers: list[str], workers: list[str]) -> dict[str, Machine]:
        return dict.fromkeys((*servers, *workers), Machine(Cores(clock, cores)))

    return lay


def grouped(machines: int, cores: int) -> Layout:
    """Servers and workers in turn over so many machines."""

    def lay(clock: Clock, servers: list[str], workers: list[str]) -> dict[str, Machine]:
        there = [Machine(Cores(clock, cores)) for _ in range(machines)]
        return {name: there[i % machines] for names in (servers, workers) for i, name in enumerate(names)}

    return lay


@dataclass(frozen=True)
class Reached:
    """`gradients` a second that had a part in a step. The rest is of 1: of the machines of the parameter servers the one
    that is busiest, `out` and `into` being its links; `cores`: of the workers in the mean, of all the cores they may use.
    """

    gradients: float
    server: float
    out: float
    into: float
    cores: float

    @property
    def saturated(self) -> float:
        """How busy the busiest part of a parameter server is."""
        return max(self.server, self.out, self.into)


class Scaled:
    """A simulated training, warm. Measuring goes on from where it is."""

    def __init__(self, model: Model, rule: Rule, servers: int, workers: int, layout: Layout, bits: int = 32) -> None:
        self._rule, self._count = rule, workers
        self._servers = [f"/job:ps/replica:0/task:{i}" for i in range(servers)]
        self._workers = [f"/job:worker/replica:0/task:{i}" for i in range(workers)]
        self._clock = Clock()
        places = layout(self._clock, self._servers, self._workers)
        unit = model.travelling // (4 * model.pieces)
        self.cluster = Cluster(self._clock, places, Costs(), Network(), unit, bits)
        self._made = [0] * workers
        self._updates = 0
        with tf.Graph().as_default() as graph:
            self._training = Training(model.miniature(), rule, servers, workers, 0)
        self._graph = graph.as_graph_def()
        # What only the chief runs is a good part of the graph, and is not given to the others.
        self._small = tf.graph_util.extract_sub_graph(self._graph, _names([self._training.train, *self._training.join]))
        self._begin()

    def _begin(self) -> None:
        training, tasks = self._training, self.cluster.tasks
        graphs = [_for(self._small if i else self._graph, i) for i in range(self._count)]
        sessions = [Session(self.cluster, tasks[name], graph) for name, graph in zip(self._workers, graphs, strict=True)]
        sessions[0].run(_names(training.initialize))
        for target in training.tokens:
            sessions[0].run(_names([target]))
        for session in sessions[1:]:
            if training.join:
                session.run(_names(training.join))
        if training.update is not None:
            self._again(sessions[0], _names([training.update]), self._updated)
        for number, session in enumerate(sessions):
            self._again(session, _names([training.train]), lambda number=number: self._step(number))  # type: ignore[misc]

    def _again(self, session: Session, targets: list[str], made: Callable[[], None]) -> None:
        def ended() -> None:
            made()
            session.begin(targets, ended)

        session.begin(targets, ended)

    def _updated(self) -> None:
        self._updates += 1

    def _step(self, number: int) -> None:
        self._made[number] += 1

    @property
    def _gradients(self) -> int:
        """That had a part in a step until now."""
        return sum(self._made) if self._rule.update == "async" else self._updates * self._rule.needed(self._count)

    def measure(self, costs: Costs, network: Network) -> Reached:
        """What is reached when everything costs that."""
        self.cluster.recost(costs, network)
        # A step that was under way had other costs, and those who were in step need not be any more.
        self._until(self._gradients + _WARM_ROUNDS * self._count)
        first, began, before = self._gradients, self._clock.now, self._used()
        self._until(first + self._count * max(_ROUNDS, -(-_LEAST // self._count)))
        seconds = self._clock.now - began
        used = [
            [(now - then) / seconds for now, then in zip(*pair, strict=True)]
            for pair in zip(self._used(), before, strict=True)
        ]
        servers, workers = used[: len(self._servers)], used[len(self._servers) :]
        cores, out, into = (max(one[part] for one in servers) for part in range(3))
        return Reached((self._gradients - first) / seconds, cores, out, into, sum(one[0] for one in workers) / len(workers))

    def _until(self, gradients: int) -> None:
        while self._gradients < gradients:
            self._clock.advance()

    def _used(self) -> list[tuple[float, float, float]]:
        """Of each task's machine: seconds of a core, and of its links."""
        places = [self.cluster.tasks[name].place for name in (*self._servers, *self._workers)]
        return [(place.cores.busy / place.cores.count, place.out.busy, place.into.busy) for place in places]


@contextlib.contextmanager
def scaled(model: Model, rule: Rule, servers: int, workers: int, layout: Layout, bits: int = 32) -> Iterator[Scaled]:
    """A simulated training; what of it still waits ends with the block."""
    with handing_over():
        training = Scaled(model, rule, servers, workers, layout, bits)
        try:
            yield training
        finally:
            training.cluster.close()


def _for(graph: graph_pb2.GraphDef, index: int) -> graph_pb2.GraphDef:
    """The graph of the worker of that number, made of the first one's."""
    own = graph_pb2.GraphDef()
    own.CopyFrom(graph)
    for node in own.node:
        node.device = node.device.replace("/job:worker/task:0", f"/job:worker/task:{index}")
    return own


def _names(elements: list[Any]) -> list[str]:
    return [element.op.name if isinstance(element, tf.Tensor) else element.name for element in elements]
