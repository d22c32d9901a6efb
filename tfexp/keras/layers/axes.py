"""The axes that a normalization goes along, as they are given and as the inputs number them."""

from __future__ import annotations

from typing import Any


def checked_axis(axis: Any) -> Any:
    """A number, or a list of numbers. TypeError for anything else."""
    if isinstance(axis, (list, tuple)):
        return list(axis)
    if isinstance(axis, int):
        return axis
    raise TypeError(f"Expected an int or a list/tuple of ints for the argument 'axis', but received: {axis!r}")


def normalized_axes(axis: Any, ndims: int) -> list[int]:
    """The axes of inputs with so many dimensions, counted from 0. ValueError for those that there are not, and for twins."""
    axes = [one + ndims if one < 0 else one for one in (axis if isinstance(axis, list) else [axis])]
    if any(not 0 <= one < ndims for one in axes):
        raise ValueError(
            f"Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with inputs.rank={ndims}). "
            f"Received: axis={axis}"
        )
    if len(set(axes)) != len(axes):
        raise ValueError(f"Duplicate axis: {axes}")
    return axes
