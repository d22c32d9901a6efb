"""What clusters cost: one parameter server and two workers of each engine, as processes on loopback (`tasks.py`)."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator

from experiments.benchmarks.measuring import OURS, Figure, Options, Worker

_STEPS_A_SECOND = 500  # to make where the workers have to end at the same step, however long it takes
_GIGABYTES = 0.1  # of the variable that is pulled and pushed
_GRPC_ALONE = "tfexp, gRPC alone"

# Row, unit, program, how many workers at once, and the aim as a ratio.
ROWS = (
    ("remote run of feed, multiply, fetch", "µs", "remote_run", 1, 1.0),
    ("regression, 1 ps + 1 worker", "steps/s", "regression", 1, 1.5),
    ("regression, 1 ps + 2 workers, in all", "steps/s", "regression", 2, 1.5),
    ("the same with SyncReplicasOptimizer", "global steps/s", "together", 2, 1.5),
    ("the same in one graph, by one client", "steps/s", "in_graph", 1, 1.5),
    ("100 MB variable, ps to worker", "GB/s", "pull", 1, 1.0),
    ("100 MB variable, worker to ps", "GB/s", "push", 1, 1.0),
)


def figures(options: Options) -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        running: dict[str, Cluster] = {}
        for name, python in options.engines.items():
            running[name] = stack.enter_context(contextlib.closing(Cluster(name, python)))
        running[_GRPC_ALONE] = stack.enter_context(
            contextlib.closing(Cluster(OURS, options.engines[OURS], TFEXP_LANES="off"))
        )
        for name, unit, program, workers, aim in ROWS:
            if not options.wants(name):
                continue
            for cluster in running.values():
                cluster.ask(program, workers, 0)  # built and warm
            rounds = [
                {n: c.ask(program, workers, options.seconds) for n, c in running.items()} for _ in range(options.rounds)
            ]
            yield Figure("cluster", name, unit, rounds, aim, smaller_is_better=unit == "µs")


class Cluster:
    """The processes of one engine."""

    def __init__(self, engine: str, python: str, **variables: str):
        ports = free_ports(3)
        spec = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{port}" for port in ports[1:]]}
        module = "experiments.benchmarks.cluster_speed.tasks"
        self._tasks = [
            Worker(engine, python, module, json.dumps(spec), job, str(index), **variables)
            for job, index in (("ps", 0), ("worker", 0), ("worker", 1))
        ]
        for task in self._tasks:
            task.begin()
        for task in self._tasks:
            task.answer()
        self._until = 0

    def ask(self, program: str, workers: int, seconds: float) -> float:
        """What the row shows, in its unit."""
        tasks = self._tasks[1 : 1 + workers]
        request = {"program": program, "seconds": seconds}
        if program == "together":
            self._until += 50 + int(seconds * _STEPS_A_SECOND)
            request["until"] = self._until
        for task in tasks:
            task.begin(**request)
        answers = [task.answer() for task in tasks]
        if not seconds:
            return 0.0
        if program == "remote_run":
            return float(answers[0]["median"]) * 1e6
        if program in ("together", "in_graph"):
            return float(answers[0]["rate"])
        if program == "regression":
            return sum(float(answer["rate"]) for answer in answers)
        return _GIGABYTES / float(answers[0]["median"])

    def close(self) -> None:
        for task in self._tasks:
            task.close()


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
