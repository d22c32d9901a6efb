"""How everything here is measured: engines in processes of their own, in turn, round by round, never at the same time.

A figure is the median over the rounds. A ratio is the median of the rounds' ratios, so that a slow moment of the machine
counts for all engines. The processes start without OPENBLAS_* and the like, which some machines export and which cost NumPy
up to half its speed.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OURS, THEIRS, NUMPY, JAX = "tfexp", "TensorFlow", "NumPy", "JAX"
_PINNED = ("OPENBLAS_", "OMP_", "MKL_", "GOTO_")
_STRETCHES = 10


@dataclass(frozen=True)
class Options:
    """What the command line says. `seconds`: for each program and engine in a round."""

    rounds: int
    seconds: float
    only: str
    tensorflow_python: str
    jax_python: str = sys.executable

    @functools.cached_property
    def engines(self) -> dict[str, str]:
        """The interpreter of each engine that there is."""
        return {OURS: sys.executable} | (
            {THEIRS: self.tensorflow_python} if _has(self.tensorflow_python, "tensorflow") else {}
        )

    @functools.cached_property
    def all_engines(self) -> dict[str, str]:
        """With those for which some programs are written by hand."""
        more = {JAX: self.jax_python} if _has(self.jax_python, "jax") else {}
        return {**self.engines, NUMPY: sys.executable, **more}

    def wants(self, name: str) -> bool:
        return self.only in name


@dataclass(frozen=True)
class Figure:
    """One row: what each engine reached in each round, and the ratio to TensorFlow (or to `base`) that is aimed at.

    `at_most`: what the figure itself should not exceed. `point`: the curve that it is on, and where (a size).
    """

    group: str
    name: str
    unit: str
    rounds: list[dict[str, float]]
    aim: float | None = None
    smaller_is_better: bool = True
    base: str = THEIRS
    at_most: float | None = None
    point: tuple[str, float] | None = None

    def median(self, engine: str) -> float | None:
        values = [r[engine] for r in self.rounds if engine in r]
        return statistics.median(values) if values else None

    def ratios(self, base: str | None = None) -> list[float]:
        """How many times as good as the base this engine was, in each round, in order of size; empty without a base."""
        base = base or self.base
        pairs = [(r[OURS], r[base]) for r in self.rounds if base in r and OURS in r]
        return sorted(theirs / ours if self.smaller_is_better else ours / theirs for ours, theirs in pairs)

    def ratio(self, base: str | None = None) -> float | None:
        ratios = self.ratios(base)
        return statistics.median(ratios) if ratios else None

    @property
    def is_reached(self) -> bool:
        """Whether nothing that is aimed at is missed."""
        ratio, own = self.ratio(), self.median(OURS)
        return not (
            (self.aim is not None and ratio is not None and ratio < self.aim)
            or (self.at_most is not None and own is not None and own > self.at_most)
        )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio()}


def _has(python: str, package: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([python, "-c", code], check=False, env=environment()).returncode == 0


def environment(**more: str) -> dict[str, str]:
    """What the engines' processes start with."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_PINNED)}
    return kept | {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **more}


def in_turn(
    names: Iterable[str], ask: dict[str, Callable[[str], float | None]], options: Options
) -> Iterator[tuple[str, list[dict[str, float]]]]:
    """For each name that is wanted, what each engine answers in each round. None: it does not have that."""
    for name in names:
        if options.wants(name):
            yield name, [_round(name, ask) for _ in range(options.rounds)]


def _round(name: str, ask: dict[str, Callable[[str], float | None]]) -> dict[str, float]:
    answers = {engine: answer(name) for engine, answer in ask.items()}
    return {engine: answer for engine, answer in answers.items() if answer is not None}


# --- processes -----------------------------------------------------------------------------------------------------


class Worker:
    """A process of an engine that answers a line of JSON with one: `python -m MODULE ENGINE …`, whose code calls `serve`."""

    def __init__(self, engine: str, python: str, module: str, *arguments: str, **variables: str):
        self._process = subprocess.Popen(
            [python, "-m", module, engine, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if engine == OURS else subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env=environment(**variables),
        )

    def ask(self, **request: Any) -> Any:
        self.begin(**request)
        return self.answer()

    def begin(self, **request: Any) -> None:
        """Send a request; `answer` waits for what comes of it."""
        assert self._process.stdin is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{' '.join(map(str, self._process.args))} gave up")  # type: ignore[arg-type]
        return json.loads(answer)

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()  # TensorFlow's servers do not end
            self._process.wait()
        self._process.stdout.close()


@contextmanager
def workers(engines: dict[str, str], module: str) -> Iterator[dict[str, Worker]]:
    """A worker of each engine."""
    running = {engine: Worker(engine, python, module) for engine, python in engines.items()}
    try:
        yield running
    finally:
        for worker in running.values():
            worker.close()


# --- in a worker ---------------------------------------------------------------------------------------------------


def serve(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answer the requests on stdin, until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever an engine prints is not an answer
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


def load(engine: str) -> Any:
    """The engine's module `tf`."""
    if engine == OURS:
        import tfexp

        return tfexp
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


def microseconds(step: Callable[[], Any], seconds: float) -> float:
    """For a call: the fastest of ten stretches, which together take about that many seconds.

    What else runs on the machine only ever makes a stretch slower.
    """
    began = time.perf_counter()
    step()
    count = max(3, int(seconds / _STRETCHES / max(time.perf_counter() - began, 1e-6)))
    stretches = []
    for _ in range(_STRETCHES):
        began = time.perf_counter()
        for _ in range(count):
            step()
        stretches.append((time.perf_counter() - began) / count * 1e6)
    return min(stretches)
