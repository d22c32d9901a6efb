"""TFRecord files: length, masked CRC of the length, data, masked CRC of the data, again and again.

The whole stream may be compressed (zlib or gzip). Source: `tf.python_io`.
"""

from __future__ import annotations

import os
import struct
import weakref
import zlib
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO

import numpy as np

from tfexp.core.errors import DataLossError, FailedPreconditionError
from tfexp.formats.compressed_file import ByteStream, open_stream, window
from tfexp.formats.crc import masked_crc32c, masked_crc32cs
from tfexp.formats.file_errors import file_error
from tfexp.formats.paths import local_path

_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")
_READ_SIZE = 1 << 18
_MAX_PIECE = 64 << 20
_AT_ONCE = 64  # records that are read ahead of the one that is asked for
_LENGTHS = 4096  # lengths whose CRCs are kept


class TFRecordCompressionType:
    """The kinds of compression. Source: `tf.python_io.TFRecordCompressionType`."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {
    TFRecordCompressionType.NONE: "",
    TFRecordCompressionType.ZLIB: "ZLIB",
    TFRecordCompressionType.GZIP: "GZIP",
}


class TFRecordOptions:
    """How a file is compressed: a TFRecordCompressionType, or `"ZLIB"`, `"GZIP"`, `""`, with zlib's settings.

    These are its level (-1, its own choice, to 9), window bits, memory level and strategy; `flush_mode`, the sizes of
    buffers and `compression_method` (there is one) are accepted. Raises ValueError for other types and levels. Source:
    `tf.python_io.TFRecordOptions`.
    """

    compression_type_map = _NAMES

    def __init__(
        self,
        compression_type: int | str | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ):
        self.compression_type = self.get_compression_type_string(compression_type)
        if compression_level is not None and not -1 <= compression_level <= 9:
            raise ValueError(f"compression_level must be -1, or 0 to 9, got {compression_level}")
        self.flush_mode = flush_mode
        self.input_buffer_size, self.output_buffer_size = input_buffer_size, output_buffer_size
        self.window_bits = window_bits
        self.compression_level = -1 if compression_level is None else compression_level
        self.compression_method = compression_method
        self.mem_level = zlib.DEF_MEM_LEVEL if mem_level is None else mem_level
        self.compression_strategy = zlib.Z_DEFAULT_STRATEGY if compression_strategy is None else compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: TFRecordOptions | int | str | None) -> str:
        """`"ZLIB"`, `"GZIP"` or `""` of options in any form."""
        if options is None:
            return ""
        if isinstance(options, TFRecordOptions):
            return options.compression_type
        name = options if isinstance(options, str) else _NAMES.get(options)
        if name is None or name not in _NAMES.values():
            raise ValueError(f'Not a valid compression_type: {options!r}; choose "", "ZLIB" or "GZIP"')
        return name


def encode_record(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return b"".join((length, _FOOTER.pack(masked_crc32c(length)), record, _FOOTER.pack(masked_crc32c(record))))


class TFRecordWriter:
    """Writes records to a new file (an older one is replaced). Source: `tf.python_io.TFRecordWriter`."""

    def __init__(self, path: str | os.PathLike[str], options: TFRecordOptions | int | str | None = None):
        self._path = os.fspath(path)
        settings = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        kind = settings.compression_type
        try:
            self._file: BinaryIO = open(local_path(self._path), "wb")  # noqa: SIM115 (closed by close)
        except OSError as error:
            raise file_error(self._path, error) from error
        self._deflate = None
        if kind:
            bits = window(kind) if settings.window_bits is None else settings.window_bits
            self._deflate = zlib.compressobj(
                settings.compression_level, zlib.DEFLATED, bits, settings.mem_level, settings.compression_strategy
            )

    def write(self, record: bytes) -> None:
        """Appends a record. FailedPreconditionError when the writer is closed."""
        self._check_open()
        self._put(encode_record(record))

    def flush(self) -> None:
        """Hands to the operating system all that was written, in a form from which it can be read back.

        FailedPreconditionError when the writer is closed.
        """
        self._check_open()
        if self._deflate is not None:
            self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Completes the file. Further calls do nothing."""
        if self._file.closed:
            return
        with self._file:
            if self._deflate is not None:
                self._file.write(self._deflate.flush())

    def _check_open(self) -> None:
        if self._file.closed:
            raise FailedPreconditionError(None, None, f"{self._path}: the writer is closed")

    def _put(self, data: bytes) -> None:
        try:
            self._file.write(data if self._deflate is None else self._deflate.compress(data))
        except OSError as error:
            raise file_error(self._path, error) from error

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class RecordIterator:
    """See `tf_record_iterator`. It keeps the file open, and goes on after its end where records were added."""

    def __init__(self, name: str, source: ByteStream):
        self._name, self._records = name, RecordStream(source, name)
        self._ready: deque[bytes] = deque()
        weakref.finalize(self, source.close)

    def __iter__(self) -> RecordIterator:
        return self

    def __next__(self) -> bytes:
        if not self._ready:
            try:
                self._ready.extend(self._records.take(_AT_ONCE))
            except OSError as error:
                raise file_error(self._name, error) from error
        if not self._ready:
            raise StopIteration
        return self._ready.popleft()


def tf_record_iterator(path: str | os.PathLike[str], options: TFRecordOptions | int | str | None = None) -> RecordIterator:
    """The records of a file; asked again after the last one, those that were added since.

    Source: `tf.python_io.tf_record_iterator`.

    Raises NotFoundError where there is no such file, and DataLossError, naming file, record and offset (in
    the uncompressed stream), where it ends within a record or a CRC does not match.
    """
    name = os.fspath(path)
    return RecordIterator(name, open_stream(name, TFRecordOptions.get_compression_type_string(options)))


def read_records(source: ByteStream, name: str) -> Iterator[bytes]:
    """The records of a stream from where it stands; `name` is the file's, for errors (see
    `tf_record_iterator`).
    """
    records = RecordStream(source, name)
    while found := records.take(_AT_ONCE):
        yield from found


class _DamagedError(Exception):
    """What is wrong with the record that comes next; `{place}`, `{within}` stand for where it is."""


class _TruncatedError(_DamagedError):
    """Its end is not there: it may be there later."""


class RecordStream:
    """The records of a stream, several at a time; errors as `tf_record_iterator` says, after the records before them."""

    def __init__(self, source: ByteStream, name: str):
        self._source, self._name = source, name
        self._buffer, self._at = b"", 0  # what was read, and where the next record begins in it
        self._number = self._offset = 0  # of the next record, in the file
        self._lengths: dict[bytes, int] = {}  # by headers whose CRCs were right: a file has few different ones
        self._failure: DataLossError | None = None
        self._may_go_on = False  # after the failure

    def take(self, count: int) -> list[bytes]:
        """At most `count` further records, at least one; none at the end."""
        records: list[bytes] = []
        stored: list[bytes] = []
        damage = None
        try:
            while self._failure is None and len(records) < count:
                self._from_buffer(records, stored, count)
                if len(records) == count:
                    break
                length = self._header()
                if length is None:
                    break
                begin, end = self._body(length)
                records.append(self._buffer[begin:end])
                self._at = end + _FOOTER.size
                stored.append(self._buffer[end : self._at])
        except _DamagedError as error:
            damage, self._may_go_on = str(error), isinstance(error, _TruncatedError)
        computed, expected = masked_crc32cs(records), np.frombuffer(b"".join(stored), "<u4")
        if not np.array_equal(computed, expected):
            first = int(np.argmax(computed != expected))
            damage, self._may_go_on = _mismatch("data", int(expected[first]), int(computed[first])), False
            del records[first:]
        self._number += len(records)
        self._offset += sum(map(len, records)) + (_HEADER.size + _FOOTER.size) * len(records)
        if damage is not None:
            place = f"record at {self._offset} (record {self._number})"
            within = f"in record {self._number} at offset {self._offset}"
            self._failure = DataLossError(None, None, f"{self._name}: {damage.format(place=place, within=within)}")
        if self._failure is not None and not records:
            failure = self._failure
            if self._may_go_on:
                self._failure = None
            raise failure
        return records

    def close(self) -> None:
        """Nothing more is read."""
        self._source.close()

    def _from_buffer(self, records: list[bytes], stored: list[bytes], count: int) -> None:
        """Adds records that the buffer has whole and whose headers were there before, and their CRCs."""
        buffer, at, size, length_of = self._buffer, self._at, len(self._buffer), self._lengths.get
        for _ in range(count - len(records)):
            begin = at + 12
            length = length_of(buffer[at:begin])
            if length is None:
                break
            end = begin + length
            if end + 4 > size:
                break
            at = end + 4
            records.append(buffer[begin:end])
            stored.append(buffer[end:at])
        self._at = at

    def _header(self) -> int | None:
        """The length of the next record; None at the end of the file."""
        if self._at + _HEADER.size > len(self._buffer):
            self._fill(_HEADER.size)
            if not self._buffer:
                return None
            self._whole(0, _HEADER.size)
        length: int
        length, stored = _HEADER.unpack_from(self._buffer, self._at)
        header = self._buffer[self._at : self._at + _HEADER.size]
        if header not in self._lengths:
            computed = masked_crc32c(header[:8])
            if stored != computed:
                raise _DamagedError(_mismatch("length", stored, computed))
            if len(self._lengths) < _LENGTHS:
                self._lengths[header] = length
        return length

    def _body(self, length: int) -> tuple[int, int]:
        """Where the record is whose header stands at `_at`, once the buffer has all of it."""
        begin = self._at + _HEADER.size
        if begin + length + _FOOTER.size <= len(self._buffer):
            return begin, begin + length
        self._fill(_HEADER.size + length + _FOOTER.size)
        self._whole(_HEADER.size, length)
        self._whole(_HEADER.size + length, _FOOTER.size)
        return _HEADER.size, _HEADER.size + length

    def _whole(self, begin: int, size: int) -> None:
        have = len(self._buffer) - begin
        if have < size:
            raise _TruncatedError(f"truncated {{place}}: {size} bytes were to follow, {max(have, 0)} are there")

    def _fill(self, size: int) -> None:
        """Have `size` bytes from `_at` on, fewer at the end of the file, in a buffer that begins there.

        They are read in pieces, because a length that a damaged file gives may be beyond all memory.
        """
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        try:
            while have < size and (part := self._source.read(min(max(size - have, _READ_SIZE), _MAX_PIECE))):
                parts.append(part)
                have += len(part)
        except zlib.error as error:
            text = str(error).replace("{", "{{").replace("}", "}}")
            raise _DamagedError(f"damaged compression {{within}}: {text}") from None
        self._buffer, self._at = b"".join(parts), 0


def _mismatch(what: str, stored: int, computed: int) -> str:
    return f"corrupted {{place}}: checksum of its {what} does not match: stored {stored:#010x}, calculated {computed:#010x}"
