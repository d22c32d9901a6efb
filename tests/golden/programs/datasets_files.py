"""tf.data of files: lists of files, CSV, TFRecords of examples."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.datasets_elements import fetched
from tests.golden.programs.registry import Outcome, program, runs

FOLDER = "tests/golden/inputs"
PEOPLE = f"{FOLDER}/people.csv"


@program("D6: list_files")
def list_files(tf: Any) -> Outcome:
    sorted_ones = tf.data.Dataset.list_files(f"{FOLDER}/*.csv", shuffle=False)
    shuffled = tf.data.Dataset.list_files([PEOPLE, f"{FOLDER}/m*.csv"], seed=3)
    anyhow = tf.data.Dataset.list_files(PEOPLE)
    return fetched(tf, tf.data.Dataset.zip((sorted_ones, shuffled, anyhow)), 1)


@program("D6: CsvDataset")
def csv(tf: Any) -> Outcome:
    defaults = ["", tf.constant([7], tf.int32), tf.float32, tf.constant([""], tf.string)]
    data = tf.data.experimental.CsvDataset(PEOPLE, defaults, header=True)
    return fetched(tf, data, 4, shapes=str(data.output_shapes))


@program("D6: CsvDataset of some columns of several files")
def csv_columns(tf: Any) -> Outcome:
    files = [PEOPLE, f"{FOLDER}/more_people.csv"]
    data = tf.data.experimental.CsvDataset(files, [tf.string, tf.float64], header=True, select_cols=[0, 2])
    return fetched(tf, data, 6)


@program("D6: make_csv_dataset")
def make_csv(tf: Any) -> Outcome:
    data = tf.data.experimental.make_csv_dataset(PEOPLE, 3, label_name="age", num_epochs=1, shuffle=False)
    return fetched(tf, data, 2, types=str(data.output_types))


@program("D6: make_csv_dataset, shuffled, with defaults and selected columns")
def make_csv_selected(tf: Any) -> Outcome:
    data = tf.data.experimental.make_csv_dataset(
        f"{FOLDER}/*people.csv",
        2,
        column_names=["n", "a", "w", "c"],
        column_defaults=[tf.string, tf.constant([0.5], tf.float32)],
        select_columns=["n", "w"],
        shuffle_seed=3,
        shuffle_buffer_size=10,
        num_parallel_reads=1,
    )
    return fetched(tf, data, 4)


@program("D6: Examples parsed in batches")
def parse_examples(tf: Any) -> Outcome:
    features = {
        "a": tf.FixedLenFeature([2], tf.int64),
        "b": tf.FixedLenFeature([], tf.string, "none"),
        "c": tf.VarLenFeature(tf.float32),
    }
    data = tf.data.Dataset.from_tensor_slices(_examples(tf)).batch(2)
    return fetched(tf, data.map(lambda batch: tf.parse_example(batch, features), 2), 2)


def _examples(tf: Any) -> list[bytes]:
    def int64s(*values: int) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def floats(*values: float) -> Any:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"some"]))
    contents = [
        {"a": int64s(1, -2), "b": text, "c": floats(0.5)},
        {"a": int64s(300, 4)},
        {"a": int64s(5, 6), "c": floats(1.5, 2.5)},
    ]
    made = (tf.train.Example(features=tf.train.Features(feature=content)) for content in contents)
    return [example.SerializeToString(deterministic=True) for example in made]


@program("D6: cache in a file")
def cached(tf: Any) -> Outcome:
    tf.data.make_initializable_iterator(tf.data.Dataset.range(3).cache(tf.placeholder(tf.string, [])))
    return runs()
