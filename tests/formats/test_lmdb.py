"""LMDB files: the pairs of one that the library wrote (a tree of two levels, long values, deleted keys), and damage."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from tfexp.core.errors import DataLossError, NotFoundError, OpError, UnimplementedError
from tfexp.formats.lmdb import read_pairs

# Written by the package `lmdb` 3.0: 300 pairs in one transaction; in another, two more, and each seventh deleted.
WRITTEN = gzip.decompress((Path(__file__).parent / "pairs.mdb.gz").read_bytes())
PAGE = 4096
PAIRS = {
    **{b"%03d" % i: b"%d " % i * (i % 50) for i in range(300) if i % 7},
    b"long": bytes(range(256)) * 40,
    b"none": b"",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "data.mdb"
    found.write_bytes(WRITTEN)
    return found


def test_pairs_come_by_keys(path: Path) -> None:
    assert list(read_pairs(str(path))) == sorted(PAIRS.items())
    assert list(read_pairs(str(path.parent))) == sorted(PAIRS.items())


def test_the_description_of_the_later_transaction_counts(path: Path) -> None:
    # Its number is the last one of a description; without the second, what the first transaction wrote is there.
    transactions = [int.from_bytes(WRITTEN[page + 144 : page + 152], "little") for page in (0, PAGE)]
    assert sorted(transactions) == [1, 2]
    older = bytearray(WRITTEN)
    later = transactions.index(2) * PAGE
    older[later + 144 : later + 152] = bytes(8)
    path.write_bytes(older)
    assert dict(read_pairs(str(path))).keys() == {b"%03d" % i for i in range(300)}


@pytest.mark.parametrize(
    ("damaged", "kind", "text"),
    [
        (b"", DataLossError, "is not an LMDB file, or it is cut off"),
        (b"x" * 2 * PAGE, DataLossError, "is not an LMDB file of version 1"),
        (WRITTEN[: 5 * PAGE], DataLossError, "cut off"),
        (WRITTEN[: 2 * PAGE] + bytes(len(WRITTEN) - 2 * PAGE), DataLossError, "page .* is damaged"),
        # The main tree's flags, in both descriptions.
        (WRITTEN[:92] + b"\4" + WRITTEN[93 : PAGE + 92] + b"\4" + WRITTEN[PAGE + 93 :], UnimplementedError, "MDB_DUPSORT"),
    ],
    ids=["empty", "other", "cut", "zeros", "several values"],
)
def test_damage_is_noticed(path: Path, damaged: bytes, kind: type[OpError], text: str) -> None:
    path.write_bytes(damaged)
    with pytest.raises(kind, match=f"{re.escape(str(path))}.*{text}"):
        list(read_pairs(str(path)))


def test_a_tree_that_comes_back_to_its_root_ends(path: Path) -> None:
    round_about, root = bytearray(WRITTEN), 12 * PAGE
    first = root + int.from_bytes(WRITTEN[root + 16 : root + 18], "little")
    assert round_about[first : first + 2] != b"\14\0"
    round_about[first : first + 2] = b"\14\0"  # the page that the first branch leads to
    path.write_bytes(round_about)
    with pytest.raises(DataLossError, match="page 12 of the LMDB file is damaged"):
        list(read_pairs(str(path)))


def test_files_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=re.escape(str(tmp_path / "data.mdb"))):
        list(read_pairs(str(tmp_path)))
