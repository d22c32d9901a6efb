"""Checksums and variable-length integers, against published values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfexp.formats.crc import crc32c, mask, masked_crc32c, unmask
from tfexp.formats.varint import decode_varint, decode_varints, encode_varint, encode_varints


def test_crc32c_of_rfc_3720() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(np.full(32, 0xFF, np.uint8)) == 0x62A8AB43


@given(st.binary(), st.binary())
def test_crc_goes_on(a: bytes, b: bytes) -> None:
    assert crc32c(b, crc32c(a)) == crc32c(a + b)


@given(st.integers(0, 0xFFFFFFFF))
def test_mask_is_undone(crc: int) -> None:
    assert unmask(mask(crc)) == crc
    assert 0 <= mask(crc) <= 0xFFFFFFFF


def test_mask_of_the_empty_crc() -> None:
    assert masked_crc32c(b"") == 0xA282EAD8


@given(st.lists(st.integers(0, (1 << 64) - 1)))
def test_varints(values: list[int]) -> None:
    data = encode_varints(values)
    assert decode_varints(b"x" + data, 1, len(values)) == (values, len(data) + 1)


def test_varint_bytes() -> None:
    assert encode_varint(0) == b"\x00"
    assert encode_varint(150) == b"\x96\x01"
    assert decode_varint(b"\xac\x02", 0) == (300, 2)


@pytest.mark.parametrize(("data", "text"), [(b"", "cut off at byte 0"), (b"\x80", "byte 1"), (b"\x80" * 11, "10 bytes")])
def test_varints_that_do_not_end(data: bytes, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        decode_varint(data, 0)
