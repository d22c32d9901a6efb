"""`data=csv`: a file of numbers with a label column. Every complaint names the file, the line and the column."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.errors import ExperimentError, SettingError, no_such
from tfexp.experiment.schema import bounded

__all__ = ["CsvFile"]


@dataclass(frozen=True, kw_only=True)
class CsvFile(Source):
    path: str = bounded(says="the file")
    label: str = bounded(says="the column to predict: its name, or its number from 0 where the file has no header")
    classes: int | None = bounded(
        least=2, says="how many classes the label has, numbered from 0; null: the label is a number to predict"
    )
    header: bool = bounded(says="the first line names the columns")
    delimiter: str = bounded(says="the character between two cells")
    ignore: tuple[str, ...] = bounded(says="columns to leave out")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.delimiter) != 1:
            raise SettingError("delimiter", f"{self.delimiter!r} must be one character")

    def read(self) -> Table:
        try:
            # newline="": the csv module tells line ends from those inside quotes; -sig: spreadsheets write a
            # BOM
            with Path(self.path).open(newline="", encoding="utf-8-sig") as file:
                return self._parse(_lines(csv.reader(file, delimiter=self.delimiter, strict=True), self.path))
        except OSError as error:
            raise ExperimentError(f"data.path: {self.path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ExperimentError(f"{self.path}: not a text file in UTF-8: {error}") from error

    def _parse(self, lines: Iterator[tuple[int, list[str]]]) -> Table:
        first = next(lines, None)
        if first is None:
            raise ExperimentError(f"{self.path}: the file is empty")
        line, cells = first
        names = [cell.strip() for cell in cells] if self.header else [str(at) for at in range(len(cells))]
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise ExperimentError(f"{self.path}, line {line}: two columns are called '{twice}'")
        label = self._column("label", self.label, names)
        left_out = {self._column("ignore", name, names) for name in self.ignore} | {label}
        kept = [at for at in range(len(names)) if at not in left_out]
        if not kept:
            raise ExperimentError(f"{self.path}: there is no column beside the label '{names[label]}' to learn from")

        features: list[list[float]] = []
        labels: list[float] = []
        if not self.header:
            lines = _chain(first, lines)
        for line, cells in lines:
            if len(cells) != len(names):
                raise ExperimentError(f"{self.path}, line {line}: {len(cells)} columns where {len(names)} are expected")
            features.append([self._number(cells[at], line, names[at]) for at in kept])
            labels.append(self._label(cells[label], line, names[label]))
        if len(features) < 2:
            raise ExperimentError(f"{self.path}: {len(features)} rows of data; at least two are needed")
        return Table(
            np.array(features, np.float64),
            np.array(labels, np.float64 if self.classes is None else np.int64),
            tuple(names[at] for at in kept),
            self.classes,
            self.path,
        )

    def _column(self, setting: str, name: str, names: list[str]) -> int:
        if name not in names:
            raise SettingError(f"data.{setting}", no_such(f"column in {self.path} called", name, names))
        return names.index(name)

    def _number(self, cell: str, line: int, column: str) -> float:
        try:
            number = float(cell)
        except ValueError:
            problem = "the cell is empty" if not cell.strip() else f"'{cell.strip()}' is not a number"
            raise ExperimentError(f"{self.path}, line {line}, column '{column}': {problem}") from None
        if not math.isfinite(number):
            raise ExperimentError(f"{self.path}, line {line}, column '{column}': '{cell.strip()}' is not finite")
        return number

    def _label(self, cell: str, line: int, column: str) -> float:
        number = self._number(cell, line, column)
        if self.classes is not None and not (number == int(number) and 0 <= number < self.classes):
            raise ExperimentError(
                f"{self.path}, line {line}, column '{column}': the label {cell.strip()} is not one of the "
                f"{self.classes} classes 0 to {self.classes - 1} (data.classes={self.classes})"
            )
        return number


def _lines(reader: Iterator[list[str]], path: str) -> Iterator[tuple[int, list[str]]]:
    """(line number in the file, cells) of each line that is not blank."""
    number = 0
    try:
        for cells in reader:
            number = reader.line_num  # type: ignore[attr-defined]  # of the row's last line
            if any(cell.strip() for cell in cells):
                yield number, cells
    except csv.Error as error:
        raise ExperimentError(f"{path}, line {number + 1}: {error}") from error


def _chain(first: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rest
