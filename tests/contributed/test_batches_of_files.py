"""Batches of examples from files (tf.contrib.learn.io.read_batch_features and its kin)."""

import numpy as np
import pytest

import tfexp as tf

learn = tf.contrib.learn
FEATURES = {"x": tf.FixedLenFeature([2], tf.float32), "words": tf.VarLenFeature(tf.string)}


@pytest.fixture
def folder(tmp_path):
    for part in range(2):
        (tmp_path / f"text{part}").write_text("".join(f"{letter * (part + 1)}\n" for letter in "abc"))
        with tf.python_io.TFRecordWriter(str(tmp_path / f"records{part}")) as writer:
            for number in range(3):
                example = tf.train.Example()
                example.features.feature["x"].float_list.value.extend([part, number])
                example.features.feature["words"].bytes_list.value.extend([b"w"] * number)
                writer.write(example.SerializeToString())
    with tf.Graph().as_default():
        yield tmp_path


def run(fetches):
    """What each step gives until nothing is left."""
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            yield session.run(fetches)


def test_examples_come_in_the_order_of_files(folder):
    pattern = str(folder / "text*")
    lines = learn.read_batch_examples(pattern, 4, tf.TextLineReader, randomize_input=False, num_epochs=1)
    settings = {"randomize_input": False, "num_epochs": 1, "read_batch_size": 3}
    keys, sizes = learn.io.read_keyed_batch_examples([pattern], 6, tf.TextLineReader, parse_fn=tf.strings.length, **settings)
    key, named = learn.io.read_keyed_batch_examples(
        [pattern], 6, tf.TextLineReader, parse_fn=lambda given: {"size": tf.strings.length(given)}, **settings
    )
    found = run({"keys": keys, "sizes": sizes, "key": key, "named": named})
    [given] = found
    assert given["sizes"].tolist() == given["named"]["size"].tolist() == [1, 1, 1, 2, 2, 2]
    assert [one.decode().rpartition("/")[2] for one in given["keys"]] == [f"text{n}:{i}" for n in (0, 1) for i in (1, 2, 3)]
    assert given["keys"].tolist() == given["key"].tolist()
    assert [batch.tolist() for batch in run(lines)] == [[b"a", b"b", b"c", b"aa"], [b"bb", b"cc"]]


def test_features_are_parsed_and_queued(folder):
    pattern = str(folder / "records*")
    found = learn.read_batch_record_features(pattern, 6, FEATURES, randomize_input=False, num_epochs=1)
    shuffled = learn.io.read_batch_features(pattern, 6, FEATURES, tf.TFRecordReader, num_epochs=1)
    assert found["x"].shape.as_list() == [None, 2] and found["x"].op.name.startswith("dequeue_record_examples/")
    [(given, mixed)] = run([found, shuffled])
    assert given["x"].tolist() == [[n, i] for n in (0, 1) for i in (0, 1, 2)]
    assert given["words"].indices.tolist() == [[1, 0], [2, 0], [2, 1], [4, 0], [5, 0], [5, 1]]
    np.testing.assert_array_equal(np.sort(mixed["x"], axis=0), np.sort(given["x"], axis=0))


def test_what_cannot_be_read_is_refused(folder):
    there = str(folder / "text*")
    for pattern, settings, told in (
        (str(folder / "nothing*"), {}, "No files match"),
        ([], {}, "No files given"),
        (there, {"batch_size": 0}, "Invalid batch_size 0"),
        (there, {"batch_size": 10, "queue_capacity": 10}, "Invalid batch_size 10, with queue_capacity 10"),
        (there, {"queue_capacity": 0}, "Invalid queue_capacity"),
        (there, {"num_threads": 0}, "Invalid num_threads"),
        (there, {"num_epochs": 0}, "Invalid num_epochs"),
        (there, {"read_batch_size": 0}, "Invalid read_batch_size"),
    ):
        with pytest.raises(ValueError, match=told):
            learn.read_batch_examples(pattern, **{"batch_size": 3, "reader": tf.TextLineReader, **settings})
