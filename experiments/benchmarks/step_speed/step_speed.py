"""What `Session.run` of a known step costs: the programs of `programs.py`, built by each engine; some also by hand."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from experiments.benchmarks.measuring import JAX, NUMPY, Figure, Options, in_turn, load, workers
from experiments.benchmarks.step_speed.configured import Programs, answer_with

_WARM = 20  # steps before anything is measured


def figures(options: Options) -> Iterator[Figure]:
    from experiments.benchmarks.step_speed.programs import PROGRAMS

    with workers(options.all_engines, __spec__.name) as running:
        ask = {
            engine: lambda name, worker=worker: worker.ask(program=name, seconds=options.seconds)
            for engine, worker in running.items()
        }
        for name, rounds in in_turn(PROGRAMS, ask, options):
            yield Figure("step", name, "µs", rounds, PROGRAMS[name][1])


def work(engine: str) -> None:
    answer_with(programs_of(engine), _WARM)


def programs_of(engine: str) -> Programs:
    """name -> what builds it and gives what runs a step; None where the engine lacks what it takes."""
    if engine == NUMPY:
        from experiments.benchmarks.step_speed import by_hand

        return by_hand.PROGRAMS
    if engine == JAX:
        from experiments.benchmarks.step_speed import with_jax

        return with_jax.PROGRAMS
    from experiments.benchmarks.step_speed.programs import PROGRAMS

    tf = load(engine)

    def build(program: Callable[[Any], Callable[[], object] | None]) -> Callable[[], object] | None:
        with tf.Graph().as_default():
            return program(tf)

    return {name: functools.partial(build, program) for name, (program, _) in PROGRAMS.items()}


if __name__ == "__main__":
    work(sys.argv[1])
