"""Lookup tables: what they find, when they may be changed, their files, their checkpoints, and their errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, OpError, UnimplementedError
from tfexp.ops.lookup_resource import Entries

WORDS = ["a", "b", "c"]
raw = tf.raw_ops


def run(*steps: Any) -> Any:
    """The results of the last step, each built after the one before it has run."""
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        for step in steps:
            result = session.run(step)
    return result


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("key_dtype", [tf.int32, tf.int64, tf.float32, tf.string])
@pytest.mark.parametrize("value_shape", [(), (2,)])
def test_entries_are_those_of_a_dict(key_dtype: Any, value_shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(7)
    entries, model = Entries(key_dtype, tf.int64, (), value_shape), {}

    def keys_of(numbers: np.ndarray) -> np.ndarray:
        if key_dtype == tf.string:
            return np.array([b"k%d" % n for n in numbers], object)
        return numbers.astype(key_dtype.as_numpy_dtype)

    for step in range(60):
        keys = keys_of(random.integers(-20, 20, random.integers(0, 9)))
        values = random.integers(0, 99, (len(keys), *value_shape))
        if step % 3 == 2:
            entries.remove(keys)
            for key in keys.tolist():
                model.pop(key, None)
        else:
            entries.insert(keys, values)
            model.update(zip(keys.tolist(), values.tolist(), strict=True))
        assert len(entries) == len(model)
        asked = keys_of(np.arange(-25, 25))
        found = entries.find(asked, np.full(value_shape, -1))
        missing = np.full(value_shape, -1).tolist()
        assert found.tolist() == [model.get(key, missing) for key in asked.tolist()]
        exported = dict(zip(*(part.tolist() for part in entries.export()), strict=True))
        assert exported == model


@pytest.mark.parametrize("keys", [[3, -(2**63), 2**63 - 1], [2**63 - 1, 2**63 - 2], [-(2**63), 1 - 2**63], [5]])
def test_integers_at_the_ends_of_their_range(keys: list[int]) -> None:
    entries = Entries(tf.int64, tf.int64)
    entries.insert(np.int64(keys), np.arange(len(keys)))
    asked = np.int64([*keys, 0, 4, -(2**63), 2**63 - 1])
    model = dict(zip(keys, range(len(keys)), strict=True))
    assert entries.find(asked, np.int64(-1)).tolist() == [model.get(key, -1) for key in asked.tolist()]


@pytest.mark.parametrize("words", [False, True])
def test_entries_whose_keys_are_rows(words: bool) -> None:
    kind = tf.string if words else tf.int64
    entries = Entries(kind, tf.int64, (2,), ())
    keys: Any = [[1, 2], [3, 4], [1, 2]]
    keys = np.array([[b"%d" % n for n in row] for row in keys], object) if words else np.int64(keys)
    entries.insert(keys, np.int64([5, 6, 7]))
    asked = keys[[1, 0, 0]]
    asked[2] = asked[2][::-1]
    assert entries.find(asked, np.int64(-1)).tolist() == [6, 7, -1]
    entries.remove(keys[:1])
    assert [part.tolist() for part in entries.export()] == [keys[1:2].tolist(), [6]]


def test_what_is_refused_when_a_table_is_used() -> None:
    def of(*steps: Any, **attrs: Any) -> Any:
        """A new table, and operations on it."""
        table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, **attrs)
        return [step(table) for step in steps]

    def filled(keys: Any, values: Any) -> Any:
        return lambda t: raw.InitializeTableV2(table_handle=t, keys=tf.constant(keys), values=tf.constant(values, tf.int64))

    def find(keys: Any, default: Any) -> Any:
        return lambda t: raw.LookupTableFindV2(table_handle=t, keys=keys, default_value=tf.constant(default, tf.int64))

    def exported(t: Any) -> Any:
        return raw.LookupTableExportV2(table_handle=t, Tkeys=tf.string, Tvalues=tf.int64)

    abc = filled(WORDS, [1, 2, 3])
    for steps, kind, text in (
        (of(find(WORDS, -1)), FailedPreconditionError, "Table not initialized."),
        (of(exported), FailedPreconditionError, "HashTable is not initialized."),
        (
            of(filled(["a", "b", "a"], [1, 2, 3])),
            FailedPreconditionError,
            "HashTable has different value for same key. Key a has 1 and trying to add value 3",
        ),
        (of(abc, filled(["a"], [1])), FailedPreconditionError, "Table was already initialized with different data."),
        (
            of(abc, find(tf.constant([1], tf.int64), -1)),
            InvalidArgumentError,
            "Signature mismatch, have: resource, int64, int64->int64 expected: resource, string, int64->int64",
        ),
        (of(abc, find(WORDS, [1, 2])), InvalidArgumentError, "Expected shape [] or [3] for default value, got [2]"),
        (
            of(abc, lambda t: raw.LookupTableInsertV2(table_handle=t, keys=["a"], values=tf.constant([1], tf.int64))),
            UnimplementedError,
            "Insert not supported",
        ),
        (of(abc, lambda t: raw.LookupTableRemoveV2(table_handle=t, keys=["a"])), UnimplementedError, "Remove not supported"),
    ):
        with pytest.raises(kind) as caught:
            run(*steps)
        assert text in str(caught.value)
    assert run(*of(abc, filled(["x", "y", "z"], [1, 2, 3]), find(["a", "x"], [7, 8]))).tolist() == [1, 8]
    with pytest.raises(ValueError, match="equal"):
        of(filled(["a", "b"], [1]))
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        of(filled([["a"]], [[1]]))


def test_tables_of_a_name_are_one() -> None:
    first, second = (raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="t") for _ in range(2))
    other = raw.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name="t")
    filled = raw.InitializeTableV2(table_handle=first, keys=WORDS, values=tf.constant([1, 2, 3], tf.int64))
    assert run(filled, raw.LookupTableSizeV2(table_handle=second)) == 3
    with pytest.raises(
        InvalidArgumentError, match="Conflicting key/value dtypes int64->int64 with string-int64 for table t"
    ):
        run(filled, raw.LookupTableSizeV2(table_handle=other))


def test_the_older_ops() -> None:
    table = raw.MutableHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    inserted = raw.LookupTableInsert(table_handle=table, keys=WORDS, values=tf.constant([1, 2, 3], tf.int64))
    found = raw.LookupTableFind(table_handle=table, keys=["c", "d"], default_value=tf.constant(0, tf.int64))
    assert run(inserted, found).tolist() == [3, 0]
    dense = raw.MutableDenseHashTable(empty_key=tf.constant(0, tf.int64), value_dtype=tf.int64)
    assert run(raw.LookupTableSize(table_handle=dense)) == 0


def test_dense_tables_and_their_keys() -> None:
    def table(**settings: Any) -> Any:
        given = {"default_value": -1, "empty_key": 0, "deleted_key": -1, **settings}
        return tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, **given)

    t = table()
    for made, text in (
        (t.insert([0], [1]), "Using the empty_key as a table key is not allowed"),
        (t.lookup([-1]), "Using the deleted_key as a table key is not allowed"),
        (t.remove(tf.constant([0], tf.int64)), "Using the empty_key"),
        (table(deleted_key=0).size(), "Empty and deleted keys cannot be equal"),
        (table(initial_num_buckets=3).size(), "Number of buckets must be at least 4 and a power of 2, got: 3"),
        (t.insert([1], [[1, 2]]), "Expected shape [1] for value, got [1,2]"),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            run(made)
        assert text in str(caught.value)
    rows = table(default_value=[0, 0, 0], empty_key=[0, 0], deleted_key=[-1, -1])
    assert [run(part).shape for part in rows.export()] == [(131072, 2), (131072, 3)]
    found = rows.lookup([[3, 4], [9, 9]])
    assert found.shape.as_list() == [2, 3]
    assert run(rows.insert([[1, 2], [3, 4]], [[1, 2, 3], [4, 5, 6]]), found).tolist() == [[4, 5, 6], [0, 0, 0]]


@pytest.mark.parametrize("kind", ["mutable", "vectors", "dense"])
def test_checkpoints(kind: str, tmp_path: Path) -> None:
    if kind == "dense":
        table: Any = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1, name="t")
        keys: Any = [4, 7]
    else:
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, [0, 0] if kind == "vectors" else 0, name="t")
        keys = ["a", "b"]
    values = [[1, 2], [3, 4]] if kind == "vectors" else [1, 2]
    inserted, found = table.insert(keys, values), table.lookup(keys)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(inserted)
        path = saver.save(session, str(tmp_path / "model"))
    assert [name for name, _ in tf.train.list_variables(path)] == ["t-keys", "t-values"]
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run(found).tolist() == values


def test_names_in_checkpoints_are_without_scopes_but_differ() -> None:
    for scope in ("a", "b"):
        with tf.name_scope(scope):
            tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, 0, name="t")
    assert [saved.name for saved in tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)] == ["t", "b/t"]


def test_a_checkpoint_with_tensorflows_buckets() -> None:
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1)
    buckets = [np.int64([[12], [0], [-1], [11]]), np.int64([[6], [0], [9], [5]])]
    restored = raw.LookupTableImportV2(table_handle=table.resource_handle, keys=buckets[0], values=buckets[1])
    assert run(restored, [table.size(), table.lookup([11, 12])])[1].tolist() == [5, 6]


def test_a_dense_table_is_exported_with_tensorflows_buckets() -> None:
    # As TensorFlow 1.15 has them: 9 and 17 go on from the bucket of 1, 2 from the one that 9 has; 25 takes what 9 left.
    table = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, -1, -2, initial_num_buckets=8)
    numbers, words = np.int64([1, 9, 17, 2, 1]), [["a", "b"], ["c", "d"]]
    text = tf.contrib.lookup.MutableDenseHashTable(tf.string, tf.int64, -1, ["", ""], ["x", "x"], initial_num_buckets=8)
    with tf.Session() as session:
        session.run([table.insert(numbers, np.int64([5, 2, 3, 4, 1])), text.insert(words, np.int64([3, 4]))])
        keys, values = session.run(table.export())
        assert keys.tolist() == [[-1], [1], [9], [2], [17], [-1], [-1], [-1]]
        assert values.tolist() == [[0], [1], [2], [4], [3], [0], [0], [0]]
        session.run(table.remove(np.int64([9, 5])))
        assert session.run(table.export()[0]).tolist() == [[-1], [1], [-2], [2], [17], [-1], [-1], [-1]]
        session.run(table.insert(np.int64([25, 17]), np.int64([7, 8])))
        assert session.run(table.export()[0]).tolist() == [[-1], [1], [25], [2], [17], [-1], [-1], [-1]]
        assert session.run([table.lookup(np.int64([17, 9, 25])), table.size()])[0].tolist() == [8, -1, 7]
        session.run(table.insert(np.int64([100, -5, 6]), np.int64([7, 8, 9])))
        assert len(session.run(table.export()[0])) == 16
        assert session.run([table.lookup(numbers), table.size()])[0].tolist() == [1, -1, 8, 4, 1]
        places = {tuple(key): place for place, key in enumerate(session.run(text.export()[0]).tolist())}
        assert places[b"a", b"b"] == 5 and places[b"c", b"d"] == 7


def test_a_key_that_is_no_number_is_put_somewhere_and_not_found() -> None:
    table = tf.contrib.lookup.MutableDenseHashTable(tf.float32, tf.int64, -1, -1.0, -2.0, initial_num_buckets=8)
    nan = np.float32("nan")
    assert run(table.insert([1.0, nan, nan], np.int64([1, 2, 3])), [table.size(), table.lookup([1.0, nan])])[0] == 3
    assert run(table.insert([1.0, nan], np.int64([1, 2])), table.lookup([1.0, nan])).tolist() == [1, -1]


def test_a_dense_table_whose_buckets_all_lost_a_key() -> None:
    table = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, -1, -2, initial_num_buckets=4)
    keys = np.int64([0, 1, 2, 3])
    with tf.Session() as session:
        for key in keys:
            session.run(table.insert([key], [key]))
            session.run(table.remove(keys[[key]]))
        assert session.run(table.export()[0]).ravel().tolist() == [-2] * 4
        session.run(table.insert(keys[:2], keys[:2]))
        assert session.run(table.lookup(keys)).tolist() == [0, 1, -1, -1]


CELLS = tf.lookup.TextFileInitializer


def of_file(path: Path, columns: tuple[int, int] = (0, 1), types: Any = (tf.string, tf.int64), **settings: Any) -> Any:
    default = "" if types[1] == tf.string else -1
    initializer = CELLS(str(path), types[0], columns[0], types[1], columns[1], **settings)
    return tf.lookup.StaticHashTable(initializer, default)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "cells.txt"
    path.write_bytes(b"a\t10\r\nb\t20\r\nc\t30")
    table = of_file(path)
    assert run(table.lookup(tf.constant(["b", "q"]))).tolist() == [20, -1]
    assert tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
    assert [part.tolist() for part in run(of_file(path, vocab_size=2).export())] == [[b"a", b"b"], [10, 20]]
    numbers = of_file(path, (1, 0), (tf.int64, tf.string))
    assert run(numbers.lookup(tf.constant([20, 5], tf.int64))).tolist() == [b"b", b""]
    lines = of_file(path, (-2, -1))
    assert run(lines.lookup(tf.constant(["a\t10", "c\t30"]))).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("content", "settings", "text"),
    [
        (b"a\t1\nb\n", {}, "line 1 (b) : expected at least 2 got 1"),
        (b"a\t1\n\nb\t2\n", {}, "empty line found at position 5."),
        (b"a\t1\n", {"vocab_size": 7}, "expected 7 but got 1"),
        (b"a\tx\n", {}, "Field x in line 0 is not a valid int64."),
        (b"a\tx\n", {"types": (tf.string, tf.float32)}, "Field x in line 0 is not a valid float."),
        (b"a\t1\n", {"delimiter": "ab"}, "delimiter should be only 1 char"),
        (None, {}, "No such file or directory"),
    ],
)
def test_files_that_are_refused(content: bytes | None, settings: dict[str, Any], text: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.txt"
    if content is not None:
        path.write_bytes(content)
    of_file(path, **settings)
    with pytest.raises(OpError) as caught:
        run(tf.no_op())
    assert text in str(caught.value)
    assert isinstance(caught.value, NotFoundError if content is None else InvalidArgumentError)


def test_vocabularies_in_files(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("emerson\nlake\npalmer\n")
    contrib = tf.contrib.lookup
    buckets = contrib.index_table_from_file(str(path), num_oov_buckets=2)
    back = contrib.index_to_string_table_from_file(str(path), vocab_size=2)
    ids = contrib.string_to_index(tf.constant(["c", "x"]), tf.constant(WORDS))
    words = contrib.index_to_string(tf.constant([2, 9], tf.int64), tf.constant(WORDS))
    found = run([buckets.lookup(tf.constant(["lake", "q"])), back.lookup(tf.constant([1, 2], tf.int64)), ids, words])
    assert found[0].tolist() == [1, 4]  # TensorFlow's bucket for "q"
    assert [part.tolist() for part in found[1:]] == [[b"lake", b"UNK"], [2, -1], [b"c", b"UNK"]]


def test_what_is_refused_when_a_table_is_made() -> None:
    contrib = tf.contrib.lookup
    of_strings = tf.lookup.KeyValueTensorInitializer(["a"], ["b"])
    of_ids = tf.lookup.KeyValueTensorInitializer(["a"], [1], tf.string, tf.int64)
    vocabulary = tf.lookup.StaticVocabularyTable
    for make, kind, text in (
        (lambda: vocabulary(None, 0), ValueError, "oov_buckets must be > 0"),
        (
            lambda: vocabulary(of_strings, 1),
            TypeError,
            "Invalid value dtype, expected <dtype: 'int64'> but got <dtype: 'string'>",
        ),
        (lambda: vocabulary(of_ids, 1, lookup_key_dtype=tf.int32), TypeError, "expected integer but got"),
        (
            lambda: tf.lookup.StaticHashTable(of_ids, -1).lookup(tf.constant([1])),
            TypeError,
            "Signature mismatch. Keys must be dtype <dtype: 'string'>, got <dtype: 'int32'>",
        ),
        (lambda: contrib.index_table_from_tensor(["a"], num_oov_buckets=-1), ValueError, "greater or equal than 0, got -1"),
        (
            lambda: contrib.index_table_from_tensor(["a"], dtype=tf.float32),
            TypeError,
            "Only integer and string keys are supported",
        ),
        (lambda: contrib.index_table_from_tensor([1, 2]), ValueError, "Expected non-integer, got <dtype: 'int32'>"),
        (lambda: contrib.index_table_from_tensor(None), ValueError, "mapping must be specified"),
        (lambda: contrib.index_table_from_file(""), ValueError, "vocabulary_file must be specified and must not be empty"),
        (
            lambda: contrib.index_table_from_file("x", vocab_size=0),
            ValueError,
            "vocab_size must be greater than 0, got 0. vocabulary_file: x",
        ),
        (lambda: contrib.index_to_string_table_from_tensor(None), ValueError, "mapping must be specified"),
        (lambda: contrib.StrongHashSpec([1]), ValueError, "key must have size 2"),
        (lambda: contrib.IdTableWithHashBuckets(None, 0), ValueError, "oov_buckets must be > 0 if no table is supplied"),
        (
            lambda: contrib.IdTableWithHashBuckets(None, 1, hasher_spec=3),
            TypeError,
            "hasher_spec must be of type HasherSpec",
        ),
        (lambda: CELLS("", tf.string, 0, tf.int64, 1), ValueError, "Filename required"),
        (lambda: CELLS("f", tf.float32, -2, tf.int64, 1), ValueError, "Signature mismatch. Keys must be integer or string"),
    ):
        with pytest.raises(kind) as caught:
            make()
        assert text in str(caught.value)


@pytest.mark.parametrize("dense", [False, True])
def test_values_may_be_lists(dense: bool) -> None:
    key = np.int64(3)
    ends = {"empty_key": np.int64(-1), "deleted_key": np.int64(-2)}
    make = tf.raw_ops.MutableDenseHashTableV2 if dense else tf.raw_ops.MutableHashTableV2
    kinds = {"value_dtype": tf.variant, "shared_name": "lists"}
    table = make(**ends, **kinds) if dense else make(key_dtype=tf.int64, **kinds)
    empty = tf.raw_ops.EmptyTensorList(element_shape=np.int32([]), max_num_elements=-1, element_dtype=tf.float32)
    found = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=key, default_value=empty)
    longer = tf.raw_ops.TensorListPushBack(input_handle=found, tensor=2.5)
    insert = tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=key, values=longer)
    both = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=np.array([3, 4]), default_value=empty)
    lengths = [tf.raw_ops.TensorListLength(input_handle=one) for one in (found, both[0], both[1])]
    with tf.Session() as session:
        session.run(insert)
        session.run(insert)
        assert session.run(lengths) == [2, 2, 0]


def test_a_dense_table_erases_keys() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table: Any = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -9)
        session.run(table.insert_or_assign(tf.constant([5, 6], tf.int64), tf.constant([1, 2], tf.int64)))
        session.run(table.erase(tf.constant([5], tf.int64)))
        assert session.run(table.lookup(tf.constant([5, 6], tf.int64))).tolist() == [-1, 2]
        assert session.run(table.size()) == 1


def test_the_tables_of_contrib_have_their_names_where_contrib_has_them(tmp_path: Path) -> None:
    contrib = tf.contrib.lookup
    (tmp_path / "words").write_text("a\nb\n")
    file = str(tmp_path / "words")
    with tf.Graph().as_default() as graph:
        contrib.string_to_index_table_from_tensor(["a"], 1, -1, contrib.FastHashSpec, "first")
        contrib.string_to_index_table_from_file(file, 1, None, -1, contrib.FastHashSpec, "second")
        contrib.MutableHashTable(tf.string, tf.int64, -1, "third", False)
        contrib.MutableDenseHashTable(tf.int64, tf.int64, -1, -1, -2, 8, "fourth", False)
        made = {node.name.partition("/")[0] for node in graph.get_operations()}
        assert {"first", "second", "third", "fourth"} <= made
        assert not tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)


def test_tables_of_nothing_are_refused_when_they_are_filled():
    with tf.Graph().as_default(), tf.Session() as session:
        none = tf.lookup.KeyValueTensorInitializer(tf.constant([], tf.string), tf.constant([], tf.int64))
        tf.lookup.StaticHashTable(none, -1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="keys and values cannot be empty"):
            session.run(tf.tables_initializer())


def test_names_of_tables_with_buckets_and_of_files_that_tensors_name():
    lookup = tf.contrib.lookup
    with tf.Graph().as_default():
        words = tf.lookup.KeyValueTensorInitializer(["a"], [0], tf.string, tf.int64)
        assert tf.lookup.StaticVocabularyTable(words, 3, name="words").lookup(tf.constant(["a"])).name[:12] == "words_Lookup"
        inner = lookup.HashTable(words, -1, name="inner")
        assert [lookup.IdTableWithHashBuckets(inner, 3, name=name).name for name in ("outer", None)] == ["outer", "inner"]
        unknown = lookup.index_table_from_tensor(["a"], num_oov_buckets=1, hasher_spec=lookup.HasherSpec("unknown", None))
        with pytest.raises(ValueError, match="Unknown hasher unknown"):
            unknown.lookup(tf.constant(["a"]))
        names = [tf.constant("words") for _ in range(2)]
        files = [lookup.index_table_from_file(name).resource_handle.op for name in names]
        assert files[0].get_attr("shared_name") == f"hash_table_{names[0]}_-2_-1".encode()
        assert files[0].get_attr("shared_name") != files[1].get_attr("shared_name")
