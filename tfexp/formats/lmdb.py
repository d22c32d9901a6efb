"""The pairs of an LMDB file, read without the library. Source: the published layout of LMDB 0.9's data files.

A file is pages, the first two of which describe the tree (the one of the later transaction counts). The tree's pages hold
nodes in the order of their keys: branches lead to pages, leaves have values, and long values lie in pages of their own.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

from tfexp.core.errors import DataLossError, UnimplementedError
from tfexp.formats.file_errors import file_error

_PAGE = struct.Struct("<QHHHH")  # number, padding, flags, end of the nodes' offsets, beginning of the nodes
_META = struct.Struct("<IIQQ")  # magic, version, address, size of the map
_TREE = struct.Struct("<IHHQQQQQ")  # page size, flags, depth, branches, leaves, long pages, entries, root
_LAST = struct.Struct("<QQ")  # last page, transaction
_NODE = struct.Struct("<HHHH")  # size (or page), its upper half, flags (or the page's upper part), size of the key

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_NO_PAGE = 2**64 - 1
_BRANCH, _LEAF = 0x01, 0x02
_LONG = 0x01  # a node's flag: the value is the number of the page where it begins
_SEVERAL_VALUES = 0x04  # a tree's flag: keys may come more than once


def read_pairs(path: str) -> Iterator[tuple[bytes, bytes]]:
    """(key, value) of the file's main tree, by keys. `path` may be the folder that has the file `data.mdb`.

    OpError for a file that cannot be read, DataLossError for one that is damaged or no LMDB file, UnimplementedError for a
    tree whose keys may have several values.
    """
    if os.path.isdir(path):
        path = os.path.join(path, "data.mdb")
    try:
        with open(path, "rb") as file:
            yield from _Tree(file, path).pairs()
    except OSError as error:
        raise file_error(path, error) from error
    except (struct.error, IndexError):
        raise DataLossError(None, None, f"{path}: a page of the LMDB file is damaged") from None


class _Tree:
    """The main tree of an open file."""

    def __init__(self, file: BinaryIO, path: str):
        self._file, self._path = file, path
        first = self._meta(0)
        self._size = first[1]
        _, _, self._root, self._depth, flags = max(first, self._meta(self._size))
        if flags & _SEVERAL_VALUES:
            raise UnimplementedError(None, None, f"{path}: keys of several values (MDB_DUPSORT) are not read")

    def _meta(self, offset: int) -> tuple[int, int, int, int, int]:
        """(transaction, size of a page, the tree's root, depth and flags) of the description that begins there."""
        data = self._at(offset, _PAGE.size + _META.size + 2 * _TREE.size + _LAST.size)
        magic, version, *_ = _META.unpack_from(data, _PAGE.size)
        if magic != _MAGIC or version != _VERSION:
            raise DataLossError(None, None, f"{self._path} is not an LMDB file of version {_VERSION}")
        trees = _PAGE.size + _META.size
        size = _TREE.unpack_from(data, trees)[0]
        _, flags, depth, *_, root = _TREE.unpack_from(data, trees + _TREE.size)
        _, transaction = _LAST.unpack_from(data, trees + 2 * _TREE.size)
        return transaction, size, root, depth, flags

    def _at(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) < size:
            raise DataLossError(None, None, f"{self._path} is not an LMDB file, or it is cut off")
        return data

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        pending = [] if self._root == _NO_PAGE else [(self._root, self._depth)]
        while pending:
            number, levels = pending.pop()
            page = self._at(number * self._size, self._size)
            found, _, kind, lower, _ = _PAGE.unpack_from(page)
            if found != number or not kind & (_BRANCH | _LEAF) or not levels:
                raise DataLossError(None, None, f"{self._path}: page {number} of the LMDB file is damaged")
            offsets = struct.unpack_from(f"<{(lower - _PAGE.size) // 2}H", page, _PAGE.size)
            if kind & _LEAF:
                for offset in offsets:
                    yield self._pair(page, offset)
            else:
                pending += [(self._child(page, offset), levels - 1) for offset in reversed(offsets)]

    def _child(self, page: bytes, offset: int) -> int:
        low, middle, high, _ = _NODE.unpack_from(page, offset)
        return int(low | middle << 16 | high << 32)

    def _pair(self, page: bytes, offset: int) -> tuple[bytes, bytes]:
        low, high, flags, key_size = _NODE.unpack_from(page, offset)
        begin, size = offset + _NODE.size + key_size, low | high << 16
        if flags & _LONG:
            (number,) = struct.unpack_from("<Q", page, begin)
            value = self._at(number * self._size + _PAGE.size, size)
        else:
            value = page[begin : begin + size]
        return page[begin - key_size : begin], value
