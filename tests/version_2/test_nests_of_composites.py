"""Structures with values made of several tensors in them, these taken apart as well: `tf.nest`, and the paths to leaves.

Expectations are TF 1.15.0's.
"""

import pytest

import tfexp as tf
from tfexp.core import nest, shallow_nest


class PairSpec(tf.TypeSpec):
    def __init__(self, parts, unit=None):
        self._given = parts, unit

    value_type = property(lambda self: Pair)
    _component_specs = property(lambda self: self._given[0])

    def _serialize(self):
        return self._given

    def _to_components(self, value):
        return value.held

    def _from_components(self, components):
        return Pair(components, self._given[1])


class Pair(nest.Composite):
    """Any structure, and a unit that its spec keeps."""

    def __init__(self, held, unit=None):
        self.held, self.unit = held, unit

    @property
    def _type_spec(self):
        return PairSpec(nest.map_structure(lambda leaf: tf.TensorSpec([], tf.constant(leaf).dtype), self.held), self.unit)

    def __repr__(self):
        return f"Pair({self.held}, {self.unit})"


def test_their_components_are_any_structure():
    structure = [Pair(2, "m"), {"k": Pair({"x": 3, "y": (4, 5)})}]
    assert tf.nest.flatten(structure, expand_composites=True) == [2, 3, 4, 5]
    doubled = tf.nest.map_structure(lambda leaf: leaf * 2, structure, expand_composites=True)
    assert str(doubled) == "[Pair(4, m), {'k': Pair({'x': 6, 'y': (8, 10)}, None)}]"
    assert Pair((1, 2)).parts == (1, 2) and Pair(1).with_parts([3]).held == 3


def test_the_class_of_the_value_is_a_step_of_the_path():
    structure = [Pair(2), Pair(({"x": 3}, 4))]
    paths = shallow_nest.flatten_with_joined_string_paths(structure, expand_composites=True)
    assert paths == [("0/Pair", 2), ("1/Pair/0/x", 3), ("1/Pair/1", 4)]
    named = shallow_nest.map_structure_with_paths(lambda path, leaf: path, structure, expand_composites=True)
    assert str(named) == "[Pair(0/Pair, None), Pair(({'x': '1/Pair/0/x'}, '1/Pair/1'), None)]"
    sparse = tf.sparse.from_dense([0, 7])
    assert list(shallow_nest.yield_flat_paths(sparse, True)) == [("SparseTensor", i) for i in range(3)]


@pytest.mark.parametrize("second", [Pair(3), Pair((2,), "m"), Pair(2.0, "m")], ids=str)
def test_values_of_specs_that_nothing_fits_differ(second):
    first = Pair(2, "m")
    with pytest.raises(ValueError, match=r"Incompatible CompositeTensor TypeSpecs: type=PairSpec str=.* vs\. type="):
        tf.nest.assert_same_structure(first, second, expand_composites=True)
    with pytest.raises(ValueError, match=r"Incompatible CompositeTensor TypeSpecs: .* -- Types are not compatible"):
        shallow_nest.assert_shallow_structure(first, second, expand_composites=True)
    tf.nest.assert_same_structure(first, second)


def test_composites_and_plain_structures_differ():
    for check_types, kind in ((True, TypeError), (False, ValueError)):
        with pytest.raises(kind, match="don't have the same nested structure"):
            tf.nest.assert_same_structure(Pair((2,)), (2,), check_types=check_types, expand_composites=True)
        with pytest.raises(TypeError, match=r"same sequence type\. Input structure has type <class 'tuple'>"):
            shallow_nest.assert_shallow_structure(Pair((2,)), (2,), check_types, expand_composites=True)


def test_a_value_is_of_the_structure_of_its_spec():
    sparse, ragged = tf.sparse.from_dense([0, 7]), tf.ragged.constant([[[1], []], [[2, 3]]])
    specs = [sparse._type_spec, ragged._type_spec]
    tf.nest.assert_same_structure([sparse, ragged], specs, expand_composites=True)
    tf.nest.assert_same_structure(sparse, tf.SparseTensorSpec([9], tf.int32), expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        tf.nest.assert_same_structure(sparse, tf.SparseTensorSpec([2], tf.float32), expand_composites=True)
    parts = tf.nest.flatten(specs, expand_composites=True)
    assert [spec.dtype for spec in parts] == [tf.int64, tf.int32, tf.int64, tf.int32, tf.int64, tf.int64]
    assert tf.nest.flatten(specs[0]) == [specs[0]] and tf.nest.flatten(parts[0], True) == [parts[0]]
    assert isinstance(tf.nest.pack_sequence_as(specs[0], sparse.parts, True), tf.SparseTensor)
