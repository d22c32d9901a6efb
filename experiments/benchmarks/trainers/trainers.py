"""Several trainers on one machine at the same time: what they reach together, each in a process of its own.

Ours are told how many they are, as the tasks of a run are, and BLAS has that much fewer threads; TensorFlow's do as they do.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from experiments.benchmarks.measuring import OURS, Figure, Options, Worker, load, serve
from experiments.benchmarks.step_speed.programs import mlp

_WARM = 20  # steps before anything is measured


def figures(options: Options) -> Iterator[Figure]:
    """Steps a second, all together, of MLP 784-300-100-10, batch 64, SGD."""
    for count in (1, 2, 3):
        name = f"{count} at once, MLP, batch 64, SGD, in all"
        if not options.wants(name):
            continue
        with contextlib.ExitStack() as stack:
            crews = {
                engine: [stack.enter_context(_trainer(engine, python, count)) for _ in range(count)]
                for engine, python in options.engines.items()
            }
            for crew in crews.values():
                _together(crew, 0)  # all are there
            rounds = [
                {engine: _together(crew, options.seconds) for engine, crew in crews.items()} for _ in range(options.rounds)
            ]
        yield Figure("trainers", name, "steps/s", rounds, 1.8 if count > 1 else None, smaller_is_better=False)


def _trainer(engine: str, python: str, count: int) -> Any:
    return contextlib.closing(Worker(engine, python, __spec__.name, str(count)))


def _together(crew: list[Worker], seconds: float) -> float:
    """All of them work until each has been working, beside all others, for that long."""
    for trainer in crew:
        trainer.begin(until=time.time() + seconds)
    return sum(float(trainer.answer()) for trainer in crew)


def work(engine: str, count: int) -> None:
    tf = load(engine)
    if engine == OURS:
        from tfexp.runtime.cpu import share_cores

        share_cores(count)
    step = mlp("GradientDescentOptimizer", 0.01, 64)(tf)
    for _ in range(_WARM):
        step()

    def answer(request: dict[str, float]) -> float:
        began = time.time()
        steps = 0
        while time.time() < request["until"]:
            step()
            steps += 1
        return steps / (time.time() - began)

    serve(answer)


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
