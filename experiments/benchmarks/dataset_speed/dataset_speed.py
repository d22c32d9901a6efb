"""Whole runs through data sets beside tf.data: in memory, over TFRecord files, over CSV files; see README.md.

Each engine runs in a process of its own, the two in turn. A figure is the processor's time of a run, of all threads: what
else runs on the machine changes it less than a clock's. The files are written once, and both engines read the same.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.benchmarks.measuring import Figure, Options, Worker, in_turn, load, serve

# name -> the ratio that is aimed at
AIMS = {
    "shuffle, map, batch(64), prefetch: 200,000 floats": 10.0,
    "map with py_func, batch(64): 20,000 floats": 5.0,
    "map with a random number, batch(64): 20,000 floats": 5.0,
    "flat_map of data sets that map: 300": 1.0,
    "TFRecord, batch(128), parse_example: 64 floats": 1.0,
    "TFRecord, batch(128), parse_example: 3 KB": 1.0,
    "TFRecord, batch(128), parse_example: lists of any length": 1.0,
    "TFRecord, parse_single_example: lists of any length, batch(128)": 1.0,
    "TFRecord, parse_single_example, padded_batch(128)": 1.0,
    "four TFRecord files in turn, batch(128), parse_example": 1.0,
    "lines, batch(128), decode_csv": 1.0,
    "CsvDataset, batch(128)": 1.0,
    "lines, decode_csv, shuffle, batch(128)": 1.0,
}


def figures(options: Options) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        running = {engine: Worker(engine, python, __spec__.name, folder) for engine, python in options.engines.items()}
        try:
            ask = {
                engine: lambda program, worker=worker: float(worker.ask(program=program))
                for engine, worker in running.items()
            }
            for program, rounds in in_turn(AIMS, ask, options):
                yield Figure("dataset", program, "ms", rounds, AIMS[program])
        finally:
            for worker in running.values():
                worker.close()


# --- the files -------------------------------------------------------------------------------------------------------


def write(tf: Any, folder: Path) -> None:
    """The files that are not there yet."""
    random = np.random.RandomState(0)

    def floats(count: int) -> Any:
        return tf.train.Feature(float_list=tf.train.FloatList(value=random.rand(count)))

    def number(below: int) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[random.randint(below)]))

    def texts(*values: bytes) -> Any:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

    rows: dict[str, Callable[[], dict[str, Any]]] = {
        "dense": lambda: {"x": floats(64), "label": number(10)},
        "image": lambda: {"x": texts(random.bytes(3072)), "label": number(10)},
        "mixed": lambda: {
            "id": number(1 << 40),
            "name": texts(b"x" * random.randint(3, 20)),
            "tags": texts(*[b"tag"] * random.randint(4)),
            "x": floats(8),
            "w": floats(random.randint(5)),
        },
    }
    for name, row in rows.items():
        if not (folder / name).exists():
            with tf.python_io.TFRecordWriter(str(folder / name)) as writer:
                for _ in range(10_000):
                    example = tf.train.Example(features=tf.train.Features(feature=row()))
                    writer.write(example.SerializeToString())
    if not (folder / "csv").exists():
        lines = (
            f"{i},{random.rand():.4f},{random.randn():.3f},name{i % 999},{random.randint(100)}\n" for i in range(30_000)
        )
        (folder / "csv").write_text("".join(lines))


# --- a worker ----------------------------------------------------------------------------------------------------------


def programs(tf: Any, folder: Path) -> dict[str, Callable[[], Any]]:
    """What makes each data set, under the names of AIMS in their order."""
    data, fixed, varying = tf.data.Dataset.from_tensor_slices, tf.FixedLenFeature, tf.VarLenFeature
    many = np.random.RandomState(1).rand(200_000).astype(np.float32)
    some, csv = many[:20_000], str(folder / "csv")
    records = tf.data.TFRecordDataset
    defaults: list[list[Any]] = [[0], [0.0], [0.0], [""], [0]]
    label = fixed([], tf.int64)
    lists = {"id": label, "name": fixed([], tf.string), "tags": varying(tf.string), "w": varying(tf.float32)}

    def mapped(first: Any) -> Any:
        return tf.data.Dataset.range(first, first + 10).map(lambda x: x * 2)

    dense = {"x": fixed([64], tf.float32), "label": label}

    def parsed(name: str, features: dict[str, Any]) -> Any:
        return records(str(folder / name)).batch(128).map(lambda strings: tf.parse_example(strings, features))

    def singly(name: str, features: dict[str, Any]) -> Any:
        return records(str(folder / name)).map(lambda string: tf.parse_single_example(string, features))

    def in_turn() -> Any:
        return data([str(folder / "dense")] * 4).interleave(records, cycle_length=4)

    makers = [
        lambda: data(many).shuffle(10_000, seed=1).map(lambda x: x * 2 + 1).batch(64).prefetch(2),
        lambda: data(some).map(lambda x: tf.py_func(lambda v: v * np.float32(2), [x], tf.float32)).batch(64),
        lambda: data(some).map(lambda x: x + tf.random.uniform([])).batch(64),
        lambda: tf.data.Dataset.range(300).flat_map(mapped).batch(64),
        lambda: parsed("dense", dense),
        lambda: parsed("image", {"x": fixed([], tf.string), "label": label}),
        lambda: parsed("mixed", {**lists, "x": fixed([8], tf.float32)}),
        lambda: singly("mixed", {"w": varying(tf.float32)}).map(lambda row: tf.size(row["w"])).batch(128),
        lambda: singly("dense", dense).padded_batch(128, {"x": [None], "label": []}),
        lambda: in_turn().batch(128).map(lambda strings: tf.parse_example(strings, dense)),
        lambda: tf.data.TextLineDataset(csv).batch(128).map(lambda lines: tf.decode_csv(lines, defaults)),
        lambda: tf.data.experimental.CsvDataset(csv, defaults).batch(128),
        lambda: tf.data.TextLineDataset(csv).map(lambda line: tf.decode_csv(line, defaults)).shuffle(1000, 1).batch(128),
    ]
    return dict(zip(AIMS, makers, strict=True))


def milliseconds(tf: Any, make: Callable[[], Any]) -> float:
    """The processor's time of the cheaper of two runs, after one that does not count."""
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(make())
        element = iterator.get_next()
        with tf.Session() as session:
            return min([_run(tf, session, iterator, element) for _ in range(3)][1:])


def _run(tf: Any, session: Any, iterator: Any, element: Any) -> float:
    session.run(iterator.initializer)
    began = time.process_time()
    try:
        while True:
            session.run(element)
    except tf.errors.OutOfRangeError:
        return (time.process_time() - began) * 1e3


def work(engine: str, folder: Path) -> None:
    tf = load(engine)
    made = programs(tf, folder)

    def answer(request: dict[str, str]) -> float:
        write(tf, folder)
        return milliseconds(tf, made[request["program"]])

    serve(answer)


if __name__ == "__main__":
    work(sys.argv[1], Path(sys.argv[2]))
