"""Transformations of `tf.contrib.data` that `tf.data.experimental` did not take over; values are TF 1.15's."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import elements, numbers
from tfexp.formats.tfrecord import TFRecordWriter

Data = tf.data.Dataset
contrib = tf.contrib.data


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"window_size": 3}, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]]),
        ({"window_size": 3, "stride": 2}, [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
        ({"window_size": 2, "window_shift": 3, "window_stride": 2}, [[0, 2], [3, 5]]),
        ({"window_size": 20}, []),
    ],
)
def test_windows_slide(settings, expected):
    data = Data.range(7).apply(contrib.sliding_window_batch(**settings))
    assert data.output_shapes.as_list() == [None]
    assert numbers(data) == expected


def test_windows_of_structures_slide():
    pairs = Data.zip({"a": Data.range(3), "b": Data.range(3).map(tf.negative)}).apply(contrib.sliding_window_batch(2))
    assert [(one["a"].tolist(), one["b"].tolist()) for one in elements(pairs)] == [([0, 1], [0, -1]), ([1, 2], [-1, -2])]


def test_windows_that_cannot_be():
    with pytest.raises(ValueError, match="both `stride` and `window_shift`"):
        contrib.sliding_window_batch(2, stride=1, window_shift=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Window size must be greater than zero"):
        numbers(Data.range(7).apply(contrib.sliding_window_batch(0)))


def test_what_remains_of_batches_is_dropped():
    data = Data.range(7).apply(contrib.batch_and_drop_remainder(3))
    assert data.output_shapes.as_list() == [3] and numbers(data) == [[0, 1, 2], [3, 4, 5]]
    data = Data.range(4).map(lambda i: tf.fill([i], i)).apply(contrib.padded_batch_and_drop_remainder(3, [-1], np.int64(9)))
    assert data.output_shapes.as_list() == [3, None] and numbers(data) == [[[9, 9], [1, 9], [2, 2]]]


def test_data_sets_are_interleaved_in_some_order():
    data = Data.range(3).apply(contrib.sloppy_interleave(lambda i: Data.from_tensors(i).repeat(2), 2))
    assert sorted(numbers(data)) == [0, 0, 1, 1, 2, 2]


def test_a_data_set_is_reduced_to_its_last_state():
    reducer = contrib.Reducer(lambda _: np.int64(0), lambda state, value: state + value, lambda state: -state)
    with tf.Session() as session:
        assert session.run(contrib.reduce_dataset(Data.range(5), reducer)) == 10
    with pytest.raises(TypeError, match="must be a"):
        contrib.reduce_dataset(3, reducer)


def test_shapes_are_asserted():
    unknown = Data.range(2).map(lambda i: tf.py_func(lambda _: np.ones((2, 3)), [i], tf.float64))
    right = unknown.apply(contrib.assert_element_shape(tf.TensorShape([2, None])))
    assert right.output_shapes.as_list() == [2, None]
    assert len(elements(right)) == 2
    for wrong in ([None, 4], [None]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for"):
            elements(unknown.apply(contrib.assert_element_shape(tf.TensorShape(wrong))))
    with pytest.raises(ValueError, match="not compatible"):
        Data.from_tensors((1, [2, 3])).apply(contrib.assert_element_shape((tf.TensorShape([]), tf.TensorShape([3]))))


def test_batches_of_features_are_read(tmp_path):
    with TFRecordWriter(str(tmp_path / "examples")) as writer:
        for number in range(2):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"a": feature})).SerializeToString())
    batch = contrib.read_batch_features(
        str(tmp_path / "exam*"), 2, {"a": tf.FixedLenFeature([], tf.int64)}, randomize_input=False, num_epochs=1
    )
    with tf.Session() as session:
        assert session.run(batch)["a"].tolist() == [0, 1]


def test_pairs_of_lmdb_files(tmp_path):
    packed = Path(__file__).parent.parent / "formats" / "pairs.mdb.gz"
    (tmp_path / "data.mdb").write_bytes(gzip.decompress(packed.read_bytes()))
    names = [str(tmp_path), str(tmp_path / "data.mdb")]
    pairs = contrib.LMDBDataset(names)
    assert tf.compat.v1.data.get_output_types(pairs) == (tf.string, tf.string)
    assert tf.compat.v1.data.get_output_shapes(pairs) == ([], [])
    found = elements(pairs)
    assert len(found) == 2 * 259 and found[:259] == found[259:]
    assert found[0] == (b"001", b"1 ") and found[257] == (b"long", bytes(range(256)) * 40)
    missing = tf.compat.v1.data.make_one_shot_iterator(contrib.LMDBDataset(str(tmp_path / "missing"))).get_next()
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="No such file"):
                session.run(missing)
