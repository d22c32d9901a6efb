"""What an op costs in eager execution beside the NumPy call that it makes; see README.md."""

from __future__ import annotations

import contextlib
import sys
import timeit
from collections.abc import Callable, Iterator

import numpy as np

import tfexp as tf
from experiments.benchmarks.measuring import OURS, Figure, Options, Worker, serve

_CALLS = 5_000


def programs() -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """name -> the op, and the NumPy call that it makes, on 10x10 floats."""
    a = np.ones((10, 10), np.float32)
    x, y = tf.constant(a), tf.constant(a)
    return {
        "tf.add(x, y)": (lambda: tf.add(x, y), lambda: np.add(a, a)),
        "x + y": (lambda: x + y, lambda: a + a),
        "x + 1.0": (lambda: x + 1.0, lambda: a + 1.0),
        "tf.tanh(x)": (lambda: tf.tanh(x), lambda: np.tanh(a)),
        "tf.nn.relu(x)": (lambda: tf.nn.relu(x), lambda: np.maximum(a, 0)),
        "tf.reduce_sum(x, axis=1)": (lambda: tf.reduce_sum(x, axis=1), lambda: a.sum(1)),
        "tf.reshape(x, [5, 20])": (lambda: tf.reshape(x, [5, 20]), lambda: a.reshape(5, 20)),
        "tf.matmul(x, y)": (lambda: tf.matmul(x, y), lambda: a @ a),
        "x[1]": (lambda: x[1], lambda: a[1]),
    }


def figures(options: Options) -> Iterator[Figure]:
    """Beside 3 times NumPy's call and 3 µs, which is what an op may cost."""
    with contextlib.closing(Worker(OURS, sys.executable, __spec__.name)) as worker:
        for name in programs():
            if options.wants(name):
                rounds = [worker.ask(program=name) for _ in range(options.rounds)]
                yield Figure("eager", name, "µs", rounds, 1.0, base="3 NumPy + 3")


def work() -> None:
    tf.enable_eager_execution()
    known = programs()

    def answer(request: dict[str, str]) -> dict[str, float]:
        eager, numpy = known[request["program"]]
        eager()  # what the first call finds out is remembered
        base, cost = (timeit.timeit(call, number=_CALLS) / _CALLS * 1e6 for call in (numpy, eager))
        return {OURS: cost, "NumPy": base, "3 NumPy + 3": 3 * base + 3}

    serve(answer)


if __name__ == "__main__":
    work()
