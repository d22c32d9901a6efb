"""What compiled steps cost (`global_jit_level=ON_1`): programs of `step_speed` and a chain of large element-wise ops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from experiments.benchmarks.measuring import OURS, Figure, Options, in_turn, load, microseconds, serve, workers
from experiments.benchmarks.step_speed.programs import Step, chain, mlp

_WARM = 5  # steps before anything is measured: the second is compiled


def large_chain(tf: Any) -> Step:
    """40 element-wise ops on a million numbers, summed up."""
    x = tf.Variable(np.linspace(0, 1, 1_000_000, dtype=np.float32))
    h = x.read_value()
    for _ in range(20):
        h = tf.abs(h * 1.01 - 0.5)
    total = tf.reduce_sum(h)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return lambda: session.run(total)


# name -> (how to build it, the ratio that is aimed at)
PROGRAMS: dict[str, tuple[Callable[[Any], Step], float]] = {
    "chain of 2,000 additions of 10 numbers": (chain, 10.0),
    "chain of 40 ops on a million numbers": (large_chain, 1.5),
    "MLP 784-300-100-10, batch 64, Adam": (mlp("AdamOptimizer", 0.001, 64), 1.6),
}


class _Compiling:
    """`tf`, whose sessions compile."""

    def __init__(self, tf: Any):
        self._tf = tf

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf, name)

    def Session(self) -> Any:
        config = self._tf.ConfigProto()
        config.graph_options.optimizer_options.global_jit_level = self._tf.OptimizerOptions.ON_1
        return self._tf.Session(config=config)


def figures(options: Options) -> Iterator[Figure]:
    with workers(options, __spec__.name) as running:
        ask = {
            engine: lambda name, worker=worker: float(worker.ask(program=name, seconds=options.seconds))
            for engine, worker in running.items()
        }
        for name, rounds in in_turn(PROGRAMS, ask, options):
            yield Figure("xla", name, "µs", rounds, PROGRAMS[name][1])


def work(engine: str) -> None:
    tf = load(engine)
    steps: dict[str, Any] = {}

    def answer(request: dict[str, Any]) -> float:
        name = request["program"]
        if name not in steps:
            with tf.Graph().as_default():
                steps[name] = PROGRAMS[name][0](_Compiling(tf) if engine == OURS else tf)
            for _ in range(_WARM):
                steps[name]()
        return microseconds(steps[name], request["seconds"])

    serve(answer)


if __name__ == "__main__":
    work(sys.argv[1])
