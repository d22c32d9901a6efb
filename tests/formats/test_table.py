"""LevelDB-style tables: any entries come back, TensorFlow's bytes, damage is noticed wherever it is."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden import format_cases as cases
from tfexp.formats.crc import masked_crc32c
from tfexp.formats.table import TableBuilder, TableError, read_table
from tfexp.formats.varint import decode_varint, decode_varints


def build(entries: dict[bytes, bytes]) -> bytes:
    table = TableBuilder()
    for key in sorted(entries):
        table.add(key, entries[key])
    return table.finish()


@given(st.dictionaries(st.binary(max_size=20), st.binary(max_size=50), max_size=60))
def test_round_trip(entries: dict[bytes, bytes]) -> None:
    assert list(read_table(build(entries))) == sorted(entries.items())


def test_several_blocks() -> None:
    entries = {b"\xff" * (i % 3) + b"key %05d" % i: bytes([i % 256]) * 700 for i in range(2003)}
    data = build(entries)
    assert len(data) > 5 * (256 << 10)
    assert list(read_table(data)) == sorted(entries.items())


@pytest.mark.parametrize("name", ["mix", "partitioned", "sharded"])
def test_tensorflows_bytes(name: str) -> None:
    data = (cases.FORMATS / f"{name}.index").read_bytes()
    assert build(dict(read_table(data))) == data


def test_keys_must_increase() -> None:
    table = TableBuilder()
    table.add(b"b", b"")
    for key in (b"b", b"a"):
        with pytest.raises(ValueError, match=f"table keys must increase: {key!r} comes after b'b'"):
            table.add(key, b"")


ENTRIES = {b"": b"header", b"alpha": b"1" * 30, b"alphabet": b"2", b"beta": b"3" * 5}


@pytest.mark.parametrize("length", range(len(build(ENTRIES))))
def test_truncation_anywhere_is_noticed(length: int) -> None:
    with pytest.raises(TableError):
        list(read_table(build(ENTRIES)[:length]))


def test_damage_anywhere_is_noticed() -> None:
    """Whatever bit flips, reading fails or gives the same; the same only in what reading does not need."""
    whole = build(ENTRIES)
    footer = len(whole) - 48
    metaindex, _ = decode_varint(whole, footer)
    (_, _, index, size), _ = decode_varints(whole, footer, 4)
    unneeded = {*range(metaindex, index), *range(footer, len(whole) - 8)}
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x40
        try:
            assert dict(read_table(bytes(damaged))) == ENTRIES
            assert position in unneeded
        except TableError:
            assert position not in range(metaindex, index)
    assert index + size + 5 == footer


@pytest.mark.parametrize(("kind", "name"), [(1, "snappy"), (7, "type 7")])
def test_compression_is_named(kind: int, name: str) -> None:
    whole = bytearray(build({b"a": b"b"}))
    end = 5 + 8  # the entry (three varints, key, value), one restart point and their count
    whole[end] = kind
    struct.pack_into("<I", whole, end + 1, masked_crc32c(bytes(whole[: end + 1])))
    with pytest.raises(TableError, match=rf"the block at 0 is compressed \({name}\)"):
        list(read_table(bytes(whole)))
