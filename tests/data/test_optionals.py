"""Values that may be missing, where ops run at once and between functions."""

import pytest

import tfexp as tf
from tfexp.data.experimental import Optional, get_next_as_optional
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins.modules import stand_for


@pytest.fixture(autouse=True)
def at_once():
    with eager_mode():
        yield


def test_values_of_each_kind():
    sparse, ragged = tf.sparse.from_dense([0, 7]), tf.ragged.constant([[1], [2, 3]])
    optional = Optional.from_value((37.0, {"s": sparse, "r": ragged}))
    assert optional.has_value()
    number, found = optional.get_value()
    assert number.numpy() == 37 and found["s"].values.numpy().tolist() == [7] and found["r"].to_list() == [[1], [2, 3]]


def test_values_that_are_missing():
    iterator = iter(tf.data.Dataset.range(5, 6))
    assert get_next_as_optional(iterator).get_value().numpy() == 5
    for nothing in (get_next_as_optional(iterator), Optional.none_from_structure(tf.TensorSpec([], tf.int64))):
        assert not nothing.has_value()
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
            nothing.get_value()


def test_a_variant_from_another_function():
    of_variant = stand_for("tensorflow.python.data.ops.optional_ops")._OptionalImpl
    variant = tf.function(lambda x: Optional.from_value(x)._variant_tensor)(tf.constant(2.0))
    taken = tf.function(lambda given: of_variant(given, tf.TensorSpec([], tf.float32)).get_value())(variant)
    assert taken.numpy() == 2.0
