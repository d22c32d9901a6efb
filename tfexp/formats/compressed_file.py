"""Files that may be compressed, by zlib or gzip, as streams of their uncompressed bytes."""

from __future__ import annotations

import io
import os
import zlib
from typing import Any, BinaryIO, Protocol

from tfexp.core.errors import DataLossError
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path

_READ_SIZE = 1 << 18
_KINDS = {".gz": "GZIP", ".gzip": "GZIP", ".zz": "ZLIB", ".zlib": "ZLIB"}


def compression_by_name(path: str | os.PathLike[str]) -> str:
    """How a file of that name is compressed: `"GZIP"` (.gz), `"ZLIB"` (.zz, .zlib), else `""`."""
    return _KINDS.get(os.path.splitext(path)[1], "")


def window(kind: str) -> int:
    """zlib's `wbits`: gzip's format is zlib's in another frame, which 16 more bits ask for."""
    return zlib.MAX_WBITS + (16 if kind == "GZIP" else 0)


class ByteStream(Protocol):
    """What a file's bytes are read from."""

    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *error: Any) -> None: ...


def open_stream(path: str, kind: str = "") -> ByteStream:
    """The bytes of a file, uncompressed (`kind`: `"ZLIB"`, `"GZIP"`, or `""`), to read and close. `tf.errors`."""
    try:
        file = open(local_path(path), "rb", buffering=_READ_SIZE)  # noqa: SIM115 (the caller closes it)
    except OSError as error:
        raise file_error(path, error) from error
    return _Inflater(file, window(kind)) if kind else file


class _Inflater:
    """A compressed stream as a file to read from; gzip members may follow each other.

    A stream without its end mark, as a writer leaves that was killed, ends where its bytes end. Raises
    zlib.error for bytes that are not such a stream.
    """

    def __init__(self, file: BinaryIO, window: int):
        self._file, self._window = file, window
        self._inflate = zlib.decompressobj(window)
        self._buffer = bytearray()

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer at the end."""
        while len(self._buffer) < size:
            source = self._inflate.unconsumed_tail or self._inflate.unused_data or self._file.read(_READ_SIZE)
            if not source:
                break
            if self._inflate.eof:
                self._inflate = zlib.decompressobj(self._window)
            self._buffer += self._inflate.decompress(source, _READ_SIZE)
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> _Inflater:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


def open_file(path: str, kind: str = "") -> io.BufferedReader:
    """A file to read from in any way, uncompressed as it is read.

    `tf.errors`; reading raises DataLossError, naming file and offset, where the compression is damaged.
    """
    stream = open_stream(path, kind)
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(_Uncompressed(stream, path), _READ_SIZE)


class _Uncompressed(io.RawIOBase):
    def __init__(self, stream: ByteStream, path: str):
        self._stream, self._path, self._offset = stream, path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except zlib.error as error:
            raise DataLossError(
                None, None, f"{self._path}: damaged compression after byte {self._offset}: {error}"
            ) from None
        buffer[: len(data)] = data
        self._offset += len(data)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
