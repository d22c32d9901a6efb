"""What models take in memory: the peak of a process that trains one, and what 100,000 steps add.

Each engine trains the model for some hundred steps in a process of its own. The peak is that of the whole process
(`VmHWM`; `ru_maxrss` would begin with the parent's), with Python and all that is imported.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from experiments.benchmarks.measuring import JAX, NUMPY, OURS, Figure, Options, Worker, serve
from experiments.benchmarks.step_speed.step_speed import programs_of

_MODELS = (
    "MLP 784-300-100-10, batch 64, SGD",
    "MLP 784-300-100-10, batch 64, Adam",
    "MLP 784-300-100-10, batch 512, Adam",
)
_MOST = 1.3  # times what hand-written NumPy takes
_STEPS = 300
_MANY_STEPS = 100_000
_LONG = "linear model, batch 20 x 8, Adagrad"


def figures(options: Options) -> Iterator[Figure]:
    engines = {name: python for name, python in options.all_engines.items() if name != JAX}
    for model in _MODELS:
        name = f"{model}: peak of the process"
        if options.wants(name):
            rounds = [
                {engine: _ask(engine, python, "peak", model) for engine, python in engines.items()}
                for _ in range(options.rounds)
            ]
            yield Figure("memory", name, "MB", rounds, 1 / _MOST, base=NUMPY)
    name = f"{_LONG}: {_MANY_STEPS:,} steps add"
    if options.wants(name):
        yield Figure("memory", name, "MB", [{OURS: _ask(OURS, sys.executable, "growth", _LONG)}], at_most=0.5)


def _ask(engine: str, python: str, what: str, program: str) -> float:
    """One answer of a fresh process."""
    with contextlib.closing(Worker(engine, python, __spec__.name)) as worker:
        return float(worker.ask(what=what, program=program))


def work(engine: str) -> None:
    known = programs_of(engine)

    def answer(request: dict[str, str]) -> float:
        if request["what"] == "growth":
            return growth(known[request["program"]](), _MANY_STEPS) / 1e6
        step = known[request["program"]]()
        for _ in range(_STEPS):
            step()
        return _status("VmHWM") / 1e6

    serve(answer)


def growth(step: Callable[[], Any], steps: int) -> int:
    """The bytes that the process holds more after that many steps, once it is warm."""
    for _ in range(steps // 10):
        step()
    gc.collect()
    before = _status("VmRSS")
    for _ in range(steps):
        step()
    gc.collect()
    return _status("VmRSS") - before


def _status(key: str) -> int:
    """Bytes of this process, as Linux counts them."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{key}:")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    work(sys.argv[1])
