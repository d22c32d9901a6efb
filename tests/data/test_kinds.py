"""Elements that are no plain tensors, and what functions, iterators and nodes refuse."""

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import elements, numbers


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_values_of_sparse_tensors_have_slices():
    value = tf.SparseTensorValue(np.int64([[0, 1], [2, 0]]), np.int32([7, 8]), np.int64([3, 2]))
    dense = tf.data.Dataset.from_tensor_slices(value).map(tf.sparse.to_dense)
    assert numbers(dense) == [[0, 7], [0, 0], [8, 0]]


def test_a_state_that_grows_is_one_of_unknown_size():
    grown = tf.data.Dataset.range(4).reduce(np.int64([9]), lambda state, i: tf.concat([state, [i]], 0))
    with tf.Session() as session:
        assert session.run(grown).tolist() == [9, 0, 1, 2, 3]
    assert grown.shape.as_list() == [None]
    with pytest.raises(TypeError, match="element types for the new state must match"):
        tf.data.Dataset.range(4).reduce(np.int64(0), lambda state, i: tf.cast(state, tf.int32))
    with pytest.raises(TypeError, match="element classes for the new state must match"):
        tf.data.Dataset.range(4).reduce(np.int64(0), lambda state, i: tf.SparseTensor([[0]], [i], [1]))


def test_what_cannot_be_padded_is_said():
    numbers_ = tf.data.Dataset.range(3)
    with pytest.raises(TypeError, match="is not currently supported"):
        numbers_.map(lambda i: tf.SparseTensor([[0]], [i], [3])).padded_batch(2, [3])
    vectors = tf.data.Dataset.from_tensors([1, 2])
    with pytest.raises(ValueError, match=r"must be a 1-D tensor of tf.int64 values, but its shape was \(1, 1\)"):
        vectors.padded_batch(2, tf.constant([[1]], tf.int64))
    with pytest.raises(TypeError, match="but its element type was float32"):
        vectors.padded_batch(2, tf.constant([1.0]))


def test_functions_use_resources_of_the_graph_around_them():
    counter = tf.get_variable("counter", (), tf.int64, tf.zeros_initializer(), use_resource=True)
    queue = tf.FIFOQueue(3, tf.int64, [])
    words = tf.data.Dataset.from_tensor_slices(["b", "c"])
    counted = words.map(lambda word: (word, counter.assign_add(1), queue.dequeue()))
    with tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(counted)
        session.run([counter.initializer, queue.enqueue_many([[5, 6]]), iterator.initializer])
        element = iterator.get_next()
        assert [session.run(element) for _ in range(2)] == [(b"b", 1, 5), (b"c", 2, 6)]
        assert session.run(counter) == 2


def test_one_shot_iterators_read_files_and_have_no_variables(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    names = tf.data.Dataset.list_files(str(tmp_path / "*.txt"))
    texts = tf.data.Dataset.from_tensors(tf.io.read_file(str(tmp_path / "a.txt")))
    element = [tf.data.make_one_shot_iterator(dataset).get_next() for dataset in (names, texts)]
    with tf.Session() as session:
        assert session.run(element) == [str(tmp_path / "a.txt").encode(), b"text"]
    with pytest.raises(ValueError, match=r"`Dataset.make_one_shot_iterator\(\)` does not support .*Variable"):
        tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(tf.Variable(1.0)))


def test_handles_and_initializers_of_other_elements():
    handle = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).string_handle()
    fed = tf.placeholder(tf.string, [])
    other = tf.data.Iterator.from_string_handle(fed, tf.int64, [None]).get_next()
    message = r"at component 0: expected \(\?,\) but got \(\)"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(other, {fed: session.run(handle)})
    iterator = tf.data.Iterator.from_structure((tf.int64, tf.int64))
    with pytest.raises(ValueError, match="structure"):
        iterator.make_initializer(tf.data.Dataset.range(3))


def test_records_of_another_length_are_refused_before_the_first(tmp_path):
    (tmp_path / "records").write_bytes(b"HHaabbccFF")
    for sizes, message in (({"record_bytes": 3}, "body length 10"), ({"record_bytes": 2, "header_bytes": 12}, "length -2")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            elements(tf.data.FixedLengthRecordDataset(str(tmp_path / "records"), **sizes), limit=1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cycle_length": 0}, "`cycle_length` must be > 0"),
        ({"cycle_length": 1, "block_length": 0}, "`block_length` must be > 0"),
        ({"cycle_length": 1, "buffer_output_elements": 0}, "`buffer_output_elements` must be > 0"),
        ({"cycle_length": 1, "prefetch_input_elements": -1}, "`prefetch_input_elements` must be >= 0"),
    ],
)
def test_numbers_of_a_parallel_interleave(wrong, message):
    made = tf.data.experimental.parallel_interleave(lambda i: tf.data.Dataset.range(i), **wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        elements(tf.data.Dataset.range(3).apply(made))
