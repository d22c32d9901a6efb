"""Specs of values: what fits them, what two of them have in common, what values are made of."""

import pytest

import tfexp as tf
from tfexp.graph.specs_of_values import type_spec_from_value

PAIRS = {
    "tensor": (tf.TensorSpec([2, None], name="a"), tf.TensorSpec([3, None]), tf.TensorSpec([None, None])),
    "sparse": (tf.SparseTensorSpec([2, 5]), tf.SparseTensorSpec([3, 5]), tf.SparseTensorSpec([None, 5])),
    "ragged": (tf.RaggedTensorSpec([2, None]), tf.RaggedTensorSpec([3, None]), tf.RaggedTensorSpec([None, None])),
    "slices": (tf.IndexedSlicesSpec([3, 2]), tf.IndexedSlicesSpec([5, 2]), tf.IndexedSlicesSpec([None, 2])),
    "data set": (
        tf.data.DatasetSpec(tf.TensorSpec([2])),
        tf.data.DatasetSpec(tf.TensorSpec([3])),
        tf.data.DatasetSpec(tf.TensorSpec([None])),
    ),
    "optional": (
        tf.OptionalSpec({"a": tf.TensorSpec([2])}),
        tf.OptionalSpec({"a": tf.TensorSpec([3])}),
        tf.OptionalSpec({"a": tf.TensorSpec([None])}),
    ),
}


@pytest.mark.parametrize(("one", "other", "common"), PAIRS.values(), ids=PAIRS)
def test_what_two_specs_have_in_common(one, other, common):
    assert one.most_specific_compatible_type(other) == common == other.most_specific_compatible_type(one)
    assert common.is_compatible_with(one) and not one.is_compatible_with(other)
    with pytest.raises(ValueError, match="ompatible"):
        one.most_specific_compatible_type(tf.TensorArraySpec([2]))


def test_specs_of_values_and_values_of_components():
    with tf.Graph().as_default():
        values = {
            tf.SparseTensor([[0, 1]], [1.5], [2, 3]): tf.SparseTensorSpec([2, 3]),
            tf.ragged.constant([[1], [2, 3]]): tf.RaggedTensorSpec([2, None], tf.int32),
            tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 1])): tf.IndexedSlicesSpec([None, 3], indices_dtype=tf.int32),
            tf.data.Dataset.range(3): tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)),
            tf.constant([1, 2]): tf.TensorSpec([2], tf.int32),
        }
        for value, spec in values.items():
            found = type_spec_from_value(value)
            assert found.is_compatible_with(spec) and found.is_compatible_with(value) and type(found) is type(spec)
            assert isinstance(value, found.value_type)
            again = found._from_components(found._to_components(value))
            assert type(again) is type(value) and type_spec_from_value(again) == found
        assert type_spec_from_value([1, 2]) == tf.TensorSpec([2], tf.int32)
        assert tf.TensorArraySpec.from_value(tf.TensorArray(tf.int32, 2)) == tf.TensorArraySpec(None, tf.int32)
        assert type_spec_from_value(tf.SparseTensorValue([[0]], [1], [2])) == tf.SparseTensorSpec([2], tf.int32)
        assert type_spec_from_value(tf.ragged.constant_value([[1], [2, 3]])).ragged_rank == 1
        with pytest.raises(TypeError, match="Could not build a TypeSpec"):
            type_spec_from_value(object())


def test_components_are_described():
    assert tf.SparseTensorSpec([2, None], tf.int32)._component_specs == [
        tf.TensorSpec([None, 2], tf.int64),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([2], tf.int64),
    ]
    assert tf.RaggedTensorSpec([2, None, None, 5])._component_specs == [
        tf.TensorSpec([None]),
        tf.TensorSpec([3], tf.int64),
        tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([None], tf.int64),
    ]
    assert tf.RaggedTensorSpec([2, None, 5], ragged_rank=1)._component_specs[0] == tf.TensorSpec([None, 5])
    assert tf.SparseTensorSpec([2])._flat_tensor_specs == [tf.TensorSpec(None, tf.variant)]
    with pytest.raises(ValueError, match="less than rank"):
        tf.RaggedTensorSpec([2, 3], ragged_rank=2)


def test_batches():
    for spec in (tf.TensorSpec([2]), tf.SparseTensorSpec([2]), tf.RaggedTensorSpec([2, None])):
        assert spec._batch(5).shape[0].value == 5 and spec._batch(5)._unbatch() == spec
    data = tf.data.DatasetSpec(tf.TensorSpec([2]))
    assert data._batch(5)._unbatch() == data
    with pytest.raises(ValueError, match="rank >= 1"):
        data._unbatch()


def test_sizes_come_as_a_tuple():
    assert tf.zeros([2, 3])._shape_tuple() == (2, 3) and tf.zeros([])._shape_tuple() == ()
    assert tf.placeholder(tf.float32)._shape_tuple() is None
    assert tf.placeholder(tf.float32, [None, 2])._shape_tuple() == (None, 2)
