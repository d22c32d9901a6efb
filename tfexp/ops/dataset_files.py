"""Data sets of the records of files: lines of text, TFRecords, records of one length; and skipping what cannot be read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol

import numpy as np

from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.core.log import get_logger
from tfexp.formats.compressed_file import open_file, open_stream
from tfexp.formats.file_errors import file_error
from tfexp.formats.tfrecord import RecordStream
from tfexp.ops.dataset import Chain, Dataset, DatasetIterator, Element, FromRecipe, State, as_count, define_dataset

_FILES = "filenames: string, compression_type: string, buffer_size: int64"
_METADATA = "{metadata: string = ''} #stateful"
text_line_dataset = define_dataset(f"TextLineDataset({_FILES}) -> (handle: variant) {_METADATA}")
tf_record_dataset = define_dataset(f"TFRecordDataset({_FILES}) -> (handle: variant) {_METADATA}")
_LENGTHS = "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
fixed_length_record_dataset_v2 = define_dataset(
    f"FixedLengthRecordDatasetV2({_LENGTHS}, compression_type: string) -> (handle: variant) {_METADATA}"
)

_SKIPPED = 1024  # records that are passed over at once


class Reading(Protocol):
    """The records of a file that is open."""

    def take(self, count: int) -> list[bytes]:
        """At most so many further records, at least one; none at the end."""
        ...

    def close(self) -> None: ...


class Generated:
    """The records that a generator gives, which closes the file. Those before an error come before it."""

    def __init__(self, records: Generator[bytes, None, None]):
        self._records = records
        self._failure: Exception | None = None

    def take(self, count: int) -> list[bytes]:
        found: list[bytes] = []
        try:
            if self._failure is not None:
                raise self._failure
            found.extend(itertools.islice(self._records, count))
        except Exception as error:
            if not found:
                raise
            self._failure = error
        return found

    def close(self) -> None:
        self._records.close()


class Lines(Generated):
    """A file's lines without their ends (`\\n` or `\\r\\n`)."""

    def __init__(self, name: str, kind: str):
        super().__init__(_with_ends(name, kind))

    def take(self, count: int) -> list[bytes]:
        lines = super().take(count)
        text = b"".join(lines)
        if b"\r" in text:
            return [line.removesuffix(b"\n").removesuffix(b"\r") for line in lines]
        return text.removesuffix(b"\n").split(b"\n") if lines else []


def _with_ends(name: str, kind: str) -> Generator[bytes, None, None]:
    try:
        with open_file(name, kind) as file:
            yield from file
    except OSError as error:
        raise file_error(name, error) from error


Reader = Callable[[str], Reading]


class _Records(DatasetIterator):
    """The records of one file after another; a file that fails is left where it fails."""

    blocks = True

    def __init__(self, names: Sequence[str], read: Reader):
        self._names, self._read = names, read
        self._file = 0  # number of the file
        self._record = 0  # records that were taken from it
        self._records: Reading | None = None

    def _take(self, count: int) -> list[bytes]:
        while self._file < len(self._names):
            if self._records is None:
                self._records = self._read(self._names[self._file])
                self._skip(self._record)
            try:
                found = self._records.take(count)
            except Exception:
                self._next_file()
                raise
            if found:
                self._record += len(found)
                return found
            self._next_file()
        return []

    def _skip(self, count: int) -> None:
        assert self._records is not None
        while count and (found := self._records.take(min(count, _SKIPPED))):
            count -= len(found)

    def _next_file(self) -> None:
        self.close()
        self._file, self._record = self._file + 1, 0

    def close(self) -> None:
        if self._records is not None:
            self._records.close()
            self._records = None

    def __del__(self) -> None:
        self.close()

    def next(self) -> Element | None:
        found = self._take(1)
        return [np.array(found[0], object)] if found else None

    def block(self, count: int) -> list[np.ndarray] | None:
        found = self._take(count)
        if not found:
            return None
        array = np.empty(len(found), object)
        array[:] = found
        return [array]

    def save(self) -> State:
        return {"file": self._file, "record": self._record}

    def restore(self, state: State) -> None:
        self._file, self._record, self._records = state["file"], state["record"], None


def names_of(filenames: np.ndarray) -> list[str]:
    """The paths in a string tensor, a scalar or a vector."""
    if np.ndim(filenames) > 1:
        raise InvalidArgumentError(None, None, "`filenames` must be a scalar or a vector.")
    return [name.decode("utf-8", "surrogateescape") for name in np.ravel(filenames)]


def compression_of(compression_type: Any) -> str:
    """`""`, `"ZLIB"` or `"GZIP"`, of a string tensor."""
    kind = str(compression_type[()].decode())
    if kind not in ("", "ZLIB", "GZIP"):
        raise InvalidArgumentError(None, None, f"Unsupported compression_type: {kind}.")
    return kind


def read_fixed_length(name: str, kind: str, header: int, record: int, footer: int) -> Generator[bytes, None, None]:
    """A file's records of one length, between its header and its footer.

    InvalidArgumentError for another length: before the first record, where the file is not compressed.
    """
    try:
        if not kind:
            _check_body(name, os.path.getsize(name) - header - footer, header, record, footer)
        with open_file(name, kind) as file:
            length = len(file.read(header))
            waiting = file.read(footer)
            length += len(waiting)
            while data := file.read(record):
                length += len(data)
                waiting += data
                if len(data) < record:
                    _check_body(name, length - header - footer, header, record, footer)
                yield waiting[:record]
                waiting = waiting[record:]
            _check_body(name, length - header - footer, header, record, footer)
    except OSError as error:
        raise file_error(name, error) from error


def _check_body(name: str, body: int, header: int, record: int, footer: int) -> None:
    if body < 0 or body % record:
        raise InvalidArgumentError(
            None,
            None,
            f'Excluding the header ({header} bytes) and footer ({footer} bytes), input file "{name}" has body length {body} '
            f"bytes, which is not an exact multiple of the record length ({record} bytes).",
        )


def _of_files(names: Sequence[str], read: Reader) -> Dataset:
    """The records of files, as `read` finds them."""
    return FromRecipe(lambda: _Records(names, read))


@text_line_dataset.kernel("CPU")
def _(ctx: Any, filenames: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    names, kind = names_of(filenames), compression_of(compression_type)
    return _of_files(names, lambda name: Lines(name, kind))


@tf_record_dataset.kernel("CPU")
def _(ctx: Any, filenames: Any, compression_type: Any, buffer_size: Any) -> Dataset:
    names, kind = names_of(filenames), compression_of(compression_type)
    return _of_files(names, lambda name: RecordStream(open_stream(name, kind), name))


@fixed_length_record_dataset_v2.kernel("CPU")
def _(
    ctx: Any,
    filenames: Any,
    header_bytes: Any,
    record_bytes: Any,
    footer_bytes: Any,
    buffer_size: Any,
    compression_type: Any,
) -> Dataset:
    names, kind = names_of(filenames), compression_of(compression_type)
    header, record, footer = (as_count(size) for size in (header_bytes, record_bytes, footer_bytes))
    if record <= 0:
        raise InvalidArgumentError(None, None, "`record_bytes` must be > 0")
    if header < 0 or footer < 0:
        raise InvalidArgumentError(None, None, f"`{'header' if header < 0 else 'footer'}_bytes` must be >= 0")
    return _of_files(names, lambda name: Generated(read_fixed_length(name, kind, header, record, footer)))


# --- errors ------------------------------------------------------------------------------------------------------------

ignore_errors_dataset = define_dataset(
    "IgnoreErrorsDataset(input_dataset: variant) -> (handle: variant) {output_types: list(type) >= 1; output_shapes: "
    "list(shape) >= 1; log_warning: bool = false}"
)


class _IgnoreErrors(Chain):
    def __init__(self, source: DatasetIterator, log: bool):
        super().__init__(source)
        self.blocks = False  # an error of one element would take its whole block with it
        self._log = log
        self._skipped = 0

    def next(self) -> Element | None:
        while True:
            try:
                element = self.source.next()
            except OpError as error:
                self._skipped += 1
                if self._log:
                    get_logger().warning("tf.data: element skipped: %s", error.message)
                continue
            if element is None and self._skipped:
                get_logger().info("tf.data: %d elements with errors were skipped", self._skipped)
                self._skipped = 0
            return element


@ignore_errors_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, *, log_warning: bool) -> Dataset:
    return FromRecipe(lambda source: _IgnoreErrors(source.iterator(), log_warning), dataset)
