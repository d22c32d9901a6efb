"""The registry of golden programs: small TF1 programs, each a function of the module it is to use as `tf`.

A program builds its graph in the default graph and may return an `Outcome`: runs whose fetched values are
recorded, and facts (names, printed lines, error classes) that are recorded as they are. Its group is the
module that defines it, and one group is one file of `tests/golden/graphs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Build = Callable[[Any], "Outcome | None"]


@dataclass(frozen=True)
class Run:
    """One `Session.run`: `fetches` is a tensor, an op or a list of them; `feeds` maps tensors to arrays.

    `rtol` and `atol` bound the differences that another order of summation may make. Integers are compared exactly, or,
    with an `atol` of 1 or more, up to that.
    """

    fetches: Any
    feeds: Mapping[Any, Any] = field(default_factory=dict)
    rtol: float = 1e-5
    atol: float = 1e-6


@dataclass(frozen=True)
class Outcome:
    """What a program leaves besides its graph: `runs`, made in order in one session, and JSON-able `facts`.

    `graph` is the graph to record where it is not the default one; `cpus`, how many CPU devices the session has.
    """

    runs: tuple[Run, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    graph: Any = None
    add_shapes: bool = False
    cpus: int = 1


@dataclass(frozen=True)
class Program:
    """A registered program: its full name is `group.name`, `source` says which section it comes from."""

    group: str
    name: str
    source: str
    build: Build

    @property
    def full_name(self) -> str:
        return f"{self.group}.{self.name}"


PROGRAMS: dict[str, Program] = {}


def register(group: str, name: str, source: str, build: Build) -> None:
    """Adds a program; two programs of one name are a mistake in the suite."""
    program = Program(group, name, source, build)
    if program.full_name in PROGRAMS:
        raise ValueError(f"golden program {program.full_name!r} is defined twice")
    PROGRAMS[program.full_name] = program


def program(source: str, name: str | None = None) -> Callable[[Build], Build]:
    """Registers the decorated function under its own name, in the group of its module."""

    def decorate(build: Build) -> Build:
        register(build.__module__.rpartition(".")[2], name or build.__name__, source, build)
        return build

    return decorate


def runs(*steps: Run, cpus: int = 1, **facts: Any) -> Outcome:
    """An outcome of these runs and facts."""
    return Outcome(runs=steps, facts=facts, cpus=cpus)


def values(name: str, *shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray[Any, Any]:
    """Fixed float32 values of `shape` in [low, high), different for each `name`."""
    seed = int.from_bytes(name.encode()[-4:].rjust(4, b"\0"), "little")
    return np.random.RandomState(seed).uniform(low, high, shape).astype(np.float32)


def raised(call: Callable[[], object]) -> str:
    """The class of the error that `call` raises, by name; "nothing" where it raises nothing.

    It is the built-in class that the error's own derives from, where that is below `Exception`, else its own.
    """
    try:
        call()
    except Exception as error:
        bases = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins" and kind is not Exception]
        return bases[0].__name__ if issubclass(bases[0], Exception) else type(error).__name__
    return "nothing"
