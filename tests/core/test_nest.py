"""Nested structures: what is packed, and what is said of structures that are not of one shape."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from tfexp.core import nest


def test_packed_like_the_structure():
    Pair = namedtuple("Pair", "x y")
    structure = OrderedDict([("b", Pair(1, [2])), ("a", 3)])
    packed = nest.pack_sequence_as(structure, [30, 10, 20])
    assert packed == OrderedDict([("b", Pair(10, [20])), ("a", 30)]) and list(packed) == ["b", "a"]
    counts = nest.map_structure(lambda x: x + 1, defaultdict(int, {"a": 1}))
    assert counts == {"a": 2} and counts["new"] == 0


def test_records_are_structures_of_their_fields():
    class Record:
        __attrs_attrs__ = (namedtuple("Field", "name")("x"), namedtuple("Field", "name")("y"))

        def __init__(self, x, y):
            self.x, self.y = x, y

    doubled = nest.map_structure(lambda leaf: 2 * leaf, Record(1, [2]))
    assert (doubled.x, doubled.y) == (2, [4])


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (((1, 2), 3), ("spam", 3), ValueError, r'"type=tuple str=\(1, 2\)" is a sequence, while substructure "type=str'),
        (
            ((1, 2), 3),
            ("spam", 3),
            ValueError,
            r"nested structure\.\n\nFirst structure: type=tuple.*\n\nSecond structure: type",
        ),
        (
            ((1, 2), 3),
            ("spam", 3),
            ValueError,
            r"Entire first structure:\n\(\(\., \.\), \.\)\nEntire second structure:\n\(\., \.\)",
        ),
        ([1, 2], [1], ValueError, "same number of elements"),
        ([1, [2]], [1, (2,)], TypeError, "same sequence type.*has type list, while second.*has type tuple"),
        ({"a": 1}, {"b": 1}, ValueError, "same set of keys"),
    ],
)
def test_structures_of_several_shapes(first, second, error, message):
    with pytest.raises(error, match=message):
        nest.assert_same_structure(first, second)


def test_named_tuples_of_one_name_are_alike():
    nest.assert_same_structure(namedtuple("Pair", "x y")(1, 2), namedtuple("Pair", "x y")(3, 4))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nest.pack_sequence_as([1, 2], [1, 2, 3]), ValueError, "Structure had 2 elements, but flat_sequence had 3"),
        (lambda: nest.pack_sequence_as("scalar", [1, 2]), ValueError, "Structure is a scalar"),
        (lambda: nest.pack_sequence_as([1], "bad"), TypeError, "flat_sequence must be a sequence"),
        (lambda: nest.map_structure("no function", [1]), TypeError, "func must be callable"),
        (lambda: nest.map_structure(len), ValueError, "at least one structure"),
        (lambda: nest.map_structure(len, [1], typo=1), ValueError, "Only valid keyword arguments.*typo"),
        (lambda: nest.flatten({1: 1, "a": 2}), TypeError, "only supports dicts with sortable keys"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_composite_is_taken_apart_where_that_is_asked_for():
    class Pair(nest.Composite):
        def __init__(self, *parts):
            self._parts = parts

        @property
        def parts(self):
            return self._parts

        def with_parts(self, parts):
            return Pair(*parts)

    pair = Pair(1, 2)
    doubled = nest.map_structure(lambda x: 2 * x, [pair, 3], expand_composites=True)
    assert doubled[0].parts == (2, 4) and doubled[1] == 6
    assert nest.flatten([pair], expand_composites=True) == [1, 2] and nest.flatten([pair]) == [pair]


def test_ranges_and_views_of_dicts_are_structures():
    counts = {"b": 1, "a": 2}
    structure = [range(2), counts.values(), counts.items(), deque([3]), "text", b"bytes"]
    assert nest.flatten(structure) == [0, 1, 1, 2, "b", 1, "a", 2, 3, "text", b"bytes"]
    assert nest.map_structure(lambda x: x + 1, range(2)) == [1, 2]
    assert nest.map_structure(lambda x: x, counts.items()) == [("b", 1), ("a", 2)]
    assert nest.map_structure(lambda x: x + 1, deque([3])) == deque([4])
    with pytest.raises(TypeError, match="same sequence type"):
        nest.assert_same_structure(range(2), [0, 1])
