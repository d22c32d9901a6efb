"""Measure clusters of tfexp and of TensorFlow side by side: `python experiments/benchmarks/cluster_speed/cluster_speed.py`.

Each engine has one parameter server and two workers as processes on loopback (`tasks.py`). The engines are measured in
turn, round by round, and never at the same time; a figure is the median over the rounds, a ratio the median of the
rounds' ratios. The processes are this one's children and end with it: they stop when their input does.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
_PINNED = ("OPENBLAS_", "OMP_", "MKL_", "GOTO_")
_STEPS_A_SECOND = 500  # to make where the workers have to end at the same step, however long it takes
_GIGABYTES = 0.1  # of the variable that is pulled and pushed

# Row, program, how many workers at once, what of the answer is shown and in which unit (bigger is better: steps per second,
# GB/s; smaller: µs), and the aim as a ratio.
ROWS = (
    ("remote run of feed, multiply, fetch; µs", "remote_run", 1, 1.0),
    ("regression, 1 ps + 1 worker; steps/s", "regression", 1, 1.5),
    ("regression, 1 ps + 2 workers; steps/s in all", "regression", 2, 1.5),
    ("the same with SyncReplicasOptimizer; global steps/s", "together", 2, 1.5),
    ("the same in one graph, by one client; steps/s", "in_graph", 1, 1.5),
    ("100 MB variable, ps to worker; GB/s", "pull", 1, 1.0),
    ("100 MB variable, worker to ps; GB/s", "push", 1, 1.0),
)


class Cluster:
    """The processes of one engine, asked and answering line by line."""

    def __init__(self, engine: str, python: str, settings: dict[str, str]):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(_PINNED)}
        environment |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}", "TF_CPP_MIN_LOG_LEVEL": "3", **settings}
        ports = free_ports(3)
        spec = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{port}" for port in ports[1:]]}
        self._tasks = [
            subprocess.Popen(
                [python, str(HERE / "tasks.py"), engine, json.dumps(spec), job, str(index)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if engine == "tfexp" else subprocess.DEVNULL,
                text=True,
                env=environment,
            )
            for job, index in (("ps", 0), ("worker", 0), ("worker", 1))
        ]
        for task in self._tasks:
            self._answer(task)
        self._until = 0

    def _answer(self, task: Any) -> dict[str, Any]:
        line = task.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(task.args)} ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, program: str, workers: int, seconds: float) -> float:
        """What the row shows: µs, steps per second, or GB/s."""
        tasks = self._tasks[1 : 1 + workers]
        request = {"program": program, "seconds": seconds}
        if program == "together":
            self._until += 50 + int(seconds * _STEPS_A_SECOND)
            request["until"] = self._until
        for task in tasks:
            print(json.dumps(request), file=task.stdin, flush=True)
        answers = [self._answer(task) for task in tasks]
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
            with contextlib.suppress(BrokenPipeError):
                task.stdin.close()  # type: ignore[union-attr]
        for task in self._tasks:
            try:
                task.wait(10)
            except subprocess.TimeoutExpired:
                task.kill()
                task.wait()


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def has_tensorflow(python: str) -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorflow') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


@contextlib.contextmanager
def clusters(wanted: dict[str, tuple[str, str, dict[str, str]]]) -> Iterator[dict[str, Cluster]]:
    running: dict[str, Cluster] = {}
    try:
        for name, (engine, python, settings) in wanted.items():
            running[name] = Cluster(engine, python, settings)
        yield running
    finally:
        for cluster in running.values():
            cluster.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="per row, engine and round")
    parser.add_argument("--only", default="", help="part of the names of the rows to measure")
    parser.add_argument(
        "--tensorflow-python", default=sys.executable, help="the interpreter that has tensorflow-cpu, if not this one"
    )
    arguments = parser.parse_args()
    wanted: dict[str, tuple[str, str, dict[str, str]]] = {
        "tfexp": ("tfexp", sys.executable, {}),
        "gRPC alone": ("tfexp", sys.executable, {"TFEXP_LANES": "off"}),
    }
    if has_tensorflow(arguments.tensorflow_python):
        wanted["TensorFlow"] = ("tensorflow", arguments.tensorflow_python, {})
    with clusters(wanted) as running:
        print("| | tfexp | tfexp, gRPC alone | TensorFlow | ratio (spread) | aim |\n|---|---|---|---|---|---|")
        for name, program, workers, aim in ROWS:
            if arguments.only not in name:
                continue
            for cluster in running.values():
                cluster.ask(program, workers, 0)  # built and warm
            rounds = [
                {n: c.ask(program, workers, arguments.seconds) for n, c in running.items()} for _ in range(arguments.rounds)
            ]
            print(row(name, rounds, program == "remote_run", aim), flush=True)


def row(name: str, rounds: list[dict[str, float]], smaller_is_better: bool, aim: float) -> str:
    middle = {engine: statistics.median(r[engine] for r in rounds) for engine in rounds[0]}
    digits = 2 if "GB" in name else 0
    cells = [f"{middle[e]:,.{digits}f}" if e in middle else "-" for e in ("tfexp", "gRPC alone", "TensorFlow")]
    ratio = "-"
    if "TensorFlow" in middle:
        # Ratios within a round, so that a slow moment of the machine counts for both.
        ratios = sorted((r["tfexp"] / r["TensorFlow"]) ** (-1 if smaller_is_better else 1) for r in rounds)
        ratio = f"{statistics.median(ratios):.1f}x ({ratios[0]:.1f}-{ratios[-1]:.1f})"
    return f"| {name} | {' | '.join(cells)} | {ratio} | {aim:g}x |"


if __name__ == "__main__":
    main()
