"""Nested Python structures: lists, tuples, named tuples and dicts (in the order of their sorted keys). Source: `tf.nest`.

With `expand_composites`, a value made of several tensors (a SparseTensor, a RaggedTensor) is a structure of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


class Composite:
    """A value that is made of several tensors."""

    @property
    def parts(self) -> tuple[Any, ...]:
        """Its tensors."""
        raise NotImplementedError

    def with_parts(self, parts: Sequence[Any]) -> Any:
        """A value like this one of other tensors."""
        raise NotImplementedError

    def fetched(self, values: Sequence[Any]) -> Any:
        """What fetching it gives, of the arrays that its parts give."""
        raise NotImplementedError

    def fed(self, value: Any) -> Sequence[Any]:
        """What feeding `value` feeds its parts with."""
        raise NotImplementedError

    def dispatch(self, name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What `function`, known as `name`, gives of arguments with this in it; NotImplemented where it has no meaning."""
        return NotImplemented


def is_nested(value: Any, expand_composites: bool = False) -> bool:
    """Whether `value` is a structure rather than a leaf."""
    return isinstance(value, (list, tuple, Mapping)) or (expand_composites and isinstance(value, Composite))


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return list(value.parts) if isinstance(value, Composite) else list(value)


def _leaves(value: Any, expand_composites: bool) -> Iterator[Any]:
    if is_nested(value, expand_composites):
        for child in _children(value):
            yield from _leaves(child, expand_composites)
    else:
        yield value


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves, depth first; a leaf alone gives a list of one."""
    return list(_leaves(structure, expand_composites))


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """`flat_sequence` in the shape of `structure`; ValueError when the number of leaves differs."""
    flat = list(flat_sequence)
    count = len(flatten(structure, expand_composites))
    if count != len(flat):
        raise ValueError(f"The structure has {count} elements, but the flat sequence has {len(flat)}: {structure}")
    return _pack(structure, iter(flat), expand_composites)


def _pack(structure: Any, leaves: Iterator[Any], expand_composites: bool) -> Any:
    if not is_nested(structure, expand_composites):
        return next(leaves)
    packed = [_pack(child, leaves, expand_composites) for child in _children(structure)]
    if isinstance(structure, Mapping):
        by_key = dict(zip(sorted(structure), packed, strict=True))
        return type(structure)((key, by_key[key]) for key in structure)  # type: ignore[call-arg]
    if isinstance(structure, Composite):
        return structure.with_parts(packed)
    if hasattr(structure, "_fields"):
        return type(structure)(*packed)
    return type(structure)(packed)


def map_structure(function: Callable[..., Any], *structures: Any, expand_composites: bool = False) -> Any:
    """`function` applied leaf by leaf to structures of one shape."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other, expand_composites=expand_composites)
    leaves = zip(*(flatten(structure, expand_composites) for structure in structures), strict=True)
    return pack_sequence_as(structures[0], [function(*each) for each in leaves], expand_composites)


def assert_same_structure(first: Any, second: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """ValueError when the nesting differs, TypeError when the container types do."""
    if is_nested(first, expand_composites) != is_nested(second, expand_composites):
        raise ValueError(f"The two structures don't have the same nested structure.\n\nFirst: {first}\n\nSecond: {second}")
    if not is_nested(first, expand_composites):
        return
    if check_types and type(first) is not type(second):
        raise TypeError(f"The two structures don't have the same sequence type: {type(first)} and {type(second)}")
    if isinstance(first, Mapping) and sorted(first) != sorted(second):
        raise ValueError(f"The two dictionaries don't have the same set of keys: {sorted(first)} and {sorted(second)}")
    mine, theirs = _children(first), _children(second)
    if len(mine) != len(theirs):
        raise ValueError(
            f"The two structures don't have the same number of elements: {len(mine)} and {len(theirs)}.\n\n"
            f"First: {first}\n\nSecond: {second}"
        )
    for a, b in zip(mine, theirs, strict=True):
        assert_same_structure(a, b, check_types, expand_composites)
