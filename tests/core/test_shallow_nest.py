"""Structures taken apart down to a shallower one's leaves."""

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
        ({"a": 0}, {"b": 1}, ValueError, "same keys"),
    ],
)
def test_refusals(shallow, deep, error, message):
    with pytest.raises(error, match=message):
        shallow_nest.assert_shallow_structure(shallow, deep)
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        shallow_nest.map_structure_up_to(shallow, len)
