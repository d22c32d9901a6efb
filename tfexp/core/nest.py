"""Nested Python structures: lists, tuples, named tuples and dicts (in the order of their sorted keys). Source: `tf.nest`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def is_nested(value: Any) -> bool:
    """Whether `value` is a structure rather than a leaf."""
    return isinstance(value, (list, tuple, Mapping))


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return list(value)


def _leaves(value: Any) -> Iterator[Any]:
    if is_nested(value):
        for child in _children(value):
            yield from _leaves(child)
    else:
        yield value


def flatten(structure: Any) -> list[Any]:
    """The leaves, depth first; a leaf alone gives a list of one."""
    return list(_leaves(structure))


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """`flat_sequence` in the shape of `structure`; ValueError when the number of leaves differs."""
    flat = list(flat_sequence)
    count = len(flatten(structure))
    if count != len(flat):
        raise ValueError(f"The structure has {count} elements, but the flat sequence has {len(flat)}: {structure}")
    return _pack(structure, iter(flat))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    packed = [_pack(child, leaves) for child in _children(structure)]
    if isinstance(structure, Mapping):
        by_key = dict(zip(sorted(structure), packed, strict=True))
        return type(structure)((key, by_key[key]) for key in structure)  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):
        return type(structure)(*packed)
    return type(structure)(packed)


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """`function` applied leaf by leaf to structures of one shape."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    flat = [function(*leaves) for leaves in zip(*map(flatten, structures), strict=True)]
    return pack_sequence_as(structures[0], flat)


def assert_same_structure(first: Any, second: Any, check_types: bool = True) -> None:
    """ValueError when the nesting differs, TypeError when the container types do."""
    if is_nested(first) != is_nested(second):
        raise ValueError(f"The two structures don't have the same nested structure.\n\nFirst: {first}\n\nSecond: {second}")
    if not is_nested(first):
        return
    if check_types and type(first) is not type(second):
        raise TypeError(f"The two structures don't have the same sequence type: {type(first)} and {type(second)}")
    if isinstance(first, Mapping) and sorted(first) != sorted(second):
        raise ValueError(f"The two dictionaries don't have the same set of keys: {sorted(first)} and {sorted(second)}")
    if len(first) != len(second):
        raise ValueError(
            f"The two structures don't have the same number of elements: {len(first)} and {len(second)}.\n\n"
            f"First: {first}\n\nSecond: {second}"
        )
    for a, b in zip(_children(first), _children(second), strict=True):
        assert_same_structure(a, b, check_types)
