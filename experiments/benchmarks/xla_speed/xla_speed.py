"""What compiled steps cost (`global_jit_level=ON_1`): programs of `step_speed`, beside TensorFlow and JAX by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from experiments.benchmarks.measuring import NUMPY, OURS, Figure, Options, in_turn, workers
from experiments.benchmarks.step_speed.configured import answer_with, configured
from experiments.benchmarks.step_speed.step_speed import programs_of

_WARM = 5  # steps before anything is measured: the second is compiled
# name of a program -> the ratio to TensorFlow that is aimed at
AIMS = {
    "chain of 2,000 additions of 10 numbers": 10.0,
    "chain of 40 operations on 10^6 numbers": 1.5,
    "MLP 784-300-100-10, batch 64, Adam": 1.6,
}


def figures(options: Options) -> Iterator[Figure]:
    engines = {engine: python for engine, python in options.all_engines.items() if engine != NUMPY}
    with workers(engines, __spec__.name) as running:
        ask = {
            engine: lambda name, worker=worker: worker.ask(program=name, seconds=options.seconds)
            for engine, worker in running.items()
        }
        for name, rounds in in_turn(AIMS, ask, options):
            yield Figure("xla", name, "µs", rounds, AIMS[name])


def _compiling(tf: Any) -> Any:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    return config


def work(engine: str) -> None:
    answer_with(configured(AIMS, _compiling) if engine == OURS else programs_of(engine), _WARM)


if __name__ == "__main__":
    work(sys.argv[1])
