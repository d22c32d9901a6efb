"""The programs of `programs.py` in tfexp's sessions of some configuration, and what answers questions about programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from experiments.benchmarks.measuring import OURS, load, microseconds, serve

Programs = dict[str, Callable[[], Callable[[], object] | None]]


class _Configured:
    """`tf`, whose sessions have this configuration."""

    def __init__(self, tf: Any, config: Any):
        self._tf = tf
        self._config = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf, name)

    def Session(self, config: None = None) -> Any:
        return self._tf.Session(config=self._config)


def configured(names: Iterable[str], configure: Callable[[Any], Any]) -> Programs:
    """name -> what builds the program and gives what runs a step; `configure(tf)` makes the ConfigProto."""
    from experiments.benchmarks.step_speed.programs import PROGRAMS

    tf = load(OURS)
    sessions = _Configured(tf, configure(tf))

    def build(name: str) -> Callable[[], object] | None:
        with tf.Graph().as_default():
            return PROGRAMS[name][0](sessions)

    return {name: functools.partial(build, name) for name in names}


def answer_with(known: Programs, warm: int) -> None:
    """Serve the microseconds of a step of what is asked for, after `warm` that do not count; None where there is none."""
    steps: dict[str, Callable[[], object] | None] = {}

    def answer(request: dict[str, Any]) -> float | None:
        name = request["program"]
        if name not in steps:
            step = steps[name] = known[name]() if name in known else None
            for _ in range(warm if step else 0):
                step()
        step = steps[name]
        return microseconds(step, request["seconds"]) if step else None

    serve(answer)
