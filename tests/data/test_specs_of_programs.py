"""What a program's own classes, tensors that never change and traced functions are to data sets."""

from collections import namedtuple

import pytest

import tfexp as tf
from tests.data.running import elements, numbers
from tfexp.runtime.eager import eager_mode

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


class Example:
    """A class such as the package `attrs` makes."""

    __attrs_attrs__ = (namedtuple("Field", "name")("label"), namedtuple("Field", "name")("image"))

    def __init__(self, label, image):
        self.label, self.image = label, image


def test_elements_are_of_a_class_of_attrs():
    data = Data.range(3).map(lambda i: (i, -i)).map(Example).map(lambda e: Example(e.label, 2 * e.image))
    assert isinstance(data.output_types, Example)
    assert [(int(e.label), int(e.image)) for e in elements(data)] == [(0, 0), (1, -2), (2, -4)]


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


def test_traced_functions_give_data_sets_and_optionals():
    with eager_mode():
        assert [int(n) for n in tf.function(lambda: Data.range(3).map(tf.square))()] == [0, 1, 4]
        given = tf.function(lambda x: tf.data.experimental.Optional.from_value(x + 1))(3)
        assert int(tf.function(lambda optional: optional.get_value() + 5)(given)) == 9


def test_specs_name_their_values():
    spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    assert spec.value_type is tf.data.Dataset
    assert spec.is_compatible_with(Data.range(3))
    assert not spec.is_compatible_with(Data.from_tensors(1.0))
    with eager_mode():
        assert iter(Data.range(3)).element_spec == tf.TensorSpec([], tf.int64)


def test_tables_made_in_a_function_are_warned_of():
    def found(i):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [3]), -1)
        return table.lookup(tf.as_string(i))

    with pytest.warns(UserWarning, match="Creating resources inside a function passed to Dataset.map.. is not supported"):
        Data.range(3).map(found)


def test_options_name_the_rewritings_that_they_ask_for():
    options = tf.data.Options()
    assert sorted(options._static_optimizations()) == [
        "map_and_batch_fusion",
        "noop_elimination",
        "shuffle_and_repeat_fusion",
    ]
    wanted = options.experimental_optimization
    wanted.apply_default_optimizations, wanted.map_fusion, wanted.autotune_buffers = False, True, True
    wanted.map_vectorization.enabled = wanted.map_vectorization.use_choose_fastest = True
    options.experimental_slack, options.experimental_deterministic = True, False
    assert options._static_optimizations() == ["map_fusion", "inject_prefetch", "map_vectorization", "slack", "make_sloppy"]
    configs = ["map_vectorization:use_choose_fastest:true", "slack:slack_period:1"]
    assert options._static_optimization_configs() == configs
    wanted.autotune, wanted.map_fusion = False, False
    assert options._static_optimizations() == ["map_vectorization", "slack", "make_sloppy"]
