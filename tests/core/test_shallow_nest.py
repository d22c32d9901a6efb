"""Structures taken apart down to a shallower one's leaves, and their paths."""

from collections import namedtuple

import pytest

from tfexp.core import shallow_nest


def test_taken_apart():
    shallow, deep = {"b": 0, "a": [0, 0]}, {"a": [1, (2, 3)], "b": [4]}
    assert shallow_nest.flatten_up_to(shallow, deep) == [1, (2, 3), [4]]
    assert shallow_nest.map_structure_up_to([0, 0], lambda x, y: (x, y), [1, [2]], [3, 4]) == [(1, 3), ([2], 4)]
    paths = shallow_nest.flatten_with_joined_string_paths(deep)
    assert paths == [("a/0", 1), ("a/1/0", 2), ("a/1/1", 3), ("b/0", 4)]
    assert shallow_nest.is_sequence([]) and not shallow_nest.is_sequence("text")


@pytest.mark.parametrize(
    ("shallow", "deep", "error", "message"),
    [
        ([0], 1, TypeError, "input must also be a sequence"),
        ([0], (1,), TypeError, "same sequence type"),
        ([0], [1, 2], ValueError, "same sequence length"),
        ({"a": 0}, {"b": 1}, ValueError, "not a subset of the input_tree's keys.*\\['a'\\]"),
    ],
)
def test_refusals(shallow, deep, error, message):
    with pytest.raises(error, match=message):
        shallow_nest.assert_shallow_structure(shallow, deep)
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        shallow_nest.map_structure_up_to(shallow, len)


def test_paths():
    Pair = namedtuple("Pair", "x y")
    assert shallow_nest.flatten_with_tuple_paths(Pair([1], 2)) == [(("x", 0), 1), (("y",), 2)]
    assert shallow_nest.flatten_with_tuple_paths_up_to({"a": 0}, {"a": [1, 2]}) == [(("a",), [1, 2])]
    mapped = shallow_nest.map_structure_with_paths(lambda path, *leaves: (path, *leaves), {"a": [1, 2]}, {"a": [3, 4]})
    assert mapped == {"a": [("a/0", 1, 3), ("a/1", 2, 4)]}
    assert shallow_nest.map_structure_with_tuple_paths(lambda path, leaf: path, Pair(1, 2)) == Pair(("x",), ("y",))


def test_how_deep_to_go():
    structure = [[(1, 2)], 3]
    assert shallow_nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), structure) == [[False], True]
    with pytest.raises(TypeError, match="non-bool scalar: a"):
        shallow_nest.get_traverse_shallow_structure(lambda s: "a", structure)
    with pytest.raises(TypeError, match="depth=1 structure of bools"):
        shallow_nest.get_traverse_shallow_structure(lambda s: [0, 1], structure)


def test_dictionaries_of_structures():
    assert shallow_nest.flatten_dict_items({(4, 5, (6, 8)): ("a", "b", ("c", "d"))}) == {4: "a", 5: "b", 6: "c", 8: "d"}
    for bad, error, message in (
        ([], TypeError, "input must be a dictionary"),
        ({(1, 2): 3}, ValueError, "Key had 2 elements, but value had 1 elements"),
        ({1: 1, (1,): (2,)}, ValueError, "not unique"),
    ):
        with pytest.raises(error, match=message):
            shallow_nest.flatten_dict_items(bad)


def test_further_elements_where_lengths_are_not_checked():
    shallow, deep = {"b": 0, "d": (0, 0)}, {"a": 1, "b": [2], "d": (3, 4, 5)}
    assert shallow_nest.flatten_up_to(shallow, deep, check_subtrees_length=False) == [[2], 3, 4]
    paths = shallow_nest.flatten_with_tuple_paths_up_to(shallow, deep, check_subtrees_length=False)
    assert paths == [(("b",), [2]), (("d", 0), 3), (("d", 1), 4)]
    doubled = shallow_nest.map_structure_up_to(shallow, lambda leaf: leaf * 2, deep, check_subtrees_length=False)
    assert doubled == {"b": [2, 2], "d": (6, 8)}
    with pytest.raises(ValueError, match="same sequence length"):
        shallow_nest.assert_shallow_structure(shallow, deep)
    with pytest.raises(ValueError, match="fewer elements"):
        shallow_nest.assert_shallow_structure([0, 0], [1], check_subtrees_length=False)
    with pytest.raises(ValueError, match="not a subset"):
        shallow_nest.assert_shallow_structure({"c": 0}, deep, check_subtrees_length=False)
