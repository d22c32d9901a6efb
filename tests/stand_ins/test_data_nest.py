"""The module that programs know as `tensorflow.python.data.util.nest`. Expectations are TF 1.15.0's."""

from collections import OrderedDict, namedtuple

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

nest = stand_for("tensorflow.python.data.util.nest")
P = namedtuple("P", "x y")
SPARSE = tf.SparseTensorValue([[0]], [1.0], [2])


def pair(*leaves):
    return leaves


def test_lists_and_sparse_values_are_leaves():
    assert nest.flatten({"b": [1, 2], "a": (2, SPARSE)}) == [2, SPARSE, [1, 2]]
    assert nest.map_structure(pair, (1, SPARSE), (3, [4])) == ((1, 3), (SPARSE, [4]))
    assert not nest.is_sequence([1]) and not nest.is_sequence(SPARSE)


@pytest.mark.parametrize(
    ("first", "second", "kind", "text"),
    [
        (
            (1, 2),
            [3, 4],
            ValueError,
            r'"type=tuple str=\(1, 2\)" is a sequence, while substructure "type=list str=\[3, 4\]"',
        ),
        (
            (1, 2),
            (3, (4,)),
            ValueError,
            r'str=\(4,\)" is a sequence, while substructure "type=int str=2" is not',
        ),
        ((1, 2), (3, 4, 5), ValueError, "don't have the same number of elements"),
        ((1, 2), P(3, 4), TypeError, "has type tuple, while second structure type=P"),
        ({"a": 1, "b": 2}, (1, 2), TypeError, "has type dict, while second structure type=tuple"),
        ({"a": 1}, {"b": 1}, ValueError, "don't have the same set of keys"),
    ],
)
def test_structures_that_differ(first, second, kind, text):
    with pytest.raises(kind, match=f"(?s)First structure: .*More specifically: .*{text}"):
        nest.assert_same_structure(first, second)
    with pytest.raises(kind, match=text):
        nest.map_structure(pair, first, second)


def test_types_may_differ_where_they_are_not_checked():
    nest.assert_same_structure({"a": 1}, OrderedDict(a=2))
    nest.assert_same_structure({"a": 1}, {"b": 1}, check_types=False)
    assert nest.map_structure(pair, P(1, 2), {"a": 3, "b": 4}, check_types=False) == P((1, 3), (2, 4))


@pytest.mark.parametrize(
    ("function", "arguments", "options", "kind", "text"),
    [
        ("map_structure", (pair, (1,)), {"strict": True}, ValueError, "Only valid keyword argument is check_types"),
        ("map_structure", (pair,), {}, ValueError, "Must provide at least one structure"),
        ("map_structure", (1, (2,)), {}, TypeError, "func must be callable, got: 1"),
        ("map_structure_up_to", ((1, 2), pair), {}, ValueError, "Cannot map over no sequences"),
        ("pack_sequence_as", ((1, 2), (3,)), {}, ValueError, "Structure had 2 elements, but flat_sequence had 1 elements"),
        ("pack_sequence_as", ((1, 2), 3), {}, TypeError, "flat_sequence must be a sequence"),
        ("pack_sequence_as", (1, (3, 4)), {}, ValueError, r"Structure is a scalar but len\(flat_sequence\) == 2 > 1"),
        (
            "flatten_up_to",
            ((1, 2), (3,)),
            {},
            ValueError,
            "has length 1, while shallow structure has length 2",
        ),
        ("flatten_up_to", ((1, (2,)), (3, 4)), {}, TypeError, "Input has type: <class 'int'>"),
        ("flatten_up_to", ((1, 2), {"a": 3, "b": 4}), {}, TypeError, "Input structure has type <class 'dict'>"),
        ("assert_shallow_structure", ({"a": 1}, {"b": 1}), {}, ValueError, r"has keys \['b'\], while shallow .* \['a'\]"),
    ],
)
def test_refusals(function, arguments, options, kind, text):
    with pytest.raises(kind, match=text):
        getattr(nest, function)(*arguments, **options)


def test_down_to_the_leaves_of_a_shallower_structure():
    assert nest.map_structure_up_to((1, 2), pair, (3, (4, 5)), (5, 6)) == ((3, 5), ((4, 5), 6))
    assert nest.flatten_up_to({"a": 1, "b": (2,)}, {"b": ((6,),), "a": (7,)}) == [(7,), (6,)]
    nest.assert_shallow_structure({"a": 1}, (1,), False)
