"""Compressed files are read as what was compressed, in any way a file is read; damage is placed."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tfexp.core.errors import DataLossError, NotFoundError
from tfexp.formats.compressed_file import compression_by_name, open_file

TEXT = b"".join(b"line %d\rwith a return\n" % n for n in range(50_000))
PACKED = pytest.mark.parametrize(
    ("kind", "pack"), [("", bytes), ("GZIP", gzip.compress), ("ZLIB", zlib.compress)], ids=["plain", "gzip", "zlib"]
)


@PACKED
def test_reads_and_lines(kind: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(pack(TEXT))
    with open_file(str(path), kind) as file:
        assert file.read(7) + file.read() == TEXT
        assert file.read() == b""
    with open_file(str(path), kind) as file:
        assert [line.removesuffix(b"\n") for line in file] == TEXT.split(b"\n")[:-1], "a return alone ends no line"


@PACKED
def test_the_end_may_be_missing(kind: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """As a writer leaves it that was killed: what can be read, is."""
    path = tmp_path / "text"
    path.write_bytes(pack(TEXT)[:-100])
    with open_file(str(path), kind) as file:
        found = file.read()
    assert TEXT.startswith(found)
    assert len(found) > len(TEXT) / 2


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_damage_is_placed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"not compressed at all")
    with open_file(str(path), kind) as file, pytest.raises(DataLossError, match=r"text: damaged compression after byte 0: "):
        file.read()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere; No such file or directory"):
        open_file(str(tmp_path / "nowhere"), "GZIP")


def test_names_say_how_files_are_compressed() -> None:
    names = ["a.csv", "a.csv.gz", "b.tfrecord.zz", "b.tfrecord.zlib", Path("x.gz/plain")]
    assert list(map(compression_by_name, names)) == ["", "GZIP", "ZLIB", "ZLIB", ""]
