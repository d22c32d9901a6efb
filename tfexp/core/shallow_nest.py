"""Structures by their paths, and taken apart down to the leaves of a shallower one.

Source: `tensorflow.python.util.nest`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tfexp.core.nest import (
    assert_same_structure,
    children,
    common_spec,
    flatten,
    is_expandable,
    is_nested,
    like,
    pack_sequence_as,
    same_kind,
)

is_sequence = is_nested

STRUCTURES_HAVE_MISMATCHING_LENGTHS = (
    "The two structures don't have the same sequence length. Input structure has length {input_length}, while shallow "
    "structure has length {shallow_length}."
)
STRUCTURES_HAVE_MISMATCHING_TYPES = (
    "The two structures don't have the same sequence type. Input structure has type {input_type}, while shallow structure "
    "has type {shallow_type}."
)
SHALLOW_TREE_HAS_INVALID_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following keys that are "
    "not in the input_tree: {}."
)
INPUT_TREE_SMALLER_THAN_SHALLOW_TREE = (
    "The input_tree has fewer elements than the shallow_tree. Input structure has length {input_size}, while shallow "
    "structure has length {shallow_size}."
)
IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "If shallow structure is a sequence, input must also be a sequence. Input has type: {}."
)


def is_sequence_or_composite(value: Any) -> bool:
    """Whether it is a structure, or a value made of several tensors."""
    return is_nested(value, expand_composites=True)


def _yield_value(iterable: Any) -> Iterator[Any]:
    """The elements of a structure, in the order of leaves."""
    return (child for _, child in children(iterable))


# --- shallower structures ---------------------------------------------------------------------------------------------


def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """TypeError or ValueError unless `input_tree` has the nesting of `shallow_tree`, and perhaps more below.

    Without `check_subtrees_length` it may also have more beside: further elements, other keys.
    """
    if not is_nested(shallow_tree, expand_composites):
        return
    if not is_nested(input_tree, expand_composites):
        raise TypeError(IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(input_tree)))
    expanded = is_expandable(shallow_tree), is_expandable(input_tree)
    if all(expanded):
        common_spec(shallow_tree, input_tree)
    elif any(expanded) or (check_types and not same_kind(shallow_tree, input_tree)):
        raise TypeError(
            STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(input_tree), shallow_type=type(shallow_tree))
        )
    shallow, deep = dict(children(shallow_tree)), dict(children(input_tree))
    if check_subtrees_length and len(shallow) != len(deep):
        raise ValueError(STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=len(deep), shallow_length=len(shallow)))
    if len(shallow) > len(deep):
        raise ValueError(INPUT_TREE_SMALLER_THAN_SHALLOW_TREE.format(input_size=len(deep), shallow_size=len(shallow)))
    if isinstance(shallow_tree, Mapping) and (unknown := set(shallow) - set(deep)):
        raise ValueError(SHALLOW_TREE_HAS_INVALID_KEYS.format(sorted(unknown)))
    for _, one, other in _children_of_both(shallow_tree, input_tree):
        assert_shallow_structure(one, other, check_types, expand_composites, check_subtrees_length)


def _children_of_both(shallow: Any, deep: Any) -> Iterator[tuple[Any, Any, Any]]:
    """(key or index, element of `shallow`, what `deep` has there): of mappings by their keys, else in order."""
    if isinstance(shallow, Mapping) and isinstance(deep, Mapping):
        return ((key, one, deep[key]) for key, one in children(shallow))
    # There may be more in `deep`.
    return ((key, one, other) for (key, one), (_, other) in zip(children(shallow), children(deep), strict=False))


def _pairs_up_to(
    shallow: Any, deep: Any, expand_composites: bool = False, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """(path, what `deep` has there) for each leaf of `shallow`."""
    if not is_nested(shallow, expand_composites):
        yield path, deep
        return
    for key, one, other in _children_of_both(shallow, deep):
        yield from _pairs_up_to(one, other, expand_composites, (*path, key))


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[tuple[tuple[Any, ...], Any]]:
    """(path, what `input_tree` has there) for each leaf of `shallow_tree`; checked by `assert_shallow_structure`."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(_pairs_up_to(shallow_tree, input_tree, expand_composites))


def flatten_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """What `input_tree` has where `shallow_tree` has leaves; checked by `assert_shallow_structure`."""
    checks = check_types, expand_composites, check_subtrees_length
    return [leaf for _, leaf in flatten_with_tuple_paths_up_to(shallow_tree, input_tree, *checks)]


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    """`func` of what the inputs have where `shallow_tree` has leaves, in its structure. ValueError without inputs."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *leaves: func(*leaves), *inputs, **options)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any,
    func: Callable[..., Any],
    *inputs: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> Any:
    """As `map_structure_up_to`; `func` gets the leaf's path, a tuple, before what the inputs have there."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    checks = check_types, expand_composites, check_subtrees_length
    flat = [flatten_up_to(shallow_tree, tree, *checks) for tree in inputs]
    results = [
        func(path, *leaves) for path, *leaves in zip(yield_flat_paths(shallow_tree, expand_composites), *flat, strict=True)
    ]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The shallow structure, of booleans, that `structure` is to be flattened up to.

    `traverse_fn` says of a substructure whether to go into it: a bool, or one for each of its elements. TypeError for
    anything else.
    """
    wanted = traverse_fn(structure)
    if not is_nested(structure, expand_composites):
        if not isinstance(wanted, bool):
            raise TypeError(f"traverse_fn returned structure: {wanted} for non-structure: {structure}")
        return wanted
    elements = list(_yield_value(structure))
    if isinstance(wanted, bool):
        if not wanted:
            return False
        return like(structure, [get_traverse_shallow_structure(traverse_fn, one, expand_composites) for one in elements])
    if not is_nested(wanted):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {wanted} for input: {structure}")
    assert_shallow_structure(wanted, structure)
    chosen = []
    for choice, one in zip(_yield_value(wanted), elements, strict=True):
        if not isinstance(choice, bool):
            raise TypeError(f"traverse_fn didn't return a depth=1 structure of bools: {wanted} for input: {structure}")
        chosen.append(choice and get_traverse_shallow_structure(traverse_fn, one, expand_composites))
    return like(structure, chosen)


# --- paths ------------------------------------------------------------------------------------------------------------


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """For each leaf, the keys and indices on the way to it."""
    return (path for path, _ in _pairs_up_to(nest, nest, expand_composites))


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[tuple[Any, ...], Any]]:
    """(path, leaf) for each leaf."""
    return list(_pairs_up_to(structure, structure, expand_composites))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """(path as a text, leaf) for each leaf."""
    return [(separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure, expand_composites)]


def map_structure_with_tuple_paths(func: Callable[..., Any], *structures: Any, **options: Any) -> Any:
    """`func(path, *leaves)` for each leaf of structures of one shape, in that shape. Options: `check_types`, …"""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structures:
        raise ValueError("Must provide at least one structure")
    for other in structures[1:]:
        assert_same_structure(structures[0], other, **options)
    return map_structure_with_tuple_paths_up_to(structures[0], func, *structures, **options)


def map_structure_with_paths(func: Callable[..., Any], *structures: Any, **options: Any) -> Any:
    """As `map_structure_with_tuple_paths`, with the path as a text: `a/0`."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves: func("/".join(map(str, path)), *leaves), *structures, **options
    )


# --- dictionaries -----------------------------------------------------------------------------------------------------


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """{leaf of a key: leaf of its value}; keys and values have one structure. TypeError and ValueError otherwise."""
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        pairs = [(key, value)]
        if is_nested(key):
            keys, values = flatten(key), flatten(value)
            if len(keys) != len(values):
                raise ValueError(
                    f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements. "
                    f"Key: {keys}, value: {values}."
                )
            pairs = list(zip(keys, values, strict=True))
        for one, leaf in pairs:
            if one in flat:
                raise ValueError(f"Could not flatten dictionary: this key is not unique: {one}")
            flat[one] = leaf
    return flat
