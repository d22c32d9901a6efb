"""Whether a variable is alike at two moments of a program, so that one node of the graph can stand for it at both."""

from __future__ import annotations

from dataclasses import dataclass

from tfexp.autograph.variables import Carried, Opaque
from tfexp.core import nest


@dataclass(frozen=True)
class Moments:
    """Two moments, in the words of errors, and what they ask of structures and of objects that are no tensors."""

    first: str
    second: str
    structure: str
    same: str


BRANCHES = Moments(
    "in the main branch",
    "in the else branch",
    "must have the same nested structure in the main and else branches",
    "must be a tensor, or the same object, in both branches of an `if` on a tensor",
)
LOOP = Moments(
    "before the loop",
    "after one iteration",
    "does not have the same nested structure before the loop and after one iteration",
    "must be a tensor, or stay the same object, in a loop in the graph",
)


def check_alike(shown: str, first: Carried, second: Carried, moments: Moments, place: str) -> None:
    """TypeError unless `shown` has one structure, the same types, and the same objects where it holds no tensors."""
    values = f"{first.value!r} {moments.first} and {second.value!r} {moments.second}"
    try:
        nest.assert_same_structure(first.value, second.value, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{shown} {moments.structure}: {values}:\n{place}\n{error}") from None
    for one, two in zip(first.parts, second.parts, strict=True):
        if isinstance(one, Opaque) or isinstance(two, Opaque):
            if not (isinstance(one, Opaque) and isinstance(two, Opaque) and one.value is two.value):
                raise TypeError(f"{shown} {moments.same}, but is {values}:\n{place}")
        elif one.dtype.base_dtype is not two.dtype.base_dtype:
            raise TypeError(
                f"{shown} has dtype {one.dtype.base_dtype.name} {moments.first}, but dtype {two.dtype.base_dtype.name} "
                f"{moments.second}:\n{place}"
            )
