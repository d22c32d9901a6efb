"""What `Session.run` of a known step costs: the programs of `programs.py`, built by each engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from experiments.benchmarks.measuring import Figure, Options, in_turn, load, microseconds, serve, workers

_WARM = 20  # steps before anything is measured


def figures(options: Options) -> Iterator[Figure]:
    from experiments.benchmarks.step_speed.programs import PROGRAMS

    with workers(options, __spec__.name) as running:
        ask = {
            engine: lambda name, worker=worker: float(worker.ask(program=name, seconds=options.seconds))
            for engine, worker in running.items()
        }
        for name, rounds in in_turn(PROGRAMS, ask, options):
            yield Figure("step", name, "µs", rounds, PROGRAMS[name][1])


def work(engine: str) -> None:
    from experiments.benchmarks.step_speed.programs import PROGRAMS

    tf = load(engine)
    steps: dict[str, Any] = {}

    def answer(request: dict[str, Any]) -> float:
        name = request["program"]
        if name not in steps:
            with tf.Graph().as_default():
                steps[name] = PROGRAMS[name][0](tf)
            for _ in range(_WARM):
                steps[name]()
        return microseconds(steps[name], request["seconds"])

    serve(answer)


if __name__ == "__main__":
    work(sys.argv[1])
