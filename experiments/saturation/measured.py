"""What a cluster of this machine reaches, and what its work costs: one process for each task, on loopback."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from experiments.benchmarks.cluster_speed.cluster_speed import free_ports
from experiments.benchmarks.measuring import OURS, Worker
from experiments.saturation.costs import Costs, Network
from experiments.saturation.training import Model, Rule

__all__ = ["Measured", "Processes", "costs_of", "processes"]

_REQUESTS = 2
"""That a worker makes of each server in an asynchronous step: for the variables, and with the gradients."""
_NEXT_TO_NOTHING = Model(4, 1, 1, 1)


@dataclass(frozen=True)
class Measured:
    """`gradients` a second that had a part in a step; for each of them the seconds of a core that the servers, and that the
    workers had; and the seconds that it took a worker.
    """

    gradients: float
    servers: float
    workers: float


class Processes:
    """Tasks that serve, and train what they are told."""

    def __init__(self, servers: int, workers: int, python: str) -> None:
        ports = iter(free_ports(servers + workers))
        jobs = {"ps": servers, "worker": workers}
        spec = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
        self._names = itertools.count()
        # One thread each for BLAS: what is to be seen is how tasks share the cores.
        self._tasks = {
            job: [
                Worker(OURS, python, "experiments.saturation.tasks", json.dumps(spec), job, str(i), OPENBLAS_NUM_THREADS="1")
                for i in range(count)
            ]
            for job, count in jobs.items()
        }
        self.ask_all([*self._tasks["ps"], *self._tasks["worker"]], what="up")

    def ask_all(self, tasks: list[Worker], **request: Any) -> list[Any]:
        for task in tasks:
            task.begin(**request)
        return [task.answer() for task in tasks]

    def measure(self, model: Model, rule: Rule, servers: int, workers: int, seconds: float, rounds: int) -> Measured:
        """The round in which most was reached: what else runs on the machine only ever takes from it."""
        crew = self._tasks["worker"][:workers]
        described = {"model": dataclasses.asdict(model), "rule": dataclasses.asdict(rule)}
        request = {"what": "build", **described, "servers": servers, "workers": workers, "name": f"run-{next(self._names)}"}
        crew[0].ask(**request)  # the chief comes first
        self.ask_all(crew[1:], **request)
        self._train(crew, rule, seconds / 4)  # warm
        found = [self._train(crew, rule, seconds) for _ in range(rounds)]
        self.ask_all(crew, what="end")
        return max(found, key=lambda one: one.gradients)

    def _train(self, crew: list[Worker], rule: Rule, seconds: float) -> Measured:
        before = self._computed()
        if rule.update == "async":
            answers = self.ask_all(crew, what="train", seconds=seconds)
            gradients = sum(answer["steps"] for answer in answers)
            rate = sum(answer["steps"] / answer["seconds"] for answer in answers)
        else:
            steps = self._steps_in(crew, seconds)
            answers = self.ask_all(crew, what="train_together", steps=steps)
            gradients = steps * rule.needed(len(crew))
            rate = gradients / max(answer["seconds"] for answer in answers)
        by_workers = sum(answer["computed"] for answer in answers)
        return Measured(rate, (self._computed() - before) / gradients, by_workers / gradients)

    def _steps_in(self, crew: list[Worker], seconds: float) -> int:
        """Synchronous steps that take about so long."""
        few = 3
        answers = self.ask_all(crew, what="train_together", steps=few)
        return max(few, int(seconds / max(answer["seconds"] for answer in answers) * few))

    def _computed(self) -> float:
        return float(sum(answer["computed"] for answer in self.ask_all(self._tasks["ps"], what="computed")))

    def alone(self, **request: Any) -> dict[str, float]:
        """What a worker's process measures by itself."""
        found: dict[str, float] = self._tasks["worker"][0].ask(**request)
        return found

    def close(self) -> None:
        for task in [*self._tasks["worker"], *self._tasks["ps"]]:
            task.close()


@contextlib.contextmanager
def processes(servers: int, workers: int, python: str) -> Iterator[Processes]:
    running = Processes(servers, workers, python)
    try:
        yield running
    finally:
        running.close()


def costs_of(running: Processes, model: Model, seconds: float, rounds: int) -> tuple[Costs, Network]:
    """Of a model on the machine's own network: from runs of one worker, and of its work alone."""
    small = running.measure(_NEXT_TO_NOTHING, Rule(), 1, 1, seconds, rounds)
    apart = running.measure(_NEXT_TO_NOTHING, Rule(), 2, 1, seconds, rounds)
    large = running.measure(model, Rule(), 1, 1, seconds, rounds)
    compute = running.alone(what="compute", model=dataclasses.asdict(model), seconds=seconds)["cost"]
    work = running.alone(what="work_on_bytes", floats=max(1, model.travelling // 4 // model.pieces), seconds=seconds)
    asking = max(0.0, (apart.workers - small.workers) / _REQUESTS)
    moved = 2 * model.travelling  # there and back
    by_worker = (large.workers - small.workers - compute) / moved
    by_server = (large.servers - small.servers - work["applying"] * model.travelling) / moved
    costs = Costs(
        step=small.workers - _REQUESTS * asking,
        compute=compute,
        asking=asking,
        answering=small.servers / _REQUESTS,
        carrying=max(0.0, (by_worker + by_server) / 2),
        **work,
    )
    waited = 1 / small.gradients - small.workers - small.servers
    return costs, Network(near=max(0.0, waited / (2 * _REQUESTS)))
