"""Structures taken apart down to the leaves of a shallower one. Source: `tensorflow.python.util.nest`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tfexp.core.nest import is_nested, pack_sequence_as

is_sequence = is_nested


def _pairs(structure: Any) -> list[tuple[Any, Any]]:
    """(key or index, element) in the order of leaves."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in sorted(structure)]
    return list(enumerate(structure))


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """TypeError or ValueError unless `input_tree` has the nesting of `shallow_tree`, and perhaps more below."""
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if check_types and type(shallow_tree) is not type(input_tree):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if len(shallow_tree) != len(input_tree):
        raise ValueError(
            f"The two structures don't have the same sequence length. Input structure has length {len(input_tree)}, while "
            f"shallow structure has length {len(shallow_tree)}."
        )
    for (key, shallow), (other, deep) in zip(_pairs(shallow_tree), _pairs(input_tree), strict=True):
        if key != other:
            raise ValueError(f"The two structures don't have the same keys. Missing: {key!r}, found {other!r}.")
        assert_shallow_structure(shallow, deep, check_types)


def _leaves_up_to(shallow: Any, deep: Any) -> Iterator[Any]:
    if not is_nested(shallow):
        yield deep
        return
    for (_, one), (_, other) in zip(_pairs(shallow), _pairs(deep), strict=True):
        yield from _leaves_up_to(one, other)


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> list[Any]:
    """What `input_tree` has where `shallow_tree` has leaves."""
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return list(_leaves_up_to(shallow_tree, input_tree))


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, check_types: bool = True) -> Any:
    """`func` of what the inputs have where `shallow_tree` has leaves, in its structure. ValueError without inputs."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    flat = [flatten_up_to(shallow_tree, tree, check_types) for tree in inputs]
    return pack_sequence_as(shallow_tree, [func(*values) for values in zip(*flat, strict=True)])


def yield_flat_paths(structure: Any) -> Iterator[tuple[Any, ...]]:
    """For each leaf, the keys and indices on the way to it."""
    if not is_nested(structure):
        yield ()
        return
    for key, element in _pairs(structure):
        for path in yield_flat_paths(element):
            yield (key, *path)


def flatten_with_joined_string_paths(structure: Any, separator: str = "/") -> list[tuple[str, Any]]:
    """(path, leaf) for each leaf."""
    return [(separator.join(map(str, path)), _at(structure, path)) for path in yield_flat_paths(structure)]


def _at(structure: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        structure = structure[key]
    return structure
