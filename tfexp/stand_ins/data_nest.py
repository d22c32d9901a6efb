"""The structures of data sets' elements, as `tensorflow.python.data.util.nest` has them: a list is a leaf in them.

Source: TF 1.15. Unlike `tf.nest`'s, structures of one shape may have dicts of other keys where types are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tfexp.core.nest import children
from tfexp.data.structure import flatten, pack_as
from tfexp.data.structure import is_structure as is_sequence


def _yield_value(iterable: Any) -> Iterator[Any]:
    """The elements of a structure, in the order of leaves."""
    return (child for _, child in children(iterable))


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """`flat_sequence` in the form of `structure`; ValueError for another number of leaves, TypeError for no sequence."""
    if not (is_sequence(flat_sequence) or isinstance(flat_sequence, list)):
        raise TypeError("flat_sequence must be a sequence")
    if not is_sequence(structure) and len(flat_sequence) != 1:
        raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
    if (count := len(flatten(structure))) != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(flat_sequence)} "
            f"elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return pack_as(structure, flat_sequence)


def map_structure(func: Callable[..., Any], *structure: Any, **check_types_dict: Any) -> Any:
    """`func` applied leaf by leaf to structures of one shape. Option: `check_types`, True unless given."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = check_types_dict.pop("check_types", True)
    if check_types_dict:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    return pack_sequence_as(structure[0], [func(*each) for each in zip(*map(flatten, structure), strict=True)])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """ValueError when the nesting differs, TypeError when the container types do."""
    try:
        _compare(nest1, nest2, check_types)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\nMore specifically: {error}"
        ) from None


def _compare(first: Any, second: Any, check_types: bool) -> None:
    if is_sequence(first) != is_sequence(second):
        sequence, leaf = (first, second) if is_sequence(first) else (second, first)
        raise ValueError(
            f'Substructure "{_described(sequence)}" is a sequence, while substructure "{_described(leaf)}" is not'
        )
    if not is_sequence(first):
        return
    if check_types:
        _compare_types(first, second)
    mine, theirs = list(_yield_value(first)), list(_yield_value(second))
    if len(mine) != len(theirs):
        raise ValueError(
            f"The two structures don't have the same number of elements. First structure: {_described(first)}. Second "
            f"structure: {_described(second)}"
        )
    for one, other in zip(mine, theirs, strict=True):
        _compare(one, other, check_types)


def _compare_types(first: Any, second: Any) -> None:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        if set(first) != set(second):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_described(list(first))}, while second structure has keys {_described(list(second))}"
            )
    elif type(first) is not type(second):
        raise TypeError(
            f"The two namedtuples don't have the same sequence type. First structure {_described(first)} has type "
            f"{type(first).__name__}, while second structure {_described(second)} has type {type(second).__name__}"
        )


def _described(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


# --- shallower structures ---------------------------------------------------------------------------------------------


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """TypeError or ValueError unless `input_tree` has the nesting of `shallow_tree`, and perhaps more below."""
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
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
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(input_tree)}, while shallow structure has length {len(shallow_tree)}."
        )
    if check_types and isinstance(shallow_tree, Mapping) and set(shallow_tree) != set(input_tree):
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys {list(input_tree)}, while shallow "
            f"structure has keys {list(shallow_tree)}."
        )
    for one, other in zip(_yield_value(shallow_tree), _yield_value(input_tree), strict=True):
        assert_shallow_structure(one, other, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any) -> list[Any]:
    """What `input_tree` has where `shallow_tree` has leaves; checked by `assert_shallow_structure`."""
    assert_shallow_structure(shallow_tree, input_tree)
    return list(_yield_flat_up_to(shallow_tree, input_tree))


def _yield_flat_up_to(shallow_tree: Any, input_tree: Any) -> Iterator[Any]:
    if is_sequence(shallow_tree):
        for one, other in zip(_yield_value(shallow_tree), _yield_value(input_tree), strict=True):
            yield from _yield_flat_up_to(one, other)
    else:
        yield input_tree


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any) -> Any:
    """`func` of what the inputs have where `shallow_tree` has leaves, in its structure. ValueError without inputs."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    flat = [flatten_up_to(shallow_tree, tree) for tree in inputs]
    return pack_sequence_as(shallow_tree, [func(*each) for each in zip(*flat, strict=True)])
