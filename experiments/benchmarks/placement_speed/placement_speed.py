"""What the dynamic placer brings beside the simple one: two worker processes of one thread each; see README.md."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tfexp as tf
from experiments.benchmarks.cluster_speed.cluster_speed import free_ports
from experiments.benchmarks.measuring import OURS, Figure, Options, Worker, serve

_SIMPLE = "simple placer"
_ORDER = 701  # of the matrices
_LONG = 6  # products in a branch
_PERIOD = 3
_SETTLING = 40  # steps, after which no placement is tried any more


def branches() -> tuple[tf.Tensor, dict[tf.Tensor, np.ndarray]]:
    """Two chains of products that do not need each other."""
    x = tf.placeholder(tf.float32, [_ORDER, _ORDER])
    left = right = x
    for _ in range(_LONG):
        left, right = tf.matmul(left, x), tf.matmul(x, right, transpose_a=True)
    return tf.reduce_sum(left) + tf.reduce_sum(right), {x: np.full([_ORDER, _ORDER], 1 / _ORDER, np.float32)}


def chain() -> tuple[tf.Tensor, dict[tf.Tensor, np.ndarray]]:
    """One chain of products: there is nothing to be had."""
    x = y = tf.placeholder(tf.float32, [_ORDER, _ORDER])
    for _ in range(_LONG):
        y = tf.matmul(y, x)
    return tf.reduce_sum(y), {x: np.full([_ORDER, _ORDER], 1 / _ORDER, np.float32)}


def light() -> tuple[tf.Tensor, dict[tf.Tensor, np.ndarray]]:
    """Many small nodes, also in branches: a request to the other task takes longer than all of them."""
    x = tf.placeholder(tf.float32, [10, 10])
    return tf.add_n([tf.tanh(x * float(i)) for i in range(20)]), {x: np.ones([10, 10], np.float32)}


# Row, program, and the aim as a ratio: without parallelism, no slower but for noise.
ROWS: dict[str, tuple[Callable[[], Any], float]] = {
    "two heavy branches, two tasks": (branches, 1.6),
    "one heavy chain, two tasks": (chain, 0.95),
    "20 light branches, two tasks": (light, 0.95),
}


def figures(options: Options) -> Iterator[Figure]:
    spec = json.dumps([f"localhost:{port}" for port in free_ports(2)])
    with contextlib.ExitStack() as stack:
        tasks = [
            stack.enter_context(contextlib.closing(Worker(OURS, sys.executable, __spec__.name, spec, str(index))))
            for index in range(2)
        ]
        for task in tasks:
            task.begin()
        for task in tasks:
            task.answer()
        for name, (_, aim) in ROWS.items():
            if options.wants(name):
                rounds = [tasks[0].ask(program=name, seconds=options.seconds) for _ in range(options.rounds)]
                yield Figure("placement", name, "ms", rounds, aim, base=_SIMPLE)


def _runner(target: str, program: Callable[[], Any], period: int) -> Callable[[], Any]:
    """What runs a step, once its placement is found."""
    with tf.Graph().as_default() as graph:
        fetch, fed = program()
    config = tf.ConfigProto(placement_period=period, intra_op_parallelism_threads=1)
    session = tf.Session(target, graph=graph, config=config)
    for _ in range(_SETTLING):
        session.run(fetch, fed)
    return lambda: session.run(fetch, fed)


def _milliseconds(step: Callable[[], Any], seconds: float) -> float:
    """Of the step in the middle."""
    took: list[float] = []
    began = last = time.perf_counter()
    while last - began < seconds:
        step()
        now = time.perf_counter()
        took.append(now - last)
        last = now
    return 1e3 * sorted(took)[len(took) // 2]


def work(spec: str, index: int) -> None:
    server = tf.train.Server({"worker": json.loads(spec)}, "worker", index)
    steps: dict[tuple[str, str], Callable[[], Any]] = {}

    def answer(request: dict[str, Any]) -> dict[str, float]:
        found = {}
        for engine, period in ((OURS, _PERIOD), (_SIMPLE, 0)) if request else ():
            key = request["program"], engine
            if key not in steps:
                steps[key] = _runner(server.target, ROWS[key[0]][0], period)
            found[engine] = _milliseconds(steps[key], request["seconds"])
        return found

    serve(answer)
    os._exit(0)


if __name__ == "__main__":
    work(sys.argv[2], int(sys.argv[3]))
