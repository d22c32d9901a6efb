"""Data sets as they are published, read by data sets of records; and what streaming keeps in memory."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import drain, elements

Data = tf.data.Dataset
DRAW = np.random.RandomState(7)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_cifar_10_binary_batches(tmp_path):
    """Records of a label and 32 x 32 pixels in three planes, in files of several folders."""
    images, labels = DRAW.randint(0, 256, (7, 3, 32, 32)).astype(np.uint8), np.arange(7, dtype=np.uint8)
    for folder, rows in (("one", slice(0, 4)), ("two", slice(4, 7))):
        (tmp_path / folder).mkdir()
        records = [bytes([label]) + image.tobytes() for label, image in zip(labels[rows], images[rows], strict=True)]
        (tmp_path / folder / "data_batch_1.bin").write_bytes(b"".join(records))

    def decode(record):
        values = tf.decode_raw(record, tf.uint8)
        return tf.transpose(tf.reshape(values[1:], [3, 32, 32]), [1, 2, 0]), tf.cast(values[0], tf.int32)

    names = Data.list_files(str(tmp_path / "*" / "data_batch_*.bin"), shuffle=False)
    data = tf.data.FixedLengthRecordDataset(names, 1 + 3 * 32 * 32).map(decode).batch(5)
    batches = elements(data)
    assert [batch[0].shape for batch in batches] == [(5, 32, 32, 3), (2, 32, 32, 3)]
    found = np.concatenate([batch[0] for batch in batches])
    assert np.array_equal(found, images.transpose(0, 2, 3, 1))
    assert np.concatenate([batch[1] for batch in batches]).tolist() == labels.tolist()


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_mnist_idx_files(tmp_path, kind):
    """Images behind a header of 16 bytes, labels behind one of 8; as published, compressed."""
    images, labels = DRAW.randint(0, 256, (9, 28, 28)).astype(np.uint8), DRAW.randint(0, 10, 9).astype(np.uint8)
    contents = {
        "images": struct.pack(">4i", 2051, 9, 28, 28) + images.tobytes(),
        "labels": struct.pack(">2i", 2049, 9) + labels.tobytes(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(gzip.compress(content) if kind else content)

    def records(name, size, header):
        return tf.data.FixedLengthRecordDataset(str(tmp_path / name), size, header, compression_type=kind)

    pictures = records("images", 28 * 28, 16).map(lambda r: tf.reshape(tf.decode_raw(r, tf.uint8), [28, 28]))
    digits = records("labels", 1, 8).map(lambda r: tf.decode_raw(r, tf.uint8)[0])
    found = elements(Data.zip((pictures, digits)))
    assert np.array_equal([image for image, _ in found], images)
    assert [label for _, label in found] == labels.tolist()


def _records(path):
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(5_000):
            writer.write(b"%08d" % number + bytes(1600))
    return tf.data.TFRecordDataset(path).map(lambda record: tf.decode_raw(record, tf.uint8)).batch(8)


def _lines(path):
    with open(path, "w") as file:
        file.writelines(f"{number},{'x' * 400}\n" for number in range(20_000))
    return tf.data.experimental.CsvDataset(path, [tf.int64, tf.string]).prefetch(2).batch(32)


@pytest.mark.parametrize("build", [_records, _lines])
def test_streaming_keeps_memory_flat(tmp_path, build):
    """8 MB go through; what Python and NumPy hold meanwhile stays far below, and does not grow."""
    data = build(str(tmp_path / "data"))
    iterator = tf.data.make_initializable_iterator(data.repeat(2))
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        stream = drain(session, element)
        for _ in range(100):
            next(stream)
        tracemalloc.start()
        try:
            for _ in range(500):
                next(stream)
            first = tracemalloc.get_traced_memory()[1]
            tracemalloc.reset_peak()
            assert sum(1 for _ in stream) > 500
            second = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert max(first, second) < 4 << 20
    assert second < first + (1 << 20)
