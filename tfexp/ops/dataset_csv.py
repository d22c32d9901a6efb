"""Data sets of the records of CSV files: `tf.data.experimental.CsvDataset`'s nodes (RFC 4180).

A file is read in pieces of whole records. A piece without quotes and without errors is parsed as a whole; of any other one
each record is looked at, so that those before a faulty one, and those behind it, come out.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.formats.compressed_file import open_file
from tfexp.ops.dataset import Dataset, DatasetIterator, Element, FromRecipe, State, define_dataset, kept, row
from tfexp.ops.dataset_files import compression_of, names_of
from tfexp.ops.decode_csv import plain_columns
from tfexp.ops.string_arrays import shown
from tfexp.ops.strings import parsed_number

_ARGUMENTS = (
    "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: "
    "bool, na_value: string, select_cols: int64, record_defaults: output_types"
)
_TYPES = "{output_types: list(type) in [float,double,int32,int64,string] >= 1; output_shapes: list(shape) >= 1} #stateful"
csv_dataset = define_dataset(f"CSVDataset({_ARGUMENTS}) -> (handle: variant) {_TYPES}", any_shape=["select_cols"])
csv_dataset_v2 = define_dataset(
    f"CSVDatasetV2({_ARGUMENTS}, exclude_cols: int64) -> (handle: variant) {_TYPES}",
    any_shape=["select_cols", "exclude_cols"],
)

_PIECE = 1 << 18  # bytes that are parsed at once
_NAMES = {dtypes.float32: "float", dtypes.float64: "double"}


@dataclass(frozen=True)
class Format:
    """How the records of a file are written, and which of their fields become which components."""

    kind: str
    header: bool
    delimiter: bytes
    quotes: bool
    missing: bytes
    selected: tuple[int, ...]
    excluded: tuple[int, ...]
    defaults: tuple[np.ndarray, ...]
    types: tuple[DType, ...]

    def columns(self, text: bytes) -> list[np.ndarray] | None:
        """The components of records each of which ends with a newline; None where they need a closer look."""
        if self.excluded:
            return None
        return plain_columns(text, self.delimiter, self.quotes, self.selected, self.defaults, self.types, self.missing)

    def element(self, record: bytes) -> list[Any]:
        """The components of one record."""
        fields = self._fields(record)
        if self.selected:
            fields = [fields[i] for i in self.selected if i < len(fields)]
        elif self.excluded:
            fields = [field for i, field in enumerate(fields) if i not in self.excluded]
        wanted = len(self.types)
        values = [self._value(number, text) for number, text in enumerate(fields[:wanted])]
        if len(fields) != wanted:
            have = "more" if len(fields) > wanted else str(len(fields))
            raise InvalidArgumentError(None, None, f"Expect {wanted} fields but have {have} in record")
        return values

    def _fields(self, record: bytes) -> list[bytes]:
        if not self.quotes or b'"' not in record:
            return record.split(self.delimiter)
        pattern, fields, position = _field_pattern(self.delimiter), [], 0
        while True:
            match = pattern.match(record, position)
            if match is None:
                raise InvalidArgumentError(None, None, _fault(record, position))
            quoted, plain, end = match.groups()
            fields.append(plain if quoted is None else quoted.replace(b'""', b'"'))
            if not end:
                return fields
            position = match.end()

    def _value(self, number: int, text: bytes) -> Any:
        dtype, default = self.types[number], self.defaults[number]
        if not text or text == self.missing:
            if not default.size:
                raise InvalidArgumentError(None, None, f"Field {number} is required but missing in record!")
            return row(default, 0)
        if dtype is dtypes.string:
            return np.array(text, object)
        value = parsed_number(text, dtype)
        if value is None:
            name = _NAMES.get(dtype, dtype.name)
            raise InvalidArgumentError(None, None, f"Field {number} in record is not a valid {name}: {shown(text)}")
        with np.errstate(over="ignore"):  # too large for a float32 is inf
            return dtype.as_numpy_dtype(value)


@functools.lru_cache(maxsize=8)
def _field_pattern(delimiter: bytes) -> re.Pattern[bytes]:
    """A field and what ends it: a delimiter, or nothing at the end of the record."""
    end = re.escape(delimiter)
    return re.compile(rb'(?:"((?:[^"]|"")*)"|([^"' + end + rb"]*))(" + end + rb"|\Z)")


def _fault(record: bytes, position: int) -> str:
    if record[position : position + 1] != b'"':
        return "Unquoted fields cannot have quotes inside"
    if re.compile(rb'"(?:[^"]|"")*"').match(record, position):
        return "Quote inside a string has to be escaped by another quote"
    return "Reached end of file without closing quoted field in record"


# --- pieces of files ---------------------------------------------------------------------------------------------------


def _pieces(name: str, kind: str, quotes: bool) -> Iterator[bytes]:
    """The bytes of a file in pieces of whole records."""
    rest = b""
    with open_file(name, kind) as stream:
        while data := stream.read(_PIECE):
            rest += data
            end = _last_end(rest, quotes)
            if end:
                yield rest[:end]
                rest = rest[end:]
    if rest:
        yield rest


def _last_end(data: bytes, quotes: bool) -> int:
    """Where the last whole record of `data` ends. A record does not end within quotes, nor between `\\r` and `\\n`."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
    if quotes and b'"' in data:
        while end and data.count(b'"', 0, end) % 2:
            end = max(data.rfind(b"\n", 0, end - 1), data.rfind(b"\r", 0, end - 1)) + 1
    return end


def _records(piece: bytes, quotes: bool) -> Iterator[tuple[int, bytes]]:
    """(offset in the piece, record without its end)."""
    start, waiting = 0, b""
    for line in piece.splitlines(keepends=True):
        waiting += line
        if quotes and waiting.count(b'"') % 2:
            continue
        yield start, waiting.removesuffix(b"\n").removesuffix(b"\r")
        start, waiting = start + len(waiting), b""
    if waiting:
        yield start, waiting


# Of a piece: columns of several elements, or the error of one.
_Part = list[np.ndarray] | OpError


class _File:
    """The parts of one file."""

    def __init__(self, name: str, form: Format):
        self._name, self._format = name, form
        self._pieces = _pieces(name, form.kind, form.quotes)
        self._number = self._offset = 0  # of the record and of the byte that come next

    def parts(self) -> Iterator[_Part]:
        form = self._format
        first = form.header
        for piece in self._pieces:
            if first:
                _, record = next(_records(piece, form.quotes))
                cut = len(record) + len(re.compile(rb"\r\n|\r|\n|\Z").match(piece, len(record))[0])  # type: ignore[index]
                self._number, self._offset, first = 1, cut, False
                piece = piece[cut:]
            if piece:
                yield from self._parsed(piece)
            self._offset += len(piece)
        if first:
            raise InvalidArgumentError(None, None, f"Can't read header of file {self._name!r}: it is empty")

    def _parsed(self, piece: bytes) -> Iterator[_Part]:
        text = piece
        if b"\r" in text and not (self._format.quotes and b'"' in text):
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        columns = self._format.columns(text if text.endswith(b"\n") else text + b"\n")
        if columns is not None:
            self._number += len(columns[0])
            yield columns
            return
        elements: list[list[Any]] = []
        for offset, record in _records(piece, self._format.quotes):
            try:
                elements.append(self._format.element(record))
            except InvalidArgumentError as error:
                if elements:
                    yield self._stacked(elements)
                    elements = []
                place = f"(file {self._name!r}, record {self._number}, at byte {self._offset + offset})"
                yield InvalidArgumentError(None, None, f"{error.message} {place}")
            self._number += 1
        if elements:
            yield self._stacked(elements)

    def _stacked(self, elements: list[list[Any]]) -> list[np.ndarray]:
        columns = []
        for values, dtype in zip(zip(*elements, strict=True), self._format.types, strict=True):
            column: np.ndarray = np.empty(len(values), dtype.as_numpy_dtype)
            for i, value in enumerate(values):
                column[i] = value[()]
            columns.append(column)
        return columns


class _Csv(DatasetIterator):
    """The records of one file after another."""

    blocks = True

    def __init__(self, names: Sequence[str], form: Format):
        self._names, self._format = names, form
        self._file = self._taken = 0  # number of the file, records (faulty ones too) that came from it
        self._parts: Iterator[_Part] | None = None
        self._columns: list[np.ndarray] = []
        self._position = 0

    def next(self) -> Element | None:
        found = self.block(1)
        return None if found is None else [row(column, 0) for column in found]

    def block(self, count: int) -> list[np.ndarray] | None:
        while not self._columns or self._position == len(self._columns[0]):
            if self._file == len(self._names):
                return None
            part = self._next_part()
            if part is None:
                self._file, self._taken, self._parts = self._file + 1, 0, None
            elif isinstance(part, OpError):
                self._taken += 1
                raise part
            else:
                self._columns, self._position = part, 0
        stop = min(self._position + count, len(self._columns[0]))
        found = [column[self._position : stop] for column in self._columns]
        self._taken += stop - self._position
        self._position = stop
        return found

    def _next_part(self) -> _Part | None:
        try:
            if self._parts is None:
                self._parts = _File(self._names[self._file], self._format).parts()
            return next(self._parts, None)
        except OpError:
            self._file, self._taken, self._parts = self._file + 1, 0, None
            raise

    def save(self) -> State:
        return {"file": self._file, "taken": self._taken}

    def restore(self, state: State) -> None:
        self._file = state["file"]
        missing = state["taken"]
        while missing:
            part = self._next_part()
            if part is None:
                return
            size = 1 if isinstance(part, OpError) else len(part[0])
            if size > missing:
                assert not isinstance(part, OpError)
                self._columns, self._position = part, missing
                size = missing
            missing -= size
        self._taken = state["taken"]


# --- nodes -------------------------------------------------------------------------------------------------------------


@csv_dataset.kernel("CPU")
@csv_dataset_v2.kernel("CPU")
def _(
    ctx: Any,
    filenames: Any,
    compression_type: Any,
    buffer_size: Any,
    header: Any,
    field_delim: Any,
    use_quote_delim: Any,
    na_value: Any,
    select_cols: Any,
    record_defaults: Sequence[Any],
    exclude_cols: Any = (),
    *,
    output_types: list[DType],
) -> Dataset:
    delimiter = field_delim[()]
    if len(delimiter) != 1:
        raise InvalidArgumentError(None, None, "field_delim should be only 1 char")
    selected, excluded = tuple(np.ravel(select_cols).tolist()), tuple(np.ravel(exclude_cols).tolist())
    for name, columns in (("select_cols", selected), ("exclude_cols", excluded)):
        if any(a >= b for a, b in itertools.pairwise(columns)) or min(columns, default=0) < 0:
            raise InvalidArgumentError(None, None, f"{name} should be strictly increasing indices, not {list(columns)}")
    if selected and len(selected) != len(record_defaults):
        raise InvalidArgumentError(
            None,
            None,
            f"select_cols has {len(selected)} indices, record_defaults {len(record_defaults)}: they must be equal",
        )
    form = Format(
        compression_of(compression_type),
        bool(header),
        delimiter,
        bool(use_quote_delim),
        na_value[()],
        selected,
        excluded,
        tuple(kept(default).ravel() for default in record_defaults),
        tuple(output_types),
    )
    names = names_of(filenames)
    return FromRecipe(lambda: _Csv(names, form))
