"""Sorted tables of (key, value) bytes in LevelDB's file layout: the index of a checkpoint is one.

A file is data blocks, an empty metaindex block, an index block (one entry per data block: a key not below the
block's last and below the next block's first, and where the block lies), and a footer of 48 bytes that says
where those two are.

A block is entries, then the positions of its restart points and their count as uint32. An entry is three
varints (bytes shared with the previous key, further key bytes, value bytes), then those bytes; at a restart
point nothing is shared. A byte of compression type (0: none) and a masked CRC of block and type follow each
block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tfexp.formats.crc import crc32c, mask
from tfexp.formats.varint import decode_varint, encode_varint, encode_varints

_BLOCK_SIZE = 256 << 10
_RESTART_INTERVAL = 16
_FOOTER_SIZE = 48
_TRAILER_SIZE = 5
_MAGIC = 0xDB4775248B80FB57
_NO_COMPRESSION, _SNAPPY = 0, 1


class TableError(ValueError):
    """Bytes that are no table, or a damaged one; the message says which and where, the caller knows the file."""


class _Block:
    """A block that is being built."""

    def __init__(self, restart_interval: int):
        self._interval = restart_interval
        self._data = bytearray()
        self._restarts = [0]
        self._since_restart = 0
        self._last_key = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since_restart < self._interval:
            shared = _shared_prefix(self._last_key, key)
        else:
            self._restarts.append(len(self._data))
            self._since_restart = 0
        self._data += encode_varints((shared, len(key) - shared, len(value)))
        self._data += key[shared:]
        self._data += value
        self._last_key = key
        self._since_restart += 1

    @property
    def size(self) -> int:
        """Bytes of the finished block."""
        return len(self._data) + 4 * len(self._restarts) + 4

    def finish(self) -> bytes:
        return bytes(self._data) + struct.pack(f"<{len(self._restarts) + 1}I", *self._restarts, len(self._restarts))


class TableBuilder:
    """Builds a table's bytes; TensorFlow's own builder makes the same bytes from the same entries."""

    def __init__(self) -> None:
        self._file = bytearray()
        self._block = _Block(_RESTART_INTERVAL)
        self._index = _Block(1)
        self._last_key: bytes | None = None
        self._pending: bytes | None = None  # the handle of a block whose index key waits for the next key

    def add(self, key: bytes, value: bytes) -> None:
        """Appends an entry. Raises ValueError unless `key` is above the last one."""
        if self._last_key is not None and key <= self._last_key:
            raise ValueError(f"table keys must increase: {key!r} comes after {self._last_key!r}")
        if self._pending is not None:
            self._index.add(_separator(self._last_key or b"", key), self._pending)
            self._pending = None
        self._block.add(key, value)
        self._last_key = key
        if self._block.size >= _BLOCK_SIZE:
            self._end_block()

    def finish(self) -> bytes:
        """The file's bytes."""
        if self._block.size > 8:  # more than the one restart point of an empty block
            self._end_block()
        metaindex = self._write(_Block(1).finish())
        if self._pending is not None:
            self._index.add(_successor(self._last_key or b""), self._pending)
        index = self._write(self._index.finish())
        self._file += (metaindex + index).ljust(_FOOTER_SIZE - 8, b"\0")
        self._file += struct.pack("<Q", _MAGIC)
        return bytes(self._file)

    def _end_block(self) -> None:
        self._pending = self._write(self._block.finish())
        self._block = _Block(_RESTART_INTERVAL)

    def _write(self, block: bytes) -> bytes:
        """Appends a block with its trailer; returns its handle (position and size as varints)."""
        handle = encode_varint(len(self._file)) + encode_varint(len(block))
        block += bytes((_NO_COMPRESSION,))
        self._file += block
        self._file += struct.pack("<I", mask(crc32c(block)))
        return handle


def read_table(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a table file, in order. Raises TableError at the first thing that is wrong."""
    if len(data) < _FOOTER_SIZE:
        raise TableError(f"{len(data)} bytes are too few for a table")
    (magic,) = struct.unpack_from("<Q", data, len(data) - 8)
    if magic != _MAGIC:
        raise TableError(f"its last 8 bytes are {magic:#018x}, not a table's {_MAGIC:#018x}")
    try:
        position = len(data) - _FOOTER_SIZE
        _, position = _read_handle(data, position)
        index, _ = _read_handle(data, position)
        for _, handle in _read_block(data, index, "the index block"):
            where, _ = _read_handle(handle, 0)
            yield from _read_block(data, where, f"the block at {where[0]}")
    except TableError:
        raise
    except ValueError as error:
        raise TableError(str(error)) from None


def _read_handle(data: bytes, position: int) -> tuple[tuple[int, int], int]:
    """((position, size) of a block, position after the handle)."""
    start, position = decode_varint(data, position)
    size, position = decode_varint(data, position)
    return (start, size), position


def _read_block(data: bytes, handle: tuple[int, int], what: str) -> Iterator[tuple[bytes, bytes]]:
    start, size = handle
    end = start + size
    if end + _TRAILER_SIZE > len(data) - _FOOTER_SIZE or size < 4:
        raise TableError(f"{what} ({size} bytes at {start}) does not lie within the file's {len(data)} bytes")
    (stored,) = struct.unpack_from("<I", data, end + 1)
    computed = mask(crc32c(data[start : end + 1]))
    if stored != computed:
        raise TableError(f"{what}: checksum does not match: stored {stored:#010x}, its bytes have {computed:#010x}")
    if data[end] != _NO_COMPRESSION:
        kind = "snappy" if data[end] == _SNAPPY else f"type {data[end]}"
        raise TableError(f"{what} is compressed ({kind}), which checkpoints are not")
    (restarts,) = struct.unpack_from("<I", data, end - 4)
    entries_end = end - 4 - 4 * restarts
    key = b""
    position = start
    while position < entries_end:
        shared, position = decode_varint(data, position)
        added, position = decode_varint(data, position)
        length, position = decode_varint(data, position)
        if shared > len(key) or position + added + length > entries_end:
            raise TableError(f"{what}: the entry at {position} runs out of the block")
        key = key[:shared] + data[position : position + added]
        position += added
        yield key, data[position : position + length]
        position += length


def _shared_prefix(a: bytes, b: bytes) -> int:
    limit = min(len(a), len(b))
    if a[:limit] == b[:limit]:
        return limit
    return next(i for i in range(limit) if a[i] != b[i])


def _separator(last: bytes, following: bytes) -> bytes:
    """A short key that is not below `last` and below `following`."""
    shared = _shared_prefix(last, following)
    if shared < min(len(last), len(following)):
        byte = last[shared]
        if byte < 0xFF and byte + 1 < following[shared]:
            return last[:shared] + bytes((byte + 1,))
    return last


def _successor(last: bytes) -> bytes:
    """A short key that is not below `last`."""
    for position, byte in enumerate(last):
        if byte != 0xFF:
            return last[:position] + bytes((byte + 1,))
    return last
