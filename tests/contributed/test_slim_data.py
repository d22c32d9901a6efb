"""`tf.contrib.slim`'s data: decoders, readers side by side, providers, queues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf

slim = tf.contrib.slim
decoders = slim.tfexample_decoder


@pytest.fixture(autouse=True)
def _own_graph() -> Any:
    with tf.Graph().as_default():
        yield


def feature(*values: Any) -> Any:
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def example(**features: Any) -> bytes:
    named = {key.replace("__", "/"): value for key, value in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=named)).SerializeToString()


def decoded(handler: Any, keys_to_features: Any, serialized: bytes) -> Any:
    (item,) = decoders.TFExampleDecoder(keys_to_features, {"item": handler}).decode(serialized)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        return sess.run(item)


NUMBERS = tf.VarLenFeature(tf.int64)


def test_tensors_take_the_shapes_they_are_given() -> None:
    serialized = example(x=feature(*range(6)), h=feature(3), w=feature(2))
    expected = np.arange(6).reshape(3, 2)
    x = {"x": NUMBERS}
    np.testing.assert_array_equal(decoded(decoders.Tensor("x"), x, serialized), np.arange(6))
    np.testing.assert_array_equal(decoded(decoders.Tensor("x", shape=[3, 2]), x, serialized), expected)
    by_keys = decoders.Tensor("x", shape_keys=["h", "w"])
    assert by_keys.keys == ["x", "h", "w"]
    features = {**x, "h": NUMBERS, "w": tf.FixedLenFeature([1], tf.int64)}
    np.testing.assert_array_equal(decoded(by_keys, features, serialized), expected)
    fixed = {"x": tf.FixedLenFeature([6], tf.int64)}
    np.testing.assert_array_equal(decoded(decoders.Tensor("x", shape=[3, 2]), fixed, serialized), expected)
    double = decoders.ItemHandlerCallback("x", lambda tensors: tensors["x"] * 2)
    np.testing.assert_array_equal(decoded(double, fixed, serialized), 2 * np.arange(6))
    with pytest.raises(ValueError, match="Cannot specify both"):
        decoders.Tensor("x", "h", [3])


def test_lookups_and_backups() -> None:
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b", "c"])
    words = {"words": tf.VarLenFeature(tf.string), "ids": NUMBERS}
    lookup = decoders.LookupTensor("words", table)
    assert decoded(lookup, words, example(words=feature(b"c", b"a"))).tolist() == [2, 0]
    either = decoders.BackupHandler(lookup, decoders.Tensor("ids"))
    assert either.keys == ["words", "ids"]
    assert decoded(either, words, example(ids=feature(7, 8))).tolist() == [7, 8]
    assert decoded(either, words, example(ids=feature(7, 8), words=feature(b"b"))).tolist() == [1]
    with pytest.raises(ValueError, match="Backup handler is of type"):
        decoders.BackupHandler(lookup, "ids")


def test_boxes_and_sparse_tensors() -> None:
    sides = {side: feature(n + 0.5, n + 1.5) for n, side in enumerate(("b__ymin", "b__xmin", "b__ymax", "b__xmax"))}
    keys = {key.replace("__", "/"): tf.VarLenFeature(tf.float32) for key in sides}
    boxes = decoded(decoders.BoundingBox(prefix="b/"), keys, example(**sides))
    np.testing.assert_array_equal(boxes, [[0.5, 1.5, 2.5, 3.5], [1.5, 2.5, 3.5, 4.5]])
    with pytest.raises(ValueError, match="expects 4 keys but got 3"):
        decoders.BoundingBox(["a", "b", "c"])
    serialized = example(indices=feature(3, 1), values=feature(0.5, 2.0))
    pairs = {"indices": NUMBERS, "values": tf.VarLenFeature(tf.float32)}
    made = decoded(decoders.SparseTensor(shape=[5]), pairs, serialized)
    assert made.indices.tolist() == [[3], [1]] and made.dense_shape.tolist() == [5]
    serialized = example(indices=feature(1, 3), values=feature(0.5, 2.0))
    dense = decoded(decoders.SparseTensor(shape=[5], densify=True, default_value=-1), pairs, serialized)
    assert dense.tolist() == [-1, 0.5, -1, 2, -1]


@pytest.mark.parametrize("kind", [b"png", b"jpeg", b"raw"])
def test_images(kind: bytes) -> None:
    image = np.full((5, 7, 3), 99, np.uint8)
    with tf.Session() as sess:
        data = {b"png": tf.image.encode_png, b"jpeg": tf.image.encode_jpeg, b"raw": lambda x: tf.constant(x.tobytes())}[kind]
        contents = sess.run(data(image))
    serialized = example(image__encoded=feature(contents, contents), image__format=feature(kind))
    one = {"image/encoded": tf.FixedLenFeature([2], tf.string), "image/format": tf.FixedLenFeature([], tf.string)}
    found = decoded(decoders.Image(shape=[5, 7, 3], repeated=True), one, serialized)
    np.testing.assert_array_equal(found, [image, image])


def test_sequences() -> None:
    lists = {"s": tf.train.FeatureList(feature=[feature(1), feature(2)])}
    serialized = tf.train.SequenceExample(
        context=tf.train.Features(feature={"c": feature(4)}), feature_lists=tf.train.FeatureLists(feature_list=lists)
    ).SerializeToString()
    context, sequence = {"c": tf.FixedLenFeature([], tf.int64)}, {"s": tf.FixedLenSequenceFeature([], tf.int64)}
    decoder = decoders.TFSequenceExampleDecoder(context, sequence, {"c": decoders.Tensor("c"), "s": decoders.Tensor("s")})
    assert decoder.list_items() == ["c", "s"]
    with tf.Session() as sess:
        assert [value.tolist() for value in sess.run(decoder.decode(serialized, ["s", "c"]))] == [[1, 2], 4]
    with pytest.raises(ValueError, match="keys are not unique: both have c"):
        decoders.TFSequenceExampleDecoder(context, context, {})


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    names = [str(tmp_path / f"{n}.tfrecord") for n in range(3)]
    for n, name in enumerate(names):
        with tf.python_io.TFRecordWriter(name) as writer:
            for k in range(2):
                writer.write(example(x=feature(10 * n + k)))
    return names


def dataset(sources: Any) -> Any:
    decoder = decoders.TFExampleDecoder({"x": tf.FixedLenFeature([], tf.int64)}, {"x": decoders.Tensor("x")})
    return slim.dataset.Dataset(sources, tf.TFRecordReader, decoder, 6, {"x": "a number"}, labels=2)


def test_a_provider_gives_every_example(files: list[str], tmp_path: Path) -> None:
    given = dataset([str(tmp_path / "[01]*"), files[2]])
    assert given.labels == 2
    provider = slim.dataset_data_provider.DatasetDataProvider(given, num_readers=2, num_epochs=1, common_queue_min=1)
    assert provider.list_items() == ["x", "record_key"] and provider.num_samples() == 6
    x, key = provider.get(["x", "record_key"])
    with pytest.raises(ValueError, match=r"Item \[y\] is invalid"):
        provider.get(["y"])
    found = {}
    with tf.Session() as sess:
        sess.run([tf.local_variables_initializer(), tf.tables_initializer()])
        with slim.queues.QueueRunners(sess):
            with pytest.raises(slim.queues.NestedQueueRunnerError), slim.queues.QueueRunners(sess):
                pass
            for _ in range(6):
                value, name = sess.run([x, key])
                found[int(value)] = name
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(x)
    assert sorted(found) == [0, 1, 10, 11, 20, 21] and found[10].startswith(files[1].encode())
    with pytest.raises(ValueError, match="cannot also be used for a dataset item: x"):
        slim.dataset_data_provider.DatasetDataProvider(given, record_key="x")


def test_readers_are_counted_and_one_reads_in_order(files: list[str]) -> None:
    queue = tf.FIFOQueue(50, [tf.string, tf.string], shapes=[(), ()])
    readers = slim.parallel_reader.ParallelReader(tf.TFRecordReader, queue, num_readers=2)
    assert readers.num_readers == 2 and readers.common_queue is queue
    names = tf.train.string_input_producer(files, num_epochs=1)
    keys, _ = readers.read_up_to(names, 50)
    counts = [readers.num_records_produced(), readers.num_work_units_completed()]
    _, value = slim.parallel_reader.single_pass_read(files, tf.TFRecordReader)
    x = tf.parse_single_example(value, {"x": tf.FixedLenFeature([], tf.int64)})["x"]
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(sess):
            assert len(sess.run(keys)) == 6
            assert [sess.run(x) for _ in range(6)] == [0, 1, 10, 11, 20, 21]
        assert sess.run(counts) == [6, 3]
    with pytest.raises(TypeError, match="must be"):
        slim.parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(5, [tf.string, tf.int32]))
    with pytest.raises(ValueError, match="No data files found"):
        slim.parallel_reader.get_data_files([files[0] + "*none"])


def test_a_queue_of_what_is_computed_ahead() -> None:
    counter = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    queue = slim.prefetch_queue.prefetch_queue({"n": counter, "square": counter * counter}, capacity=2)
    taken = queue.dequeue()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(sess):
            found = [sess.run(taken) for _ in range(4)]
    assert found == [{"n": n, "square": n * n} for n in range(4)]
    with pytest.raises(ValueError, match="at least one tensor"):
        slim.prefetch_queue.prefetch_queue([])
