"""Checkpoints that are damaged, truncated or something else: one message that names the file and what is wrong."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden import format_cases as cases
from tfexp.core import errors
from tfexp.formats.bundle_reader import BundleReader, read_index
from tfexp.formats.protos.tensor_bundle import BundleEntryProto, BundleHeaderProto
from tfexp.formats.table import TableBuilder

DATA = ".data-00000-of-00001"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    for path in cases.FORMATS.glob("mix.*"):
        shutil.copy(path, tmp_path)
    return tmp_path / "mix"


def entry(name: str) -> BundleEntryProto:
    return BundleEntryProto.FromString(read_index(str(cases.FORMATS / "mix"))[1][name.encode()])


def edit(path: Path, change: Callable[[bytearray], object]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def read_all(prefix: Path) -> None:
    with BundleReader(prefix) as bundle:
        for name in bundle.names():
            bundle.get_tensor(name)


@pytest.mark.parametrize("name", [name for name, t in cases.MIX.items() if t.size])
def test_any_flipped_bit_is_noticed_and_only_in_its_tensor(prefix: Path, name: str) -> None:
    where = entry(name)
    path = Path(f"{prefix}{DATA}")
    whole = path.read_bytes()
    for position in range(where.offset, where.offset + where.size):
        edit(path, lambda data, at=position: data.__setitem__(at, data[at] ^ 4))
        with BundleReader(prefix) as bundle:
            with pytest.raises(errors.DataLossError) as caught:
                bundle.get_tensor(name)
            assert str(caught.value).startswith(f"{path}: tensor '{name}': ")
            for other in cases.MIX:
                if other != name:
                    bundle.get_tensor(other)
        path.write_bytes(whole)


def test_a_message_has_both_checksums(prefix: Path) -> None:
    from tfexp.formats.crc import crc32c, unmask

    where = entry("b/float64")
    path = edit(Path(f"{prefix}{DATA}"), lambda data: data.__setitem__(where.offset, 255))
    read = path.read_bytes()[where.offset : where.offset + where.size]
    with BundleReader(prefix) as bundle, pytest.raises(errors.DataLossError) as caught:
        bundle.get_tensor("b/float64")
    assert str(caught.value) == (
        f"{path}: tensor 'b/float64': Checksum does not match: stored {unmask(where.crc32c)} vs. "
        f"calculated on the restored bytes {crc32c(read)}"
    )


@pytest.mark.parametrize("length", [0, 1, 24, 63, 64, 100, 366])
def test_truncated_data_is_noticed(prefix: Path, length: int) -> None:
    os.truncate(f"{prefix}{DATA}", length)
    with pytest.raises(
        errors.DataLossError, match=f"the file is truncated: it has {length} bytes, the tensor's are "
    ) as caught:
        read_all(prefix)
    assert str(caught.value).startswith(f"{prefix}{DATA}: tensor '")


@pytest.mark.parametrize("length", [0, 1, 47, 48, 100, 300, 418, 460, 466])
def test_a_truncated_index_is_noticed(prefix: Path, length: int) -> None:
    os.truncate(f"{prefix}.index", length)
    with pytest.raises(errors.DataLossError) as caught:
        BundleReader(prefix)
    assert str(caught.value).startswith(f"{prefix}.index: not a checkpoint index, or a damaged one: ")


def test_a_damaged_index_is_noticed(prefix: Path) -> None:
    edit(Path(f"{prefix}.index"), lambda data: data.__setitem__(60, data[60] ^ 1))
    with pytest.raises(errors.DataLossError, match="the block at 0: checksum does not match: stored 0x"):
        BundleReader(prefix)


def test_a_foreign_file_is_noticed(prefix: Path) -> None:
    Path(f"{prefix}.index").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(
        errors.DataLossError, match=r"mix\.index: not a checkpoint index, or a damaged one: its last 8 bytes"
    ):
        BundleReader(prefix)


def foreign_table(prefix: Path, entries: dict[bytes, bytes]) -> None:
    table = TableBuilder()
    for key in sorted(entries):
        table.add(key, entries[key])
    Path(f"{prefix}.index").write_bytes(table.finish())


def test_a_table_that_is_no_index_is_noticed(prefix: Path) -> None:
    foreign_table(prefix, {b"a": b"b"})
    with pytest.raises(errors.DataLossError, match="not a checkpoint index: it has no header entry"):
        BundleReader(prefix)
    foreign_table(prefix, {b"": b"\xff\xff\xff"})
    with pytest.raises(errors.DataLossError, match="not a checkpoint index, or a damaged one"):
        BundleReader(prefix)
    header = BundleHeaderProto(num_shards=1)
    foreign_table(prefix, {b"": header.SerializeToString(), b"x": b"\xff\xff\xff"})
    with pytest.raises(errors.DataLossError, match="the entry of 'x' is damaged"):
        read_all(prefix)


def test_an_index_of_the_future_or_of_another_byte_order_is_named(prefix: Path) -> None:
    header = BundleHeaderProto(num_shards=1)
    header.version.min_consumer = 2
    foreign_table(prefix, {b"": header.SerializeToString()})
    with pytest.raises(errors.DataLossError, match="needs a reader of format version 2, this is 1"):
        BundleReader(prefix)
    foreign_table(prefix, {b"": BundleHeaderProto(num_shards=1, endianness="BIG").SerializeToString()})
    with pytest.raises(errors.DataLossError, match="endianness 1"):
        BundleReader(prefix)


def test_a_size_that_does_not_fit_the_shape_is_noticed(prefix: Path) -> None:
    header, entries = read_index(str(prefix))
    wrong = entry("int32")
    wrong.shape.dim[0].size += 1
    foreign_table(prefix, {**entries, b"": header.SerializeToString(), b"int32": wrong.SerializeToString()})
    with BundleReader(prefix) as bundle, pytest.raises(errors.DataLossError) as caught:
        bundle.get_tensor("int32")
    assert "24 bytes are stored, shape [4, 1, 2] needs 32" in str(caught.value)


def test_missing_files_are_named(prefix: Path) -> None:
    os.remove(f"{prefix}{DATA}")
    with BundleReader(prefix) as bundle, pytest.raises(errors.NotFoundError) as caught:
        bundle.get_tensor("scalar")
    assert str(caught.value) == f"{prefix}{DATA}; No such file or directory (needed for tensor 'scalar')"
    os.remove(f"{prefix}.index")
    with pytest.raises(errors.NotFoundError) as caught:
        BundleReader(prefix)
    assert str(caught.value) == (
        f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}"
    )


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "m.index").mkdir()
    with pytest.raises(errors.FailedPreconditionError, match=r"m\.index; Is a directory"):
        BundleReader(tmp_path / "m")
