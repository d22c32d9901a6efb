"""What a cluster of this machine reaches, and what its work costs: one process for each task, on loopback."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.benchmarks.cluster_speed.cluster_speed import free_ports
from experiments.benchmarks.measuring import OURS, Worker
from experiments.saturation.costs import Costs, Network
from experiments.saturation.training import Model, Rule
from experiments.saturation.virtual import PACKET

__all__ = ["Measured", "Processes", "costs_of", "processes"]

_REQUESTS = 2
"""That a worker makes of each server in an asynchronous step: for the variables, and with the gradients."""
_NEXT_TO_NOTHING = Model(4, 1, 1, 1)


@dataclass(frozen=True)
class Measured:
    """`gradients` a second that had a part in a step; for each of them the seconds of a core that the servers, and that the
    workers had; and the cores that were `left` to all of them by what else ran on the machine.
    """

    gradients: float
    servers: float
    workers: float
    left: float


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
        """Of some rounds the most that was reached, and the least that it cost: what else runs here only ever adds to it."""
        crew = self._tasks["worker"][:workers]
        described = {"model": dataclasses.asdict(model), "rule": dataclasses.asdict(rule)}
        request = {"what": "build", **described, "servers": servers, "workers": workers, "name": f"run-{next(self._names)}"}
        crew[0].ask(**request)  # the chief comes first
        self.ask_all(crew[1:], **request)
        self._train(crew, rule, seconds / 4)  # warm
        found = [self._train(crew, rule, seconds) for _ in range(rounds)]
        self.ask_all(crew, what="end")
        best = max(found, key=lambda one: one.gradients)
        least = {part: min(getattr(one, part) for one in found) for part in ("servers", "workers")}
        return dataclasses.replace(best, **least)

    def _train(self, crew: list[Worker], rule: Rule, seconds: float) -> Measured:
        steps = self._steps_in(crew, seconds) if rule.update == "sync" else 0
        before, busy, began = self._computed(), _busy(), time.perf_counter()
        if rule.update == "async":
            answers = self.ask_all(crew, what="train", seconds=seconds)
            gradients = sum(answer["steps"] for answer in answers)
            rate = sum(answer["steps"] / answer["seconds"] for answer in answers)
        else:
            answers = self.ask_all(crew, what="train_together", steps=steps)
            gradients = steps * rule.needed(len(crew))
            rate = gradients / max(answer["seconds"] for answer in answers)
        by_servers, by_workers = self._computed() - before, sum(answer["computed"] for answer in answers)
        others = max(0.0, _busy() - busy - by_servers - by_workers) / (time.perf_counter() - began)
        left = len(os.sched_getaffinity(0)) - others
        return Measured(rate, by_servers / gradients, by_workers / gradients, left)

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


def _busy() -> float:
    """Seconds that the cores of this machine were busy with anything (Linux)."""
    user, nice, system, _, _, *interrupts = map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def processes(servers: int, workers: int, python: str) -> Iterator[Processes]:
    running = Processes(servers, workers, python)
    try:
        yield running
    finally:
        running.close()


def costs_of(running: Processes, model: Model, rule: Rule, seconds: float, rounds: int) -> tuple[Costs, Network]:
    """Of a model on the machine's own network, as one worker trains it: the rule counts, as what waits costs more."""
    small = running.measure(_NEXT_TO_NOTHING, rule, 1, 1, seconds, rounds)
    large = running.measure(model, rule, 1, 1, seconds, rounds)
    lone, two = (running.measure(_NEXT_TO_NOTHING, Rule(), servers, 1, seconds, rounds) for servers in (1, 2))
    compute = running.alone(what="compute", model=dataclasses.asdict(model), seconds=seconds)["cost"]
    # In a synchronous step the chief, who is the only one here, makes another request: for the update.
    updates = int(rule.update == "sync")
    asking = max(0.0, (two.workers - lone.workers) / _REQUESTS)
    requests = _REQUESTS + updates
    carrying, work = 0.0, {}
    if model.travelling > PACKET:  # else no byte can be told from the request
        work = running.alone(what="work_on_bytes", floats=model.travelling // 4 // model.pieces, seconds=seconds)
        carrying = max(0.0, (large.workers - small.workers - compute) / (2 * model.travelling))  # there and back
        by_server = (large.servers - small.servers) / model.travelling - 2 * carrying
        if updates:
            work["averaging"] = max(0.0, by_server - work["applying"] - work["gathering"])
        else:
            work["applying"] = max(0.0, by_server)
    costs = Costs(
        step=max(0.0, small.workers - requests * asking) / (1 + updates),
        compute=compute,
        asking=asking,
        answering=small.servers / requests,
        carrying=carrying,
        **work,
    )
    waited = 1 / small.gradients - small.workers - small.servers
    return costs, Network(near=max(0.0, waited / (2 * requests)))
