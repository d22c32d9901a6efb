"""Lookup tables: filled once from tensors and from files, with buckets, and tables whose entries come and go."""

from __future__ import annotations

import importlib
from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs

SOURCE = "O2"
WORDS = ["a", "b", "c"]


def _initializer(tf: Any, values: Any = (1, 2, 3)) -> Any:
    return tf.lookup.KeyValueTensorInitializer(WORDS, list(values), tf.string, tf.int64)


def _contrib(tf: Any) -> Any:
    """What `tf.contrib.lookup` had in 1.15, and where TensorFlow 2 has it still."""
    if tf.__name__.startswith("tfexp"):
        return tf.contrib.lookup
    return importlib.import_module("tensorflow.python.ops.lookup_ops")


def _initialized(tf: Any) -> Run:
    return Run(tf.tables_initializer())


def _collections(tf: Any) -> dict[str, list[str]]:
    return {key: [x.name for x in tf.get_collection(key)] for key in ("table_initializer", "saveable_objects")}


@program(SOURCE)
def of_tensors(tf: Any) -> Outcome:
    table = tf.lookup.StaticHashTable(_initializer(tf), -1)
    found = table.lookup(tf.constant([["a"], ["z"]]))
    keys = tf.SparseTensor([[0, 1], [1, 0]], ["b", "z"], [2, 2])
    sparse = table.lookup(keys)
    start = _initialized(tf)
    facts = {"name": table.name, "key": table.key_dtype.name, "init": table.initializer.name, **_collections(tf)}
    return runs(start, Run([found, table.size(), sparse.values, sparse.dense_shape]), **facts)


@program(SOURCE)
def numbers_and_strings(tf: Any) -> Outcome:
    make = tf.lookup.KeyValueTensorInitializer
    numbers = tf.lookup.StaticHashTable(make([7, -3, 5], [0.5, 1.5, 2.5], tf.int64, tf.float32), 9.0, name="numbers")
    names = tf.lookup.StaticHashTable(make([2, 1], ["two", "one"], tf.int64, tf.string), "none", name="names")
    found = [numbers.lookup(tf.constant([5, 6, 7, -3], tf.int64)), names.lookup(tf.constant([1, 2, 3], tf.int64))]
    return runs(_initialized(tf), Run(found))


@program(SOURCE)
def vocabularies(tf: Any) -> Outcome:
    table = tf.lookup.StaticVocabularyTable(_initializer(tf, (0, 1, 2)), 3)
    hashed = tf.lookup.StaticVocabularyTable(None, 5)
    words = tf.constant(["b", "zappa", "x", "y", "a"])
    start = _initialized(tf)
    return runs(start, Run([table.lookup(words), table.size(), hashed.lookup(words), hashed.size()]), name=table.name)


@program(SOURCE)
def vocabularies_of_integers(tf: Any) -> Outcome:
    initializer = tf.lookup.KeyValueTensorInitializer([5, 7, 9], [0, 1, 2], tf.int64, tf.int64)
    table = tf.lookup.StaticVocabularyTable(initializer, 3, lookup_key_dtype=tf.int32)
    return runs(_initialized(tf), Run(table.lookup(tf.constant([5, 6, 7, 8, 9, 10], tf.int32))))


@program(SOURCE)
def entries_come_and_go(tf: Any) -> Outcome:
    table = _contrib(tf).MutableHashTable(tf.string, tf.int64, -1)
    inserted = table.insert(tf.constant(["a", "b", "a"]), tf.constant([5, 6, 7], tf.int64))
    words = tf.constant(["a", "q", "b"])
    found, removed = table.lookup(words), table.remove(tf.constant(["a", "zz"]))
    return runs(Run(inserted), Run([found, table.size()]), Run(removed), Run(list(table.export())), **_collections(tf))


@program(SOURCE)
def entries_that_are_vectors(tf: Any) -> Outcome:
    table = _contrib(tf).MutableHashTable(tf.int64, tf.float32, [0.0, -1.0], name="rows")
    inserted = table.insert(tf.constant([1, 2], tf.int64), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    return runs(Run(inserted), Run([table.lookup(tf.constant([[2], [7]], tf.int64)), table.size()]))


@program(SOURCE)
def dense_tables(tf: Any) -> Outcome:
    make = tf.lookup.experimental.DenseHashTable
    table = make(tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1, initial_num_buckets=8)
    inserted = table.insert(tf.constant([11, 12, 13], tf.int64), tf.constant([0, 1, 2], tf.int64))
    found = table.lookup(tf.constant([11, 99, 13], tf.int64))
    return runs(
        Run(inserted), Run([found, table.size()]), Run(table.remove(tf.constant([11, 5], tf.int64))), Run(table.size())
    )


@program(SOURCE)
def saved_tables(tf: Any) -> Outcome:
    make = tf.lookup.experimental.DenseHashTable
    table = make(tf.int64, tf.float32, default_value=-1.0, empty_key=0, deleted_key=-1, name="kept")
    tf.train.Saver()
    return runs(name=table.name, **_collections(tf))


@program(SOURCE)
def what_is_refused(tf: Any) -> Outcome:
    table = tf.lookup.StaticHashTable(_initializer(tf), -1)
    texts = tf.lookup.TextFileInitializer
    refused = {
        "keys": raised(lambda: table.lookup(tf.constant([1]))),
        "default": raised(lambda: tf.lookup.StaticHashTable(_initializer(tf), "x")),
        "buckets": raised(lambda: tf.lookup.StaticVocabularyTable(None, 0)),
        "no file": raised(lambda: texts("", tf.string, 0, tf.int64, 1)),
        "line number": raised(lambda: texts("f", tf.string, -1, tf.int64, 1)),
        "index": raised(lambda: texts("f", tf.string, -3, tf.int64, 1)),
        "size": raised(lambda: texts("f", tf.string, 0, tf.int64, 1, vocab_size=0)),
    }
    return runs(refused=refused)


@program(SOURCE)
def files(tf: Any) -> Outcome:
    texts, index = tf.lookup.TextFileInitializer, tf.lookup.TextFileIndex
    cells = tf.lookup.StaticHashTable(texts("cells.txt", tf.string, 0, tf.int64, 1), -1, name="cells")
    lines = texts("words.txt", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER, vocab_size=2, name="lines")
    words = tf.lookup.StaticVocabularyTable(lines, 2)
    assets = [x.name for x in tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)]
    return runs(assets=assets, names=[cells.name, words.name], **_collections(tf))


@program(SOURCE)
def words_to_ids(tf: Any) -> Outcome:
    contrib = _contrib(tf)
    tables = [
        contrib.index_table_from_tensor(["a", "b"], num_oov_buckets=2),
        contrib.index_table_from_tensor(["b", "a"], default_value=-7, name="plain"),
        contrib.index_table_from_tensor(["b"], num_oov_buckets=3, hasher_spec=contrib.StrongHashSpec([1, 2])),
    ]
    integers = contrib.index_table_from_tensor([30, 20], num_oov_buckets=2, dtype=tf.int64)
    words = tf.constant(["b", "q", "a"])
    found = [table.lookup(words) for table in tables]
    numbers = integers.lookup(tf.constant([20, 9], tf.int64))
    return runs(_initialized(tf), Run([*found, numbers, tables[0].size()]), names=[t.name for t in tables])


@program(SOURCE)
def ids_to_words(tf: Any) -> Outcome:
    table = _contrib(tf).index_to_string_table_from_tensor(["a", "b"], default_value="none")
    return runs(_initialized(tf), Run(table.lookup(tf.constant([1, 5, 0], tf.int64))))


@program(SOURCE)
def tables_of_files(tf: Any) -> Outcome:
    contrib = _contrib(tf)
    buckets = contrib.index_table_from_file("words.txt", num_oov_buckets=2)
    first = contrib.index_table_from_file("words.txt", vocab_size=2, default_value=-7, name="first")
    back = contrib.index_to_string_table_from_file("words.txt", vocab_size=2)
    words = tf.constant(["lake", "q"])
    made = [buckets.lookup(words), first.lookup(words), back.lookup(tf.constant([1], tf.int64))]
    return runs(made=[x.name for x in made], **_collections(tf))
