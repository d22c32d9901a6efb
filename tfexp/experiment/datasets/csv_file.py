"""`data=csv`: files of numbers with a label column. Every complaint names the file, the line, the column and the byte."""

from __future__ import annotations

import glob
from dataclasses import dataclass

import numpy as np

from tfexp.experiment.datasets.csv_records import CsvRecords, opened, shown
from tfexp.experiment.datasets.skipped import Tally
from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.errors import ExperimentError, SettingError, no_such
from tfexp.experiment.schema import bounded

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
    delimiter: str = bounded(says=r"the character between two cells; \t is a tab")
    ignore: tuple[str, ...] = bounded(says="columns to leave out")
    ignore_errors: bool = bounded(says="rows that cannot be read are passed over and counted, instead of ending the run")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.separator) != 1 or self.separator in '"\r\n':
            what = "one character, and neither a quote nor the end of a line"
            raise SettingError("delimiter", f"{self.delimiter!r} must be {what}")
        if self.class_names and self.classes not in (None, len(self.class_names)):
            raise SettingError("classes", f"{self.classes} are not as many as data.class_names has: {len(self.class_names)}")
        for name in self.class_names:
            if self.class_names.count(name) > 1:
                raise SettingError("class_names", f"two classes are called '{name}'")

    @property
    def separator(self) -> str:
        """The character that `delimiter` means: a tab itself can hardly be typed."""
        return "\t" if self.delimiter == r"\t" else self.delimiter

    @property
    def class_count(self) -> int | None:
        """None: the label is a number to predict."""
        return len(self.class_names) or self.classes

    def label_of(self, cell: str, column: str, records: CsvRecords) -> float:
        """The label that the cell has: a number, or that of a class. Raises ExperimentError."""
        if self.class_names:
            if cell.strip() not in self.class_names:
                names = ", ".join(self.class_names)
                raise records.problem(f"the label {shown(cell)} is none of data.class_names: {names}", column)
            return self.class_names.index(cell.strip())
        label = records.number(cell, column, "data.class_names=[…] says what the classes are called")
        if self.classes is not None and not (label == int(label) and 0 <= label < self.classes):
            raise records.problem(
                f"the label {cell.strip()} is not one of the {self.classes} classes 0 to {self.classes - 1} "
                f"(data.classes={self.classes})",
                column,
            )
        return label

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
            rows = "1 row" if self._features else "no rows"
            raise ExperimentError(f"{path}: {rows} of data; at least two are needed")
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
        settings = self._settings
        with opened(path, settings.separator, bad_text=settings.ignore_errors, asked_by="data.path: ") as records:
            self._add(records)

    def _add(self, records: CsvRecords) -> None:
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

    def _following(self, records: CsvRecords) -> list[str] | None:
        while True:
            try:
                return records.next()
            except ExperimentError as error:
                self._pass_over(error)

    def _pass_over(self, error: ExperimentError) -> None:
        if not self._settings.ignore_errors:
            raise ExperimentError(f"{error}; data.ignore_errors=true passes over such rows") from error
        self._bad.add(str(error))

    def _take_names(self, names: list[str], records: CsvRecords) -> None:
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

    def _row(self, cells: list[str], records: CsvRecords) -> tuple[list[float], float]:
        if len(cells) != len(self._names):
            raise records.problem(f"{len(cells)} columns where {len(self._names)} are expected")
        way_out = "data.ignore=[…] leaves columns out"
        features = [records.number(cells[at], self._names[at], way_out) for at in self._kept]
        return features, self._settings.label_of(cells[self._label], self._names[self._label], records)
