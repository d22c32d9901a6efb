"""`data=csv`: files of numbers with a label column. Every complaint names the file, the line, the column and the byte."""

from __future__ import annotations

import codecs
import csv
import glob
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.skipped import Tally
from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.errors import ExperimentError, SettingError, no_such
from tfexp.experiment.schema import bounded
from tfexp.formats.compressed_file import compression_by_name, open_file

__all__ = ["CsvFile"]


@dataclass(frozen=True, kw_only=True)
class CsvFile(Source):
    path: str = bounded(says="the file, or a glob of files with the same columns; .gz and .zz are uncompressed")
    label: str = bounded(says="the column to predict: its name, or its number from 0 where the file has no header")
    classes: int | None = bounded(
        least=2, says="how many classes the label has, numbered from 0; null: the label is a number to predict"
    )
    class_names: tuple[str, ...] = bounded(
        says="what the classes are called in the file, the first is class 0; []: they have numbers", default=()
    )
    header: bool = bounded(says="the first line names the columns")
    delimiter: str = bounded(says="the character between two cells")
    ignore: tuple[str, ...] = bounded(says="columns to leave out")
    ignore_errors: bool = bounded(says="rows that cannot be read are passed over and counted, instead of ending the run")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.delimiter) != 1:
            raise SettingError("delimiter", f"{self.delimiter!r} must be one character")
        if self.class_names and self.classes not in (None, len(self.class_names)):
            raise SettingError("classes", f"{self.classes} are not as many as data.class_names has: {len(self.class_names)}")
        for name in self.class_names:
            if self.class_names.count(name) > 1:
                raise SettingError("class_names", f"two classes are called '{name}'")

    @property
    def class_count(self) -> int | None:
        """None: the label is a number to predict."""
        return len(self.class_names) or self.classes

    def read(self) -> Table:
        rows = _Rows(self)
        for path in self._paths():
            rows.read(path)
        return rows.table()

    def _paths(self) -> list[str]:
        if not glob.has_magic(self.path):
            return [self.path]
        found = sorted(glob.glob(self.path, recursive=True))
        if not found:
            raise ExperimentError(f"data.path: there is no file {self.path}")
        return found


class _Rows:
    """The rows of one file after another."""

    def __init__(self, settings: CsvFile):
        self._settings = settings
        self._names: list[str] = []
        self._label, self._kept = 0, [0]
        self._features: list[list[float]] = []
        self._labels: list[float] = []
        self._bad = Tally()

    def table(self) -> Table:
        """What was read."""
        settings, path = self._settings, self._settings.path
        if len(self._features) < 2:
            raise ExperimentError(f"{path}: {len(self._features)} rows of data; at least two are needed")
        return Table(
            np.array(self._features, np.float64),
            np.array(self._labels, np.float64 if settings.class_count is None else np.int64),
            tuple(self._names[at] for at in self._kept),
            settings.class_count,
            path,
            self._bad.skipped,
            settings.class_names,
        )

    def read(self, path: str) -> None:
        """Add the file's rows. Raises ExperimentError."""
        # what is no text is then no number, in the one row where it stands
        errors = "surrogateescape" if self._settings.ignore_errors else "strict"
        try:
            with open_file(path, compression_by_name(path)) as file:
                start = len(codecs.BOM_UTF8) if file.peek(3).startswith(codecs.BOM_UTF8) else 0  # spreadsheets write one
                file.read(start)
                # newline="": the csv module tells line ends from those inside quotes
                with io.TextIOWrapper(file, "utf-8", errors, newline="") as text:
                    self._add(_Records(text, path, self._settings.delimiter, start))
        except tf.errors.OpError as error:
            if not error.message.startswith(f"{path}; "):
                raise ExperimentError(error.message) from error
            raise ExperimentError(f"data.path: {path} cannot be read: {error.message.removeprefix(f'{path}; ')}") from error
        except OSError as error:
            raise ExperimentError(f"data.path: {path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ExperimentError(f"{path}: not a text file in UTF-8: {error}") from error

    def _add(self, records: _Records) -> None:
        cells = records.next()
        if cells is None:
            raise ExperimentError(f"{records.path}: the file is empty")
        names = [cell.strip() for cell in cells] if self._settings.header else [str(at) for at in range(len(cells))]
        self._take_names(names, records)
        if self._settings.header:
            cells = self._following(records)
        while cells is not None:
            try:
                features, label = self._row(cells, records)
            except ExperimentError as error:
                self._pass_over(error)
            else:
                self._features.append(features)
                self._labels.append(label)
            cells = self._following(records)

    def _following(self, records: _Records) -> list[str] | None:
        while True:
            try:
                return records.next()
            except ExperimentError as error:
                self._pass_over(error)

    def _pass_over(self, error: ExperimentError) -> None:
        if not self._settings.ignore_errors:
            raise ExperimentError(f"{error}; data.ignore_errors=true passes over such rows") from error
        self._bad.add(str(error))

    def _take_names(self, names: list[str], records: _Records) -> None:
        if self._names:
            if names != self._names:
                had = ", ".join(self._names)
                raise ExperimentError(f"{records.path}: its columns are {', '.join(names)}; those before it have {had}")
            return
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise records.problem(f"two columns are called '{twice}'")
        label = self._column("label", self._settings.label, names, records.path)
        left_out = {self._column("ignore", name, names, records.path) for name in self._settings.ignore} | {label}
        kept = [at for at in range(len(names)) if at not in left_out]
        if not kept:
            raise ExperimentError(f"{records.path}: there is no column beside the label '{names[label]}' to learn from")
        self._names, self._label, self._kept = names, label, kept

    @staticmethod
    def _column(setting: str, name: str, names: list[str], path: str) -> int:
        if name not in names:
            several = "" if len(names) > 1 else "; if these are several columns, give their data.delimiter"
            raise SettingError(f"data.{setting}", no_such(f"column in {path} called", name, names) + several)
        return names.index(name)

    def _row(self, cells: list[str], records: _Records) -> tuple[list[float], float]:
        if len(cells) != len(self._names):
            raise records.problem(f"{len(cells)} columns where {len(self._names)} are expected")
        features = [self._number(cells[at], at, records) for at in self._kept]
        return features, self._label_of(cells[self._label], records)

    def _label_of(self, cell: str, records: _Records) -> float:
        names, classes = self._settings.class_names, self._settings.classes
        if names:
            if cell.strip() not in names:
                problem = f"the label {_shown(cell)} is none of data.class_names: {', '.join(names)}"
                raise records.problem(problem, self._names[self._label])
            return names.index(cell.strip())
        label = self._number(cell, self._label, records)
        if classes is not None and not (label == int(label) and 0 <= label < classes):
            raise records.problem(
                f"the label {cell.strip()} is not one of the {classes} classes 0 to {classes - 1} (data.classes={classes})",
                self._names[self._label],
            )
        return label

    def _number(self, cell: str, at: int, records: _Records) -> float:
        try:
            number = float(cell)
        except ValueError:
            problem = "the cell is empty" if not cell.strip() else f"{_shown(cell)} is not a number"
            if cell.strip() and at == self._label and self._settings.classes is not None:
                problem += "; data.class_names=[…] says what the classes are called"
            raise records.problem(problem, self._names[at]) from None
        if not math.isfinite(number):
            raise records.problem(f"{_shown(cell)} is not finite", self._names[at])
        return number


def _shown(cell: str) -> str:
    return f"'{cell.strip().encode(errors='surrogateescape').decode(errors='replace')}'"


class _Records:
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

    def problem(self, what: str, column: str | None = None) -> ExperimentError:
        """What is wrong with the record."""
        where = f"{self.path}, line {self._line}" if column is None else f"{self.path}, line {self._line}, column '{column}'"
        return ExperimentError(f"{where}: {what} (record {self._number}, at byte {self._offset})")
