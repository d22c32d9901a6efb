"""What an op costs in eager execution beside the NumPy call that it makes; see README.md."""

from __future__ import annotations

import argparse
import statistics
import timeit
from collections.abc import Callable

import numpy as np

import tfexp as tf

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    tf.enable_eager_execution()
    print("| op | NumPy, µs | eager, µs (spread) | 3 NumPy + 3, µs |")
    print("|---|---|---|---|")
    for name, (eager, numpy) in programs().items():
        eager()  # what the first call finds out is remembered
        taken: list[tuple[float, float]] = []
        for _ in range(rounds):  # in turn, so that both see the same machine
            taken.append((timeit.timeit(numpy, number=_CALLS), timeit.timeit(eager, number=_CALLS)))
        beside, op = ([pair[i] / _CALLS * 1e6 for pair in taken] for i in (0, 1))
        base, cost = statistics.median(beside), statistics.median(op)
        print(f"| `{name}` | {base:.2f} | {cost:.2f} ({min(op):.2f}-{max(op):.2f}) | {3 * base + 3:.2f} |")


if __name__ == "__main__":
    main()
