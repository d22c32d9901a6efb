"""Arguments of data sets: lengths that are tensors, numbers of calls and times that are refused."""

import pytest

import tfexp as tf
from tests.data.running import numbers

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_lengths_that_never_change_are_known():
    assert Data.range(4).batch(tf.constant(2, tf.int64), tf.constant(True)).output_shapes.as_list() == [2]
    assert Data.range(4).batch(2, tf.constant(False)).output_shapes.as_list() == [None]
    padded = Data.range(4).map(lambda i: tf.fill([i], i)).padded_batch(2, tf.constant([7], tf.int64))
    assert padded.output_shapes.as_list() == [None, 7]
    with pytest.raises(ValueError, match="not compatible with the corresponding input component shape"):
        Data.range(4).padded_batch(2, tf.constant([7], tf.int64))


def test_data_sets_of_other_structures_are_not_joined():
    with pytest.raises(TypeError, match="have different types"):
        Data.from_tensors((1, 2)).concatenate(Data.from_tensors((1, (2, 3))))


@pytest.mark.parametrize("calls", [0, -2, 3])
def test_calls_of_an_interleave(calls):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"num_parallel_calls must (be greater|less)"):
        numbers(Data.range(3).interleave(Data.from_tensors, 2, num_parallel_calls=calls))


@pytest.mark.parametrize("times", [0, -2])
def test_times_of_what_is_shuffled_and_repeated(times):
    with pytest.raises(tf.errors.InvalidArgumentError, match="count must be greater than zero"):
        numbers(Data.range(3).apply(tf.data.experimental.shuffle_and_repeat(2, times)))
