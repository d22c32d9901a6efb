"""The measured data sets: what one batch costs, taken by a session that does nothing else.

Of 200,000 floats in memory, batches of 64; of files (Examples in TFRecords, 346 bytes each on average; CSV of 8 columns,
57 bytes a record), batches of 128, again and again.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Step = Callable[[], Any]


def _step(tf: Any, data: Any) -> Step:
    iterator = tf.data.make_initializable_iterator(data)
    element, session = iterator.get_next(), tf.Session()
    session.run(iterator.initializer)
    return lambda: session.run(element)


def _python_function(tf: Any, value: Any) -> Any:
    result = tf.py_func(lambda v: np.float32(v * 2), [value], tf.float32)
    result.set_shape([])
    return result


def _loop(tf: Any, value: Any) -> Any:
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), (0, value))[1]


def _batches(mapped: Callable[[Any, Any], Any]) -> Callable[[Any], Step]:
    """Shuffled, mapped, in batches of 64, prefetched."""

    def build(tf: Any) -> Step:
        numbers = np.arange(200_000, dtype=np.float32)
        data = tf.data.Dataset.from_tensor_slices(numbers).repeat().shuffle(10_000, seed=1)
        return _step(tf, data.map(lambda v: mapped(tf, v)).batch(64).prefetch(2))

    return build


# --- files -----------------------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    import shutil
    import tempfile  # 2 MB, which are not to count as what the other programs take

    folder = Path(tempfile.mkdtemp(prefix="pipelines-"))
    atexit.register(shutil.rmtree, folder)
    return folder


@cache
def _tfrecords(tf: Any) -> str:
    path, draw = str(_folder() / "examples.tfrecord"), np.random.RandomState(0)
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(20_000):
            feature = {
                "image": tf.train.Feature(float_list=tf.train.FloatList(value=draw.rand(64))),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[draw.randint(1000)])),
                "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"example-%d" % number])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return path


@cache
def _csv() -> str:
    path, draw = _folder() / "numbers.csv", np.random.RandomState(0)
    with path.open("w") as file:
        file.write(",".join(f"column{i}" for i in range(8)) + "\n")
        for number in range(50_000):
            a, b, c, d = draw.rand(4)
            city, large = draw.randint(50), draw.randint(10**9)
            file.write(f"{number},{draw.randint(100)},{a:.4f},{b * 20 - 10:.3f},{c * 1000:.2f},city{city},{large},{d:.6f}\n")
    return str(path)


def _features(tf: Any) -> dict[str, Any]:
    return {
        "image": tf.FixedLenFeature([64], tf.float32),
        "label": tf.FixedLenFeature([], tf.int64),
        "name": tf.FixedLenFeature([], tf.string),
    }


def _examples(tf: Any) -> Step:
    features = _features(tf)
    records = tf.data.TFRecordDataset(_tfrecords(tf)).repeat().batch(128)
    return _step(tf, records.map(lambda batch: tf.parse_example(batch, features)).prefetch(2))


def _single_examples(tf: Any) -> Step:
    features = _features(tf)
    records = tf.data.TFRecordDataset(_tfrecords(tf)).repeat()
    return _step(tf, records.map(lambda record: tf.parse_single_example(record, features)).batch(128).prefetch(2))


def _records(tf: Any) -> Step:
    return _step(tf, tf.data.TFRecordDataset(_tfrecords(tf)).repeat().batch(128))


def _defaults(tf: Any) -> list[Any]:
    zero, longs, doubles = tf.constant([0]), tf.constant([0], tf.int64), tf.constant([0.0], tf.float64)
    return [longs, zero, *[tf.constant([0.0])] * 3, tf.constant([""]), longs, doubles]


def _csv_dataset(tf: Any) -> Step:
    data = tf.data.experimental.CsvDataset(_csv(), _defaults(tf), header=True).repeat()
    return _step(tf, data.batch(128).prefetch(2))


def _csv_lines(tf: Any) -> Step:
    lines = tf.data.TextLineDataset(_csv()).skip(1).repeat().batch(128)
    return _step(tf, lines.map(lambda batch: tuple(tf.decode_csv(batch, _defaults(tf)))).prefetch(2))


PROGRAMS = {
    "tf.data: shuffle, map, batch 64, prefetch": (_batches(lambda tf, v: v * 2.0 + 1.0), 10.0),
    "tf.data: the same with a condition in the map": (
        _batches(lambda tf, v: tf.cond(v > 0.5, lambda: v * 2.0, lambda: v + 1.0)),
        10.0,
    ),
    "tf.data: the same with a Python function in the map": (_batches(_python_function), 5.0),
    "tf.data: the same with a loop in the map": (_batches(_loop), 5.0),
    "tf.data: the same with tf.unique in the map": (_batches(lambda tf, v: tf.unique([v, v * 2.0]).y[0]), 5.0),
    "tf.data: the same with random numbers in the map": (_batches(lambda tf, v: v + tf.random_uniform([])), 5.0),
    "tf.data: TFRecords, batch 128": (_records, 1.0),
    "tf.data: TFRecords, batch 128, parse_example": (_examples, 1.0),
    "tf.data: TFRecords, parse_single_example, batch 128": (_single_examples, 1.0),
    "tf.data: CsvDataset, batch 128": (_csv_dataset, 1.0),
    "tf.data: lines, batch 128, decode_csv": (_csv_lines, 1.0),
}
