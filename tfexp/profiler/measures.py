"""What is measured of a node, and of many nodes together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Measures:
    """Counts, times in microseconds and bytes. The fields are called as in GraphNodeProto.

    `exec_micros` is `cpu_exec_micros` (from an op's start to its end on its device's threads) plus
    `accelerator_exec_micros` (in an accelerator's streams). Of the memory of an op: what it asked for, the most that it held
    at a time, what was there when it had ended, and the size of its results.
    """

    definition_count: int = 0
    run_count: int = 0
    exec_micros: int = 0
    accelerator_exec_micros: int = 0
    cpu_exec_micros: int = 0
    requested_bytes: int = 0
    peak_bytes: int = 0
    residual_bytes: int = 0
    output_bytes: int = 0
    parameters: int = 0
    float_ops: int = 0

    def __add__(self, other: Measures) -> Measures:
        return Measures(**{name: getattr(self, name) + getattr(other, name) for name in NAMES})

    def write(self, proto: Any, prefix: str) -> None:
        """Into the proto's fields of the same names (`total_run_count` with the prefix `total_`), as far as it has them."""
        for name in NAMES:
            if prefix + name in proto.DESCRIPTOR.fields_by_name:
                setattr(proto, prefix + name, getattr(self, name))


NOTHING = Measures()
NAMES = tuple(field.name for field in fields(Measures))


def total(parts: Iterable[Measures]) -> Measures:
    return sum(parts, Measures())


def mean(parts: list[Measures]) -> Measures:
    """Of at least one; rounded down."""
    whole = total(parts)
    return Measures(**{name: getattr(whole, name) // len(parts) for name in NAMES})
