"""Nested Python structures: sequences that are no text, and dicts (in the order of their sorted keys) and views of them.

Source: `tf.nest`.

With `expand_composites`, a value made of several tensors (a SparseTensor) is a structure of these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any


class Composite:
    """A value that is made of several tensors: `parts`, a structure of them where composites are expanded."""

    @property
    def parts(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def with_parts(self, parts: Sequence[Any]) -> Any:
        """A value like this one of other tensors."""
        raise NotImplementedError

    def of_values(self, name: str, function: Callable[..., Any], node_name: str | None) -> Any:
        """Applies the element-wise op `name`, computed by `function`; NotImplemented for other ops."""
        return NotImplemented

    def fetched(self, values: Sequence[Any]) -> Any:
        """What fetching it gives, of the arrays that its parts give."""
        raise NotImplementedError

    def fed(self, value: Any) -> Sequence[Any]:
        """What feeding `value` feeds its parts with."""
        raise NotImplementedError


def is_nested(seq: Any, expand_composites: bool = False) -> bool:
    """Whether `seq` is a structure rather than a leaf."""
    return (
        isinstance(seq, (list, tuple, dict))
        or (isinstance(seq, (Sequence, Mapping, MappingView)) and not isinstance(seq, (str, bytes)))
        or attrs_fields(seq) is not None
        or (expand_composites and isinstance(seq, Composite))
    )


def attrs_fields(value: Any) -> list[str] | None:
    """The fields of an instance of a class that the package `attrs` made."""
    if isinstance(value, type):
        return None
    fields = getattr(value, "__attrs_attrs__", None)
    return None if fields is None else [field.name for field in fields]


def keys_in_order(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys in the order of their leaves; TypeError where they have none."""
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"nest only supports dicts with sortable keys, not {list(mapping)}") from None


def _keyed_children(value: Any) -> list[tuple[Any, Any]]:
    """(key, field or index; element) of a structure, in the order of leaves."""
    if isinstance(value, Mapping):
        return [(key, value[key]) for key in keys_in_order(value)]
    fields = getattr(value, "_fields", None) or attrs_fields(value)
    if fields is not None:
        return [(name, getattr(value, name)) for name in fields]
    return list(enumerate(value))


def _children(value: Any) -> list[Any]:
    return list(value.parts) if isinstance(value, Composite) else [child for _, child in _keyed_children(value)]


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
    """`flat_sequence` in the shape of `structure`; ValueError for another number of leaves, TypeError for no sequence."""
    if not is_nested(flat_sequence):
        raise TypeError(
            f"flat_sequence must be a sequence. Attempted to pack value:\n  {flat_sequence}\ninto a sequence, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    flat = list(flat_sequence)
    if not is_nested(structure, expand_composites) and len(flat) != 1:
        raise ValueError(
            f"Structure is a scalar but len(flat_sequence) == {len(flat)}: the target structure is of type "
            f"`{type(structure)}`\n  {structure}\nHowever the input is a sequence ({type(flat_sequence)}) of length "
            f"{len(flat)}.\n  {flat}\nnest cannot guarantee that it is safe to map one to the other."
        )
    count = len(flatten(structure, expand_composites))
    if count != len(flat):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(flat)} elements.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat), expand_composites)


def _pack(structure: Any, leaves: Iterator[Any], expand_composites: bool) -> Any:
    if not is_nested(structure, expand_composites):
        return next(leaves)
    return _like(structure, [_pack(child, leaves, expand_composites) for child in _children(structure)])


def _like(structure: Any, elements: Sequence[Any]) -> Any:
    """A structure of the same kind, keys or fields with these elements, in the order of leaves."""
    if isinstance(structure, Composite):
        return structure.with_parts(elements)
    if isinstance(structure, Mapping):
        by_key = dict(zip(keys_in_order(structure), elements, strict=True))
        ordered = [(key, by_key[key]) for key in structure]
        if isinstance(structure, defaultdict):
            return defaultdict(structure.default_factory, ordered)
        return type(structure)(ordered)  # type: ignore[call-arg]
    if hasattr(structure, "_fields") or attrs_fields(structure) is not None:
        return type(structure)(*elements)
    if isinstance(structure, (range, MappingView)):  # of which there are none with other elements
        return list(elements)
    return type(structure)(elements)


def map_structure(func: Callable[..., Any], *structures: Any, **options: Any) -> Any:
    """`func` applied leaf by leaf to structures of one shape. Options: `expand_composites`, `check_types`."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structures:
        raise ValueError("Must provide at least one structure")
    expand_composites, check_types = options.pop("expand_composites", False), options.pop("check_types", True)
    if options:
        raise ValueError(
            f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{', '.join(options)}`"
        )
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types, expand_composites)
    leaves = zip(*(flatten(structure, expand_composites) for structure in structures), strict=True)
    return pack_sequence_as(structures[0], [func(*each) for each in leaves], expand_composites)


# --- structures of one shape ------------------------------------------------------------------------------------------


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """ValueError when the nesting differs, TypeError when the container types do."""
    try:
        _compare(nest1, nest2, check_types, expand_composites)
    except (TypeError, ValueError) as error:
        first, second = _dots(nest1), _dots(nest2)
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
            f"More specifically: {error}\nEntire first structure:\n{first}\nEntire second structure:\n{second}"
        ) from None


def _compare(first: Any, second: Any, check_types: bool, expand_composites: bool) -> None:
    nested = is_nested(first, expand_composites), is_nested(second, expand_composites)
    if nested[0] != nested[1]:
        sequence, leaf = (first, second) if nested[0] else (second, first)
        raise ValueError(
            f'Substructure "{_described(sequence)}" is a sequence, while substructure "{_described(leaf)}" is not'
        )
    if not nested[0]:
        return
    if check_types and not same_kind(first, second):
        raise TypeError(
            "The two namedtuples don't have the same sequence type. First structure "
            f"{_described(first)} has type {type(first).__name__}, while second structure {_described(second)} has type "
            f"{type(second).__name__}"
        )
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_described(list(first))}, while second structure has keys {_described(list(second))}"
        )
    mine, theirs = _children(first), _children(second)
    for a, b in zip(mine, theirs, strict=False):
        _compare(a, b, check_types, expand_composites)
    if len(mine) != len(theirs):
        raise ValueError(
            f"The two structures don't have the same number of elements. First structure: {_described(first)}. Second "
            f"structure: {_described(second)}"
        )


def same_kind(first: Any, second: Any) -> bool:
    """Of one type; mappings are all alike, and named tuples of one name and fields."""
    if type(first) is type(second) or (isinstance(first, Mapping) and isinstance(second, Mapping)):
        return True
    fields = getattr(first, "_fields", None)
    return fields is not None and _name_and_fields(first) == _name_and_fields(second)


def _name_and_fields(value: Any) -> tuple[str, Any]:
    return type(value).__name__, getattr(value, "_fields", None)


def _described(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _dots(structure: Any) -> str:
    """The nesting alone, composites as leaves: a dot for each leaf."""

    def shown(value: Any) -> Any:
        if not is_nested(value):
            return _DOT
        parts = [(key, shown(part)) for key, part in _keyed_children(value)]
        if isinstance(value, Mapping):
            return dict(parts)
        return tuple(part for _, part in parts) if isinstance(value, tuple) else [part for _, part in parts]

    return str(shown(structure))


class _Dot:
    def __repr__(self) -> str:
        return "."


_DOT = _Dot()
