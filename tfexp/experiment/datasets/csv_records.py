"""Files of comma-separated values, record by record; every complaint names the file, the line, the column and the byte."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
from collections.abc import Iterator

import tfexp as tf
from tfexp.experiment.datasets.source import LARGEST
from tfexp.experiment.errors import ExperimentError
from tfexp.formats.compressed_file import compression_by_name, open_file

__all__ = ["CsvRecords", "opened", "shown"]

_MOST_SHOWN = 60
"""Letters of a cell that a message has."""


@contextlib.contextmanager
def opened(path: str, delimiter: str, *, bad_text: bool = False, asked_by: str = "") -> Iterator[CsvRecords]:
    """The file's records, in a block; .gz and .zz are uncompressed. Raises ExperimentError if it cannot be read.

    bad_text: what is no UTF-8 is in the cells as it is, instead of being an error. asked_by: what names it, in messages.
    """
    errors = "surrogateescape" if bad_text else "strict"
    try:
        with open_file(path, compression_by_name(path)) as file:
            start = len(codecs.BOM_UTF8) if file.peek(3).startswith(codecs.BOM_UTF8) else 0  # spreadsheets write one
            file.read(start)
            # newline="": the csv module tells line ends from those inside quotes
            with io.TextIOWrapper(file, "utf-8", errors, newline="") as text:
                yield CsvRecords(text, path, delimiter, start)
    except tf.errors.OpError as error:
        if not error.message.startswith(f"{path}; "):
            raise ExperimentError(error.message) from error
        raise ExperimentError(f"{asked_by}{path} cannot be read: {error.message.removeprefix(f'{path}; ')}") from error
    except OSError as error:
        raise ExperimentError(f"{asked_by}{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ExperimentError(f"{path}: not a text file in UTF-8: {error}") from error


class CsvRecords:
    """The records of a file that are not blank, and where the last one of them stands."""

    def __init__(self, text: io.TextIOWrapper, path: str, delimiter: str, start: int):
        self.path = path
        self._read = start  # bytes of the lines that were read
        self._line = self._offset = 0  # of the record: its last line, its first byte
        self._number = -1
        self._reader = csv.reader(self._lines(text), delimiter=delimiter, strict=True)

    def _lines(self, text: io.TextIOWrapper) -> Iterator[str]:
        for line in text:
            self._read += len(line.encode(errors="surrogateescape"))
            yield line

    def next(self) -> list[str] | None:
        """The cells of the next record, None at the end. Raises ExperimentError for one that is none; others may follow."""
        while True:
            self._offset = self._read
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                self._number, self._line = self._number + 1, self._reader.line_num
                raise self.problem(str(error)) from error
            if cells is None or any(cell.strip() for cell in cells):
                self._number, self._line = self._number + 1, self._reader.line_num
                return cells

    def number(self, cell: str, column: str, hint: str = "") -> float:
        """The number of a table in a cell of the record. Raises ExperimentError, with the `hint` where there is none."""
        try:
            number = float(cell.replace("_", "?"))  # 1_000 is a number in Python's programs alone
        except ValueError:
            if not cell.strip():
                raise self.problem("the cell is empty", column) from None
            raise self.problem(f"{shown(cell)} is not a number{hint and f'; {hint}'}", column) from None
        if not abs(number) <= LARGEST:  # nor is nan
            raise self.problem(f"{shown(cell)} is not a finite number of float32", column)
        return number

    def problem(self, what: str, column: str | None = None) -> ExperimentError:
        """What is wrong with the record."""
        where = f"{self.path}, line {self._line}" if column is None else f"{self.path}, line {self._line}, column '{column}'"
        return ExperimentError(f"{where}: {what} (record {self._number}, at byte {self._offset})")


def shown(cell: str) -> str:
    """A cell in a message: the beginning of a long one, and what a terminal would obey as an escape."""
    text = cell.strip().encode(errors="surrogateescape").decode(errors="replace")
    text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    return "'" + "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text) + "'"
