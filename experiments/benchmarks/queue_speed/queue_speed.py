"""Measure queues of tfexp and TensorFlow: `python experiments/benchmarks/queue_speed/queue_speed.py`.

Two programs, the same for both engines: a session that enqueues and dequeues a small tensor, in two runs and in one; and a
queue at a server that one client fills while another empties it, each of the three in a process of its own. The engines
take turns, round by round, and never run at the same time. Figures are medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
_STRETCHES = 10
_PINNED = ("OPENBLAS_", "OMP_", "MKL_", "GOTO_")

# name -> the ratio that is aimed at
AIMS = {
    "enqueue, then dequeue": 3.0,
    "enqueue and dequeue in one run": 3.0,
    "shared queue, two clients": 1.0,
}


# --- a worker: one role of one engine ------------------------------------------------------------------------------


def load(engine: str) -> Any:
    if engine == "tfexp":
        import tfexp

        return tfexp
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


def local(tf: Any, program: str) -> Callable[[], Any]:
    """One step: a pair of an enqueue and a dequeue in a session of its own."""
    import numpy as np

    queue = tf.FIFOQueue(10, [tf.float32], [[2]])
    fed = tf.placeholder(tf.float32, [2])
    give, take = queue.enqueue(fed), queue.dequeue()
    session, feeds = tf.Session(), {fed: np.float32([1, 2])}
    if program == "enqueue and dequeue in one run":
        both = [give, take]
        return lambda: session.run(both, feeds)

    def pair() -> None:
        session.run(give, feeds)
        session.run(take)

    return pair


def client(tf: Any, role: str, target: str) -> Callable[[], Any]:
    """One step: one element in, or one out, at the server."""
    import numpy as np

    queue = tf.FIFOQueue(100, [tf.float32], [[2]], shared_name="shared")
    fed = tf.placeholder(tf.float32, [2])
    give, take = queue.enqueue(fed), queue.dequeue()
    session, feeds = tf.Session(target), {fed: np.float32([1, 2])}
    session.run(queue.size())
    return (lambda: session.run(give, feeds)) if role == "giver" else (lambda: session.run(take))


def work(engine: str) -> None:
    """Answer requests on stdin, one a line, with one line each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever an engine prints is not an answer
    tf = load(engine)
    steps: dict[str, Callable[[], Any]] = {}
    kept: list[Any] = []
    for line in sys.stdin:
        request = json.loads(line)
        answer: Any = 0
        if request["do"] == "serve":
            kept.append(tf.train.Server({"local": [f"localhost:{request['port']}"]}, "local", 0))
        elif request["do"] == "build":
            with tf.Graph().as_default():
                role = request["program"]
                steps[role] = client(tf, role, request["target"]) if "target" in request else local(tf, role)
        elif request["do"] == "measure":
            answer = measure(steps[request["program"]], request["seconds"])
        else:
            step = steps[request["program"]]
            began = time.perf_counter()
            for _ in range(request["times"]):
                step()
            answer = time.perf_counter() - began
        print(json.dumps(answer), file=answers, flush=True)


def measure(step: Callable[[], Any], seconds: float) -> float:
    """µs per call: the fastest of ten stretches, which together take about that many seconds."""
    for _ in range(20):
        step()
    began = time.perf_counter()
    step()
    count = max(3, int(seconds / _STRETCHES / max(time.perf_counter() - began, 1e-6)))
    stretches = []
    for _ in range(_STRETCHES):
        began = time.perf_counter()
        for _ in range(count):
            step()
        stretches.append((time.perf_counter() - began) / count * 1e6)
    return min(stretches)


# --- the table -----------------------------------------------------------------------------------------------------


class Worker:
    def __init__(self, engine: str, python: str):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(_PINNED)}
        environment |= {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
        self._process = subprocess.Popen(
            [python, __file__, "--worker", engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if engine != "tfexp" else None,
            text=True,
            env=environment,
        )

    def ask(self, **request: Any) -> Any:
        self.begin(**request)
        return self.answer()

    def begin(self, **request: Any) -> None:
        assert self._process.stdin is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._process.args[-1]} gave up")
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()  # TensorFlow's servers do not end


class Engine:
    """The processes of one engine."""

    def __init__(self, name: str, python: str):
        self._workers = {role: Worker(name, python) for role in ("local", "server", "giver", "taker")}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._workers["server"].ask(do="serve", port=port)
        for role in ("giver", "taker"):
            self._workers[role].ask(do="build", program=role, target=f"grpc://localhost:{port}")
        for program in AIMS:
            if program != "shared queue, two clients":
                self._workers["local"].ask(do="build", program=program)

    def microseconds(self, program: str, seconds: float) -> float:
        """Per element: in and out."""
        if program != "shared queue, two clients":
            return float(self._workers["local"].ask(do="measure", program=program, seconds=seconds))
        giver, taker = self._workers["giver"], self._workers["taker"]
        times = 200
        while True:
            for role, worker in (("giver", giver), ("taker", taker)):
                worker.begin(do="repeat", program=role, times=times)
            took = max(float(giver.answer()), float(taker.answer()))
            if took > seconds / 2:
                return took / times * 1e6
            times *= 2

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()


def has_tensorflow(python: str) -> bool:
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorflow') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="per program, engine and round")
    parser.add_argument(
        "--tensorflow-python", default=sys.executable, help="the interpreter that has tensorflow-cpu, if not this one"
    )
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return
    engines = {"tfexp": Engine("tfexp", sys.executable)}
    if has_tensorflow(arguments.tensorflow_python):
        engines["tensorflow"] = Engine("tensorflow", arguments.tensorflow_python)
    print("| program | tfexp, µs | TensorFlow, µs | ratio | aim |\n|---|---|---|---|---|")
    for program, aim in AIMS.items():
        rounds = [
            {name: engine.microseconds(program, arguments.seconds) for name, engine in engines.items()}
            for _ in range(arguments.rounds)
        ]
        times = {name: statistics.median(r[name] for r in rounds) for name in engines}
        # Ratios within a round, so that a slow moment of the machine counts for both.
        ratio = statistics.median(r["tensorflow"] / r["tfexp"] for r in rounds) if "tensorflow" in engines else None
        shown = "- | -" if ratio is None else f"{times['tensorflow']:,.1f} | {ratio:.1f}x"
        print(f"| {program} | {times['tfexp']:,.1f} | {shown} | {aim:g}x |", flush=True)
    for engine in engines.values():
        engine.close()


if __name__ == "__main__":
    main()
