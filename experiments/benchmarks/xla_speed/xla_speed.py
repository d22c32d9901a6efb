"""What compiled steps cost (`global_jit_level=ON_1`): programs of `step_speed`, beside TensorFlow and JAX by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from experiments.benchmarks.measuring import NUMPY, OURS, Figure, Options, in_turn, load, microseconds, serve, workers
from experiments.benchmarks.step_speed.step_speed import programs_of

_WARM = 5  # steps before anything is measured: the second is compiled
# name of a program -> the ratio to TensorFlow that is aimed at
AIMS = {
    "chain of 2,000 additions of 10 numbers": 10.0,
    "chain of 40 operations on 10^6 numbers": 1.5,
    "MLP 784-300-100-10, batch 64, Adam": 1.6,
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
    engines = {engine: python for engine, python in options.all_engines.items() if engine != NUMPY}
    with workers(engines, __spec__.name) as running:
        ask = {
            engine: lambda name, worker=worker: worker.ask(program=name, seconds=options.seconds)
            for engine, worker in running.items()
        }
        for name, rounds in in_turn(AIMS, ask, options):
            yield Figure("xla", name, "µs", rounds, AIMS[name])


def _compiled_programs() -> dict[str, Callable[[], Callable[[], object]]]:
    from experiments.benchmarks.step_speed.programs import PROGRAMS

    tf = _Compiling(load(OURS))

    def building(name: str) -> Callable[[], Callable[[], object]]:
        def build() -> Callable[[], object]:
            with tf.Graph().as_default():
                return PROGRAMS[name][0](tf)

        return build

    return {name: building(name) for name in AIMS}


def work(engine: str) -> None:
    known = _compiled_programs() if engine == OURS else programs_of(engine)
    steps: dict[str, Callable[[], object]] = {}

    def answer(request: dict[str, Any]) -> float:
        name = request["program"]
        if name not in steps:
            steps[name] = known[name]()
            for _ in range(_WARM):
                steps[name]()
        return microseconds(steps[name], request["seconds"])

    serve(answer)


if __name__ == "__main__":
    work(sys.argv[1])
