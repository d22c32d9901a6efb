"""Data sets of files: CSV, examples, caches, lists of names; what errors say of the place."""

import gzip
import zlib

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import drain, elements, numbers, resumed
from tfexp.data import experimental

Data = tf.data.Dataset
INTS = [tf.int32, tf.int32]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def csv(tmp_path):
    """Elements of a CSV file with that text; an error's message in the place of what could not be read."""

    def read(text, defaults, **options):
        path = tmp_path / "some.csv"
        path.write_bytes(text)
        iterator = tf.data.make_initializable_iterator(experimental.CsvDataset(str(path), defaults, **options))
        element = iterator.get_next()
        found = []
        with tf.Session() as session:
            session.run(iterator.initializer)
            while True:
                try:
                    found.append(tuple(v.decode() if isinstance(v, bytes) else v.item() for v in session.run(element)))
                except tf.errors.OutOfRangeError:
                    return found
                except tf.errors.InvalidArgumentError as error:
                    found.append(error.message.split("\n")[0].replace(str(path), "F"))

    return read


# --- CSV ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "defaults", "options", "expected"),
    [
        (
            b"1,2\n3\n4,5\n",
            INTS,
            {},
            [(1, 2), "Expect 2 fields but have 1 in record (file 'F', record 1, at byte 4)", (4, 5)],
        ),
        (
            b"h,h\n1,2\n3,4,5\n4,5\n",
            INTS,
            {"header": True},
            [(1, 2), "Expect 2 fields but have more in record (file 'F', record 2, at byte 8)", (4, 5)],
        ),
        (
            b"1,a\n\n4,5\n",
            INTS,
            {},
            [
                "Field 1 in record is not a valid int32: a (file 'F', record 0, at byte 0)",
                "Field 0 is required but missing in record! (file 'F', record 1, at byte 4)",
                (4, 5),
            ],
        ),
        (
            b"1,\n,2\n4,5",
            [tf.int32, 7],
            {},
            [(1, 7), "Field 0 is required but missing in record! (file 'F', record 1, at byte 3)", (4, 5)],
        ),
        (b'"1",2\r\n"a ""q"" b",3\r\n', [tf.string, tf.int32], {}, [("1", 2), ('a "q" b', 3)]),
        (b'"x\ny",2\nz,3\n', [tf.string, tf.int32], {}, [("x\ny", 2), ("z", 3)]),
        (b"NA,2\n3,4\n", [5, tf.int32], {"na_value": "NA"}, [(5, 2), (3, 4)]),
        (b"a;b,c\n1;2,3\n", [tf.string, tf.string], {"field_delim": ";", "header": True}, [("1", "2,3")]),
        (b'"a,b",1\n', [tf.string, tf.string, tf.int32], {"use_quote_delim": False}, [('"a', 'b"', 1)]),
        (
            b"1,2,3\n4,5\n",
            INTS,
            {"select_cols": [0, 2]},
            [(1, 3), "Expect 2 fields but have 1 in record (file 'F', record 1, at byte 6)"],
        ),
        (
            b"1,99999999999\n",
            INTS,
            {},
            ["Field 1 in record is not a valid int32: 99999999999 (file 'F', record 0, at byte 0)"],
        ),
        (
            b'"abc,1\n',
            [tf.string, tf.int32],
            {},
            ["Reached end of file without closing quoted field in record (file 'F', record 0, at byte 0)"],
        ),
        (b"", [tf.string], {}, []),
        (b"", [tf.string], {"header": True}, ["Can't read header of file 'F': it is empty"]),
        (b"h\n", [tf.string], {"header": True}, []),
        (b" 1 , 2\n", [tf.int32, tf.float32], {}, [(1, 2.0)]),
        (b"1\r2\r", [tf.int32], {}, [(1,), (2,)]),
        (b"1e3,-0.5\n.5,+7.\n", [tf.float64, tf.float64], {}, [(1000.0, -0.5), (0.5, 7.0)]),
    ],
)
def test_csv(csv, text, defaults, options, expected):
    assert csv(text, defaults, **options) == expected


def test_numbers_are_the_nearest_there_are(csv):
    draw = np.random.RandomState(3)
    texts = [f"{draw.randint(-(10**9), 10**9) * 10.0 ** -draw.randint(0, 12):.{draw.randint(0, 15)}f}" for _ in range(500)]
    texts += ["0.1", "-0", "123456789012345", "1234567890123456", "9007199254740993", "0.000000000000001", "1e-400", "nan"]
    found = csv("\n".join(texts).encode() + b"\n", [tf.float64])
    assert np.array_equal([value for (value,) in found], [float(text) for text in texts], equal_nan=True)
    whole = [str(draw.randint(-(2**62), 2**62) >> draw.randint(0, 60)) for _ in range(300)] + [str(2**63 - 1), str(-(2**63))]
    assert [value for (value,) in csv("\n".join(whole).encode(), [tf.int64])] == [int(text) for text in whole]


def test_a_csv_file_of_many_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("tfexp.ops.dataset_csv._PIECE", 7)
    path = tmp_path / "f.csv"
    path.write_bytes(b'x,y\r\n1,a\r\n22222222222,"b\r\n,"\r\n3,c\n4,d\r\n')
    read = elements(experimental.CsvDataset(str(path), [tf.int64, tf.string], header=True).batch(3))
    assert [[column.tolist() for column in batch] for batch in read] == [
        [[1, 22222222222, 3], [b"a", b"b\r\n,", b"c"]],
        [[4], [b"d"]],
    ]


@pytest.mark.parametrize(("kind", "pack"), [("GZIP", gzip.compress), ("ZLIB", zlib.compress)])
def test_compressed_csv(tmp_path, kind, pack):
    path = tmp_path / "f.csv"
    path.write_bytes(pack(b"a,b\n1,2\n"))
    assert elements(experimental.CsvDataset(str(path), INTS, kind, header=True)) == [(1, 2)]
    made = experimental.make_csv_dataset(str(path), 1, num_epochs=1, shuffle=False, compression_type=kind)
    assert [{key: value.tolist() for key, value in batch.items()} for batch in elements(made)] == [{"a": [1], "b": [2]}]


@pytest.mark.parametrize("position", [0, 1, 3, 6])
def test_csv_goes_on_where_it_was_saved(tmp_path, position):
    names = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    for name, numbers_there in zip(names, ([1, 2, 3, 4], [5, 6]), strict=True):
        with open(name, "w") as file:
            file.writelines(f"{n}\n" for n in numbers_there)

    def build():
        return experimental.CsvDataset(names, [tf.int32]).map(lambda v: v)

    assert resumed(build, position, tmp_path) == [1, 2, 3, 4, 5, 6][position:]


def test_columns_are_named_and_typed_by_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("i,l,f,d,s\n1,99999999999,1.5,1e300,a\n,1,,2,\n")
    data = experimental.make_csv_dataset(str(path), 2, label_name="s", num_epochs=1, shuffle=False)
    types, label = data.output_types
    assert list(types.items()) == [("i", tf.int32), ("l", tf.int64), ("f", tf.float32), ("d", tf.float64)]
    assert label is tf.string
    ((features, labels),) = elements(data)
    assert features["i"].tolist() == [1, 0]
    assert labels.tolist() == [b"a", b""]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file_pattern": "/none/*.csv"}, "No files match"),
        ({"label_name": "zz"}, "must be one of the columns"),
        ({"column_names": ["a", "a"]}, "duplicate column names"),
        ({"select_columns": ["q"]}, "Column q specified"),
        ({"select_columns": ["x"], "column_defaults": [1, 2]}, "must have the same length"),
        ({"select_columns": [0, 0]}, "contains duplicate columns"),
        ({"select_columns": [9]}, "Column index 9"),
        ({"header": False}, "Expected `column_names` or `header`"),
        ({"column_names": ["a", "b", "c"]}, "Problem inferring types"),
    ],
)
def test_columns_that_are_not_there(tmp_path, options, message):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match=message):
        experimental.make_csv_dataset(**{"file_pattern": str(path), "batch_size": 2, **options})


def test_errors_are_skipped_and_counted(tmp_path, caplog):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n3\n5,6\n7,z\n")
    made = experimental.make_csv_dataset(str(path), 5, column_defaults=INTS, num_epochs=1, shuffle=False, ignore_errors=True)
    with caplog.at_level("INFO", logger="tensorflow"):
        (batch,) = elements(made)
    assert batch["x"].tolist() == [1, 5]


# --- caches ------------------------------------------------------------------------------------------------------


def _counted(calls):
    return Data.range(4).map(lambda v: (v, tf.as_string(v), tf.SparseTensor([[v]], [v * 2], [5])))


def test_a_file_cache_is_whole_or_not_there(tmp_path):
    prefix = str(tmp_path / "cache")
    data = Data.range(4).map(lambda v: (v, tf.as_string(v))).cache(prefix)
    assert len(elements(data, limit=2)) == 2
    assert list(tmp_path.iterdir()) == []
    whole = elements(data)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache.data-00000-of-00001", "cache.index"]
    assert elements(data) == whole == [(n, str(n).encode()) for n in range(4)]
    other = Data.range(100, 200).map(lambda v: (v, tf.as_string(v))).cache(prefix)
    assert elements(other) == whole


def test_a_file_cache_keeps_sparse_tensors_and_is_read_again_and_again(tmp_path):
    data = Data.range(4).map(lambda v: tf.SparseTensor([[v]], [v * 2], [5])).cache(str(tmp_path / "c")).repeat(2)
    values = data.map(lambda s: s.values[0])
    assert numbers(values) == [0, 2, 4, 6] * 2
    assert numbers(values.take(3)) == [0, 2, 4]


def test_two_do_not_write_one_cache(tmp_path):
    data = Data.range(4).cache(str(tmp_path / "c"))
    first, second = (tf.data.make_initializable_iterator(data) for _ in range(2))
    elements_of = [first.get_next(), second.get_next()]
    with tf.Session() as session:
        session.run([first.initializer, second.initializer])
        session.run(elements_of[0])
        with pytest.raises(tf.errors.AlreadyExistsError, match="cache lockfile already exists"):
            session.run(elements_of[1])
        assert list(drain(session, elements_of[0])) == [1, 2, 3]
        session.run(second.initializer)
        assert list(drain(session, elements_of[1])) == [0, 1, 2, 3]


def test_a_cache_where_nothing_can_be_written(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        elements(Data.range(2).cache(str(tmp_path / "no" / "no" / "c")))


@pytest.mark.parametrize("position", [0, 2, 5])
def test_a_cache_goes_on_where_it_was_saved(tmp_path, position):
    def build():
        return Data.range(4).map(lambda v: v).cache(str(tmp_path / "c")).repeat(2)

    assert resumed(build, position, tmp_path) == [0, 1, 2, 3, 0, 1, 2, 3][position:]


# --- files -------------------------------------------------------------------------------------------------------


def test_lists_of_files(tmp_path):
    for name in ("b.x", "a.x", "c.y", "sub/d.x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = [str(tmp_path / name) for name in ("a.x", "b.x", "sub/d.x")]
    patterns = [str(tmp_path / "*.x"), str(tmp_path / "sub" / "*.x")]
    assert [name.decode() for name in elements(Data.list_files(patterns, shuffle=False))] == found
    shuffled = Data.list_files(patterns, seed=2).repeat(20)
    orders = [name.decode() for name in elements(shuffled)]
    assert all(sorted(orders[i : i + 3]) == found for i in range(0, 60, 3))
    assert len({tuple(orders[i : i + 3]) for i in range(0, 60, 3)}) > 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern: "):
        elements(Data.list_files(str(tmp_path / "*.none")))


FEATURES = {"n": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.float32)}


def _records(count):
    def example(n):
        feature = {"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[n]))}
        feature["v"] = tf.train.Feature(float_list=tf.train.FloatList(value=[float(n)] * (n % 3)))
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    return [example(n) for n in range(count)]


def test_sparse_features_are_put_together_in_batches():
    places = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 1]))
    values = tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"place": places, "value": values})).SerializeToString()
    features = {"s": tf.SparseFeature("place", "value", tf.float32, 5), "place": tf.VarLenFeature(tf.int64)}
    data = Data.from_tensors([example, b""]).map(lambda batch: tf.parse_example(batch, features), 2)
    assert data.output_shapes["s"].as_list()[1:] == [5]
    (found,) = elements(data)
    assert sorted(found) == ["place", "s"]
    assert found["s"].indices.tolist() == [[0, 1], [0, 3]]
    assert found["s"].values.tolist() == [2.0, 0.5]
    assert found["s"].dense_shape.tolist() == [2, 5]


def test_a_batch_that_is_no_example_is_refused():
    data = Data.from_tensor_slices([*_records(3), b"\x0a\xff"]).batch(2).map(lambda batch: tf.parse_example(batch, FEATURES))
    iterator = tf.data.make_initializable_iterator(data)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(element["n"]).tolist() == [0, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
            session.run(element)
