"""What steps cost whose loops Numba compiles (`device=numba`): programs of `step_speed`, beside TensorFlow and NumPy."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from experiments.benchmarks.measuring import JAX, NUMPY, OURS, Figure, Options, in_turn, workers
from experiments.benchmarks.step_speed.configured import answer_with, configured
from experiments.benchmarks.step_speed.step_speed import programs_of

_WARM = 20  # steps before anything is measured: the first compiles
# name of a program -> the ratio to TensorFlow that is aimed at
AIMS = {
    "MLP 784-300-100-10, batch 64, SGD": 2.5,
    "MLP 784-300-100-10, batch 64, Adam": 2.0,
    "MLP 784-300-100-10, batch 512, Adam": 1.5,
    "linear model, batch 20 x 8, Adagrad": 8.0,
    "chain of 2,000 additions of 10 numbers": 1.0,
    "chain of 40 operations on 10^6 numbers": 2.0,
    "word2vec, 50,000 words, batch 128, NCE": 1.5,
    "op: sparse update, 1,024 of 50,000x128": 1.0,
    "op: where, 10^6": 1.0,
    "max pool 2x2, 28x28x32": 1.0,
    "max pool 2x2, 28x28x32, gradient": 1.0,
    "avg pool 2x2, 28x28x32": 1.0,
    "avg pool 2x2, 28x28x32, gradient": 1.0,
    "depthwise conv 3x3, 28x28x32, with gradients": 1.0,
    "batch norm, 28x28x32, gradients": 1.0,
}


def figures(options: Options) -> Iterator[Figure]:
    """Here the engine "NumPy" is tfexp without Numba."""
    engines = {engine: python for engine, python in options.all_engines.items() if engine != JAX}
    with workers(engines, __spec__.name) as running:
        ask = {
            engine: lambda name, worker=worker: worker.ask(program=name, seconds=options.seconds)
            for engine, worker in running.items()
        }
        for name, rounds in in_turn(AIMS, ask, options):
            yield Figure("jit", name, "µs", rounds, AIMS[name])


def work(engine: str) -> None:
    if engine == OURS:
        from tfexp.runtime.jit import with_numba

        known = configured(AIMS, lambda tf: with_numba())
    elif engine == NUMPY:
        known = configured(AIMS, lambda tf: None)
    else:
        known = programs_of(engine)
    answer_with(known, _WARM)


if __name__ == "__main__":
    work(sys.argv[1])
