"""Readers: keys, values and counts as TensorFlow gives them, and what is said of files that are missing or damaged."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import tfexp as tf
from tests.runtime.asleep import Asleep, Background
from tfexp.core.errors import (
    DataLossError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    UnimplementedError,
)
from tfexp.core.op import get_op
from tfexp.formats.tfrecord import TFRecordWriter

PAIRS = Path(__file__).parent.parent / "formats" / "pairs.mdb.gz"


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(b"h\none\ntwo\r\n\nlast")
    Path("empty").write_bytes(b"")
    Path("c.txt").write_bytes(b"h1\nx\n")
    Path("d.bin").write_bytes(b"HHabcdefghijF")
    Path("d.z").write_bytes(zlib.compress(b"HHabcdefghijF"))
    Path("d.gz").write_bytes(gzip.compress(b"HHabcdefghijF"))
    for name, options in (("r.tfr", None), ("z.tfr", "ZLIB")):
        with TFRecordWriter(name, options) as writer:
            for record in (b"a", b"bb", b""):
                writer.write(record)
    return tmp_path


def read_all(reader: Any, files: Sequence[str], count: int = 9) -> list[Any]:
    """What reading the files gives, each time with the counts after it; it ends with the error."""
    queue = tf.FIFOQueue(10, [tf.string], [[]])
    record = list(reader.read(queue))
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    give, close = queue.enqueue_many([list(files)]), queue.close()
    found: list[Any] = []
    with tf.Session() as session:
        session.run(give)
        session.run(close)
        for _ in range(count):
            try:
                key, value = session.run(record)
            except OpError as error:
                found.append(error)
                break
            found.append((key.decode(), value, *map(int, session.run(counts))))
    return found


def test_lines() -> None:
    *records, end = read_all(tf.TextLineReader(), ["a.txt", "empty", "c.txt"])
    assert records == [
        ("a.txt:1", b"h", 1, 0),
        ("a.txt:2", b"one", 2, 0),
        ("a.txt:3", b"two", 3, 0),
        ("a.txt:4", b"", 4, 0),
        ("a.txt:5", b"last", 5, 0),
        ("c.txt:1", b"h1", 6, 2),
        ("c.txt:2", b"x", 7, 2),
    ]
    assert isinstance(end, OutOfRangeError)
    assert (
        "is closed and has insufficient elements (requested 1, current size 0)\n\t [[{{node ReaderReadV2}}]]" in end.message
    )


def test_lines_without_headers() -> None:
    *records, _ = read_all(tf.TextLineReader(skip_header_lines=1), ["a.txt", "empty", "c.txt"])
    assert [key for key, *_ in records] == ["a.txt:2", "a.txt:3", "a.txt:4", "a.txt:5", "c.txt:2"]
    assert "skip_header_lines must be >= 0 not -1" in _first_error(tf.TextLineReader(-1)).message


def _first_error(reader: Any) -> OpError:
    try:
        with tf.Session() as session:
            session.run(reader.num_records_produced())
    except OpError as error:
        return error
    raise AssertionError("no error")


def test_whole_files_and_names() -> None:
    *records, _ = read_all(tf.WholeFileReader(), ["c.txt", "empty"])
    assert records == [("c.txt", b"h1\nx\n", 1, 1), ("empty", b"", 2, 2)]
    *records, _ = read_all(tf.IdentityReader(), ["c.txt", "x"])
    assert records == [("c.txt", b"c.txt", 1, 1), ("x", b"x", 2, 2)]


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        ({"record_bytes": 3, "header_bytes": 2, "footer_bytes": 1}, [b"abc", b"def", b"ghi"]),
        ({"record_bytes": 4, "header_bytes": 2, "footer_bytes": 1, "hop_bytes": 2}, [b"abcd", b"cdef", b"efgh", b"ghij"]),
        ({"record_bytes": 2, "hop_bytes": 5}, [b"HH", b"de", b"ij"]),
        ({"record_bytes": 20}, []),
        ({"record_bytes": 5, "header_bytes": 20}, []),
    ],
)
@pytest.mark.parametrize(("file", "encoding"), [("d.bin", None), ("d.z", "ZLIB"), ("d.gz", "GZIP")])
def test_records_of_fixed_length(settings: dict[str, int], values: list[bytes], file: str, encoding: str | None) -> None:
    *records, _ = read_all(tf.FixedLengthRecordReader(**settings, encoding=encoding), [file])
    assert [(key, value) for key, value, *_ in records] == [(f"{file}:{i}", v) for i, v in enumerate(values)]


def test_records_longer_than_what_is_read_at_once(folder: Path) -> None:
    body = bytes(range(256)) * 3000
    (folder / "large").write_bytes(b"#" * 300_000 + body + b"$" * 7)
    *records, _ = read_all(tf.FixedLengthRecordReader(256_000, 300_000, 7), ["large"])
    assert b"".join(value for _, value, *_ in records) == body


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"record_bytes": 0}, "record_bytes must be >= 1 not 0"),
        ({"record_bytes": 1, "header_bytes": -1}, "header_bytes must be >= 0 not -1"),
        ({"record_bytes": 1, "encoding": "LZ"}, "encoding must be one of '', 'ZLIB', 'GZIP', not 'LZ'"),
    ],
)
def test_lengths_that_make_no_sense(settings: dict[str, Any], text: str) -> None:
    assert text in _first_error(tf.FixedLengthRecordReader(**settings)).message


@pytest.mark.parametrize(("file", "options"), [("r.tfr", None), ("z.tfr", tf.io.TFRecordOptions("ZLIB"))])
def test_tf_records(file: str, options: Any) -> None:
    *records, end = read_all(tf.TFRecordReader(options=options), [file, "empty"] if options is None else [file])
    assert [(key, value) for key, value, *_ in records] == [(f"{file}:0", b"a"), (f"{file}:17", b"bb"), (f"{file}:35", b"")]
    assert isinstance(end, OutOfRangeError)


# --- damage ------------------------------------------------------------------------------------------------------------


def test_a_missing_file_is_left_behind() -> None:
    reader, queue = tf.TextLineReader(), tf.FIFOQueue(10, [tf.string], [[]])
    key, _ = reader.read(queue)
    with tf.Session() as session:
        session.run(queue.enqueue_many([["nope.txt", "c.txt"]]))
        with pytest.raises(NotFoundError, match=r"nope.txt; No such file or directory\n\t \[\[{{node ReaderReadV2}}"):
            session.run(key)
        assert [session.run(key), session.run(key)] == [b"c.txt:1", b"c.txt:2"]


@pytest.mark.parametrize(
    ("make", "before", "text"),
    [
        (lambda good: good[:-3], 2, "file: truncated record at 35 (record 2): 4 bytes were to follow, 1 are there"),
        (lambda good: good[:13] + b"?" + good[14:], 0, "file: corrupted record at 0 (record 0): checksum of its data"),
        (lambda good: b"this is no TFRecord file", 0, "file: corrupted record at 0 (record 0): checksum of its length"),
    ],
)
def test_damaged_records(make: Any, before: int, text: str, folder: Path) -> None:
    (folder / "file").write_bytes(make((folder / "r.tfr").read_bytes()))
    *records, error = read_all(tf.TFRecordReader(), ["file", "r.tfr"])
    assert len(records) == before
    assert isinstance(error, DataLossError)
    assert text in error.message


def test_damage_stays_where_it_is(folder: Path) -> None:
    """A reader goes no further than the damage, until it is reset."""
    (folder / "file").write_bytes((folder / "r.tfr").read_bytes()[:-3])
    reader, queue = tf.TFRecordReader(), tf.FIFOQueue(10, [tf.string], [[]])
    keys, key = reader.read_up_to(queue, 5).keys, reader.read(queue)[0]
    with tf.Session() as session:
        session.run(queue.enqueue_many([["file", "r.tfr"]]))
        assert session.run(keys).tolist() == [b"file:0", b"file:17"]
        for _ in range(3):
            with pytest.raises(DataLossError, match="truncated record at 35"):
                session.run(key)
        session.run(reader.reset())
        assert session.run(key) == b"r.tfr:0"
        assert session.run(key) == b"r.tfr:17"


def test_compression_that_is_none() -> None:
    (error,) = read_all(tf.TFRecordReader(options=tf.io.TFRecordOptions("GZIP")), ["r.tfr"])
    assert isinstance(error, DataLossError)
    assert "r.tfr: damaged compression in record 0 at offset 0" in error.message
    (error,) = read_all(tf.FixedLengthRecordReader(2, encoding="ZLIB"), ["d.bin"])
    assert isinstance(error, DataLossError)
    assert "d.bin: damaged compression in record 0" in error.message


def test_queues_that_hold_no_names() -> None:
    reader = tf.TextLineReader()
    pairs = tf.FIFOQueue(3, [tf.string, tf.string])
    several = tf.FIFOQueue(3, [tf.string], [[2]])
    with tf.Session() as session:
        session.run(several.enqueue([["a", "b"]]))
        for queue in (pairs, several, tf.FIFOQueue(3, [tf.int32], [[]])):
            with pytest.raises(InvalidArgumentError, match="Expected to dequeue a one-element string tensor"):
                session.run(reader.read(queue))


# --- several at once ---------------------------------------------------------------------------------------------------


def test_reading_up_to_stops_at_the_end_of_a_file() -> None:
    reader, queue = tf.TextLineReader(1), tf.FIFOQueue(10, [tf.string], [[]])
    records = reader.read_up_to(queue, 2)
    names = tf.IdentityReader().read_up_to(queue, 3)
    with tf.Session() as session:
        session.run(queue.enqueue_many([["a.txt", "c.txt", "x", "y"]]))
        assert [session.run(records).values.tolist() for _ in range(3)] == [[b"one", b"two"], [b"", b"last"], [b"x"]]
        assert session.run(names).keys.tolist() == [b"x"]
        assert session.run(reader.read_up_to(queue, 0)).keys.tolist() == []


def test_readers_of_one_queue_share_the_files() -> None:
    queue = tf.FIFOQueue(10, [tf.string], [[]])
    keys = [tf.TextLineReader().read(queue)[0] for _ in range(2)]
    with tf.Session() as session:
        session.run(queue.enqueue_many([["a.txt", "c.txt"]]))
        assert {k.split(b":")[0] for k in session.run(keys)} == {b"a.txt", b"c.txt"}


def test_reads_of_one_reader_go_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one waits for a file the others wait behind it, and none is lost when one gives up."""
    asleep = Asleep(monkeypatch)
    reader, queue = tf.TextLineReader(), tf.FIFOQueue(10, [tf.string], [[]])
    key, give, close = reader.read(queue)[0], queue.enqueue("c.txt"), queue.close()
    with tf.Session() as session:
        impatient = Background(lambda: session.run(key, options=tf.RunOptions(timeout_in_ms=300)))
        asleep.wait()
        others = [Background(lambda: session.run(key)) for _ in range(3)]
        asleep.wait(3)
        with pytest.raises(DeadlineExceededError, match="it waited for an element of FIFOQueue"):
            impatient.result()
        session.run(give)
        session.run(close)
        outcomes = []
        for other in others:
            try:
                outcomes.append(other.result())
            except OutOfRangeError:
                outcomes.append("end")
        assert sorted(outcomes, key=str) == [b"c.txt:1", b"c.txt:2", "end"]


# --- state -------------------------------------------------------------------------------------------------------------


def test_state_travels() -> None:
    queue = tf.FIFOQueue(10, [tf.string], [[]])
    reader, other = tf.IdentityReader(name="one"), tf.WholeFileReader()
    state, fed = reader.serialize_state(), tf.placeholder(tf.string, [])
    restore, counts = reader.restore_state(fed), [reader.num_records_produced(), reader.num_work_units_completed()]
    key = reader.read(queue)[0]
    whole, whole_state, whole_restore = other.read(queue), other.serialize_state(), other.restore_state(fed)
    with tf.Session() as session:
        session.run(queue.enqueue_many([["A", "B", "nope"]]))
        session.run(key)
        saved = session.run(state)
        assert saved == b'\x08\x01\x10\x01\x18\x01"\x01A'  # as TensorFlow writes it
        session.run(key)
        session.run(restore, {fed: saved})
        assert session.run(counts) == [1, 1]
        with pytest.raises(InvalidArgumentError, match=r"Could not parse state for IdentityReader 'one': x"):
            session.run(restore, {fed: b"x"})
        with pytest.raises(InvalidArgumentError, match="Inconsistent work"):
            session.run(restore, {fed: b"\x10\x01"})
        with pytest.raises(NotFoundError, match="nope; No such file"):
            session.run(whole)
        in_the_middle = session.run(whole_state)
        assert in_the_middle == b'\x08\x01"\x04nope'
        Path("nope").write_bytes(b"now it is there")
        session.run(whole_restore, {fed: in_the_middle})
        assert session.run(whole).value == b"now it is there"
    text = tf.TextLineReader()
    assert not text.supports_serialize and reader.supports_serialize
    with tf.Session() as session:
        with pytest.raises(UnimplementedError, match="Reader SerializeState"):
            session.run(text.serialize_state())
        with pytest.raises(UnimplementedError, match="Reader RestoreState"):
            session.run(text.restore_state("x"))


def test_graphs_with_references_for_handles() -> None:
    queue = get_op("FIFOQueue")(component_types=[tf.string], shapes=[[]], capacity=4)
    attrs: dict[str, dict[str, Any]] = {
        "TextLineReader": {"skip_header_lines": 1},
        "WholeFileReader": {},
        "IdentityReader": {},
        "TFRecordReader": {},
        "FixedLengthRecordReader": {"record_bytes": 4},
    }
    files = {"TFRecordReader": "r.tfr"}
    values = [b"x", b"h1\nx\n", b"c.txt", b"a", b"h1\nx"]
    give = {name: get_op("QueueEnqueue")(queue, [tf.constant(name)]) for name in ("c.txt", "r.tfr")}
    for (op, settings), value in zip(attrs.items(), values, strict=True):
        handle = get_op(op)(**settings)
        reader = tf.ReaderBase(handle)
        read = get_op("ReaderRead")(handle, queue)
        many = get_op("ReaderReadUpTo")(handle, queue, np_int64(2))
        asked = [reader.num_records_produced(), reader.num_work_units_completed()]
        assert asked[0].op.type == "ReaderNumRecordsProduced"
        with tf.Session() as session:
            session.run(give[files.get(op, "c.txt")])
            assert session.run(read).value == value
            assert session.run(asked)[0] == 1
            if op in ("WholeFileReader", "IdentityReader"):
                session.run(reader.restore_state(session.run(reader.serialize_state())))
            session.run(reader.reset())
            assert session.run(asked) == [0, 0]
            session.run(give[files.get(op, "c.txt")])
            assert session.run(many).values[0] == value


def np_int64(value: int) -> Any:
    return tf.constant(value, tf.int64)
