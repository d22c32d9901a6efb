"""The programs of `programs.py` in tfexp's sessions of some configuration, and what answers questions about programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from experiments.benchmarks.measuring import OURS, load, microseconds, serve

Programs = dict[str, Callable[[], Callable[[], object]]]


class _Configured:
    """`tf`, whose sessions have this configuration."""

    def __init__(self, tf: Any, config: Any):
        self._tf = tf
        self._config = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf, name)

    def Session(self) -> Any:
        return self._tf.Session(config=self._config)


def configured(names: Iterable[str], configure: Callable[[Any], Any]) -> Programs:
    """name -> what builds the program and gives what runs a step; `configure(tf)` makes the ConfigProto."""
    from experiments.benchmarks.step_speed.programs import PROGRAMS

    tf = load(OURS)
    sessions = _Configured(tf, configure(tf))

    def build(name: str) -> Callable[[], object]:
        with tf.Graph().as_default():
            return PROGRAMS[name][0](sessions)

    return {name: functools.partial(build, name) for name in names}


def answer_with(known: Programs, warm: int) -> None:
    """Serve the microseconds of a step of what is asked for, after `warm` steps that do not count."""
    steps: dict[str, Callable[[], object]] = {}

    def answer(request: dict[str, Any]) -> float | None:
        name = request["program"]
        if name not in known:
            return None
        if name not in steps:
            steps[name] = known[name]()
            for _ in range(warm):
                steps[name]()
        return microseconds(steps[name], request["seconds"])

    serve(answer)
