"""TFRecord files: TensorFlow's bytes, both ways; damage is noticed and placed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden import format_cases as cases
from tests.golden import oracle
from tfexp.core import errors
from tfexp.formats.tfrecord import (
    TFRecordCompressionType,
    TFRecordOptions,
    TFRecordWriter,
    encode_record,
    tf_record_iterator,
)

KINDS = ["", "ZLIB", "GZIP"]


def golden(kind: str) -> Path:
    return cases.FORMATS / f"records{kind and '.'}{kind.lower()}.tfrecord"


def write(path: Path, records: list[bytes], options: Any = None) -> Path:
    with TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_reads_tensorflows(kind: str) -> None:
    assert list(tf_record_iterator(golden(kind), TFRecordOptions(kind))) == cases.RECORDS


def test_writes_tensorflows_bytes(tmp_path: Path) -> None:
    assert write(tmp_path / "r", cases.RECORDS).read_bytes() == golden("").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(tmp_path: Path, kind: str) -> None:
    records = [bytes([i % 251]) * (i * 977) for i in range(37)]  # beyond every buffer
    path = write(tmp_path / "r", records, TFRecordOptions(kind, compression_level=1))
    assert list(tf_record_iterator(path, kind)) == records


@given(st.lists(st.binary()))
def test_records_stand_one_after_the_other(records: list[bytes]) -> None:
    assert len(b"".join(map(encode_record, records))) == sum(16 + len(record) for record in records)


@pytest.mark.skipif(not oracle.is_installed(), reason="TensorFlow reads what tfexp writes")
@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_reads_ours(tmp_path: Path, kind: str) -> None:
    tf = oracle.tensorflow()
    path = write(tmp_path / "r", cases.RECORDS, kind)
    assert list(tf.python_io.tf_record_iterator(str(path), tf.python_io.TFRecordOptions(kind))) == cases.RECORDS


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_what_was_flushed_can_be_read_though_the_writer_died(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "r"
    writer = TFRecordWriter(path, kind)
    writer.write(b"first")
    writer.flush()
    flushed = path.read_bytes()
    writer.close()
    path.write_bytes(flushed)
    assert list(tf_record_iterator(path, kind)) == [b"first"]


def test_gzip_members_may_follow_each_other(tmp_path: Path) -> None:
    one = write(tmp_path / "1", [b"a", b"b"], "GZIP").read_bytes()
    (tmp_path / "2").write_bytes(one + write(tmp_path / "1", [b"c"], "GZIP").read_bytes())
    assert list(tf_record_iterator(tmp_path / "2", "GZIP")) == [b"a", b"b", b"c"]


# The third record of three starts at 16 + 3 + 16 + 5 = 40 and is 16 + 7 bytes long.
THREE = [b"one", b"three", b"seventh"]


@pytest.mark.parametrize("length", range(41, 63))
def test_a_truncated_record_is_named(tmp_path: Path, length: int) -> None:
    path = write(tmp_path / "r", THREE)
    path.write_bytes(path.read_bytes()[:length])
    found = tf_record_iterator(path)
    assert [next(found), next(found)] == THREE[:2]
    with pytest.raises(errors.DataLossError) as caught:
        next(found)
    assert str(caught.value).startswith(f"{path}: truncated record at 40 (record 2): ")


def test_reading_goes_on_where_a_file_grows(tmp_path: Path) -> None:
    """As TensorBoard reads a run that goes on."""
    path = tmp_path / "r"
    whole = write(tmp_path / "whole", THREE).read_bytes()
    path.write_bytes(whole[:19])
    found = tf_record_iterator(path)
    assert list(found) == THREE[:1] and list(found) == []
    for end in (25, 50):
        with path.open("ab") as file:
            file.write(whole[path.stat().st_size : end])
        for _ in range(2):
            with pytest.raises(errors.DataLossError, match="truncated record at"):
                assert list(found) == THREE[1:]
    with path.open("ab") as file:
        file.write(whole[50:])
    assert list(found) == THREE[2:]


@pytest.mark.parametrize(("position", "what"), [(40, "length"), (48, "length"), (52, "data"), (58, "data"), (62, "data")])
def test_a_corrupted_record_is_named(tmp_path: Path, position: int, what: str) -> None:
    path = write(tmp_path / "r", THREE)
    data = bytearray(path.read_bytes())
    data[position] ^= 0x10
    path.write_bytes(data)
    found = tf_record_iterator(path)
    assert [next(found), next(found)] == THREE[:2]
    with pytest.raises(errors.DataLossError) as caught:
        next(found)
    text = str(caught.value)
    assert text.startswith(f"{path}: corrupted record at 40 (record 2): checksum of its {what} does not match: stored 0x")


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_damaged_compression_is_named(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "r", THREE)
    with pytest.raises(errors.DataLossError, match="damaged compression in record 0 at offset 0") as caught:
        list(tf_record_iterator(path, kind))
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_a_truncated_compressed_file_is_noticed(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "r", [bytes(range(256)) * 9])
    whole = write(tmp_path / "r", [bytes(range(256)) * 9], kind).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(errors.DataLossError, match="truncated record at 0"):
        list(tf_record_iterator(path, kind))


def test_a_length_beyond_all_memory_is_only_a_truncated_record(tmp_path: Path) -> None:
    import struct

    from tfexp.formats.crc import masked_crc32c

    length = struct.pack("<Q", 1 << 60)
    (tmp_path / "r").write_bytes(length + struct.pack("<I", masked_crc32c(length)) + b"abc")
    with pytest.raises(errors.DataLossError, match="truncated record at 0"):
        list(tf_record_iterator(tmp_path / "r"))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match="no such; No such file or directory"):
        list(tf_record_iterator(tmp_path / "no such"))
    with pytest.raises(errors.NotFoundError, match="no folder/r; No such file or directory"):
        TFRecordWriter(tmp_path / "no folder" / "r")


def test_options() -> None:
    assert TFRecordOptions(TFRecordCompressionType.GZIP).compression_type == "GZIP"
    assert TFRecordOptions.get_compression_type_string(TFRecordOptions(TFRecordCompressionType.ZLIB)) == "ZLIB"
    assert TFRecordOptions.get_compression_type_string(None) == ""
    for wrong in ("BZIP2", 7):
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            TFRecordOptions(wrong)
    with pytest.raises(ValueError, match="0 to 9, got 11"):
        TFRecordOptions("GZIP", compression_level=11)


@pytest.mark.parametrize("kind", ["", "ZLIB", "GZIP"])
def test_a_closed_writer_refuses(kind: str, tmp_path: Path) -> None:
    writer = TFRecordWriter(tmp_path / "r", kind)
    writer.close()
    writer.close()
    with pytest.raises(errors.FailedPreconditionError, match="the writer is closed"):
        writer.write(b"late")
    with pytest.raises(errors.FailedPreconditionError, match="the writer is closed"):
        writer.flush()


def test_settings_of_zlib_are_the_files(tmp_path: Path) -> None:
    plain, fast = TFRecordOptions("ZLIB"), TFRecordOptions("ZLIB", None, None, None, 9, 1, None, 1, 2)
    records = [bytes(range(256)) * 20]
    sizes = [write(tmp_path / str(i), records, options).stat().st_size for i, options in enumerate((plain, fast))]
    assert sizes[0] < sizes[1] and (tmp_path / "1").read_bytes()[0] >> 4 == 9 - 8
    assert list(tf_record_iterator(tmp_path / "1", fast)) == records
