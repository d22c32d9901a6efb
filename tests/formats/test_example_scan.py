"""The values of many serialized Examples, however they are written: what protobuf reads of each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfexp.formats.example_scan import Column, read_columns
from tfexp.formats.example_template import Templates
from tfexp.formats.example_wire import BYTES, FLOATS, INTS, MalformedError
from tfexp.formats.protos.example import BytesList, Example, Feature, FloatList, Int64List

LISTS = {BYTES: "bytes_list", FLOATS: "float_list", INTS: "int64_list"}
KEYS = ["a", "ab", "a name of more than sixteen letters", "a name of even so many letters too", "eight888", "nine99999"]
WANTED = [(key.encode(), kind) for key, kind in zip(KEYS, [BYTES, FLOATS, INTS, FLOATS, INTS, BYTES], strict=True)]
INTEGERS = st.sampled_from([0, 1, 127, 128, 2**14, 2**49 - 1, 2**56 - 1, 2**56, 2**63 - 1, -1, -(2**63)])
FEATURES = st.one_of(
    st.builds(lambda v: Feature(bytes_list=BytesList(value=v)), st.lists(st.binary(max_size=200), max_size=3)),
    st.builds(lambda v: Feature(float_list=FloatList(value=v)), st.lists(st.floats(width=32, allow_nan=False), max_size=3)),
    st.builds(lambda v: Feature(int64_list=Int64List(value=v)), st.lists(INTEGERS, max_size=3)),
    st.just(Feature()),
)
NAMES = st.sampled_from([*KEYS, "another", "a name of more than sixteen lettres"])
UNPACKED = b"\x0a\x11\x0a\x0f\x0a\x02ab\x12\x09\x12\x07\x0d\x00\x00\x00\x3f\x0a\x00"  # half packed, half not
REVERSED = b"\x0a\x0f\x0a\x0d\x12\x08\x12\x06\x0a\x04\x00\x00\x80\x3f\x0a\x01b"  # a value before its key


def serialized(features: Sequence[tuple[str, Any]]) -> bytes:
    """Entries in this order; of equal names the last one counts."""
    parts = []
    for name, feature in features:
        one = Example()
        one.features.feature[name].CopyFrom(feature)
        parts.append(one.features.SerializeToString())
    inside = b"".join(parts)
    return b"\x0a" + _varint(len(inside)) + inside


def _varint(number: int) -> bytes:
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def of_record(column: Column, row: int) -> tuple[int, list[Any]]:
    before = int(column.counts[:row].sum())
    return int(column.kinds[row]), column.values[before : before + int(column.counts[row])].tolist()


RECORDS = st.one_of(
    st.lists(st.tuples(NAMES, FEATURES), max_size=6).map(serialized), st.sampled_from([b"", b"\x0a\x00", UNPACKED, REVERSED])
)


@settings(max_examples=80, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=12))
def test_what_protobuf_reads(records: list[bytes]) -> None:
    templates = Templates()
    for _ in range(2):  # the second time like records have been seen
        columns = read_columns(records, WANTED, templates)
        for row, record in enumerate(records):
            features = Example.FromString(record).features.feature
            for (key, kind), column in zip(WANTED, columns, strict=True):
                name = key.decode()
                given_kind = features[name].WhichOneof("kind") if name in features else None
                own = next((k for k, text in LISTS.items() if text == given_kind), 0)
                values = list(getattr(features[name], LISTS[kind]).value) if own == kind else []
                assert of_record(column, row) == (own, values)


@pytest.mark.parametrize("damaged", [b"\x0a\x05\x0a", b"\x0a\x02\x0a\x09", b"\xff" * 12, b"\x0a\x04\x0a\x02\x0a\x70"])
def test_what_is_no_example_is_found_among_others(damaged: bytes) -> None:
    good = [serialized([("a", Feature(bytes_list=BytesList(value=[b"x" * n])))]) for n in range(9)]
    with pytest.raises(MalformedError) as raised:
        read_columns([*good[:5], damaged, *good[5:]], WANTED)
    assert raised.value.position == 5


def test_numbers_that_are_cut_off() -> None:
    good = [serialized([("ab", Feature(float_list=FloatList(value=[1.0] * n)))]) for n in range(1, 9)]
    cut = b"\x0a\x0f\x0a\x0d\x0a\x02ab\x12\x07\x12\x05\x0a\x03\x00\x00\x00"
    assert Example.FromString(good[0]).features.feature["ab"].float_list.value == [1.0]
    with pytest.raises(MalformedError) as raised:
        read_columns([*good, cut], WANTED)
    assert raised.value.position == 8
    np.testing.assert_array_equal(read_columns(good, WANTED)[1].counts, range(1, 9))
