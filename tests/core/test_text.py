"""Bytes, strings and paths for whoever takes either."""

import pathlib

import pytest

from tfexp.core import text


def test_bytes_and_text_both_ways():
    assert text.as_bytes("é") == text.as_bytes("é".encode()) == text.as_bytes(bytearray("é".encode())) == "é".encode()
    assert text.as_text("é".encode()) == text.as_text("é") == "é"
    assert text.as_bytes("é", "latin-1") == b"\xe9"


@pytest.mark.parametrize("convert", [text.as_bytes, text.as_text])
def test_other_things_are_refused(convert):
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        convert(3)


def test_anything_as_a_string():
    assert [text.as_str_any(v) for v in (b"a", "b", 3, None)] == ["a", "b", "3", "None"]
    assert text.path_to_str(pathlib.PurePosixPath("a/b")) == "a/b"
    assert text.path_to_str(5) == 5
