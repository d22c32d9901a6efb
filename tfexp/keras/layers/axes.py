"""The axes that a normalization goes along, as they are given and as the inputs number them."""

from __future__ import annotations

from typing import Any


def checked_axis(axis: Any, error: Exception) -> Any:
    """A number, or a list of numbers. The `error` for anything else."""
    if isinstance(axis, (list, tuple)):
        return list(axis)
    if isinstance(axis, int):
        return axis
    raise error


def normalized_axes(axis: Any, ndims: int) -> list[int]:
    """The axes of inputs with so many dimensions, counted from 0. ValueError for those that there are not, and for twins."""
    axes = [one + ndims if one < 0 else one for one in (axis if isinstance(axis, list) else [axis])]
    for one in axes:
        if not 0 <= one < ndims:
            raise ValueError(f"Invalid axis: {one}. Expected 0 <= axis < inputs.rank (with inputs.rank={ndims}).")
    if len(set(axes)) != len(axes):
        raise ValueError(f"Duplicate axis: {axes}")
    return axes
