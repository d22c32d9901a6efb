"""Small tables of numbers in text files, with what is to be predicted in one of the columns.

Source: `tf.contrib.learn.datasets.base`, TF 1.15.
"""

from __future__ import annotations

import csv
from typing import Any, NamedTuple

import numpy as np

from tfexp.formats.file_io import GFile


class Dataset(NamedTuple):
    """Features [examples, features] and what is to be predicted [examples]."""

    data: np.ndarray
    target: np.ndarray


class Datasets(NamedTuple):
    """The parts of a data set."""

    train: Any
    validation: Any
    test: Any


def load_csv_with_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """A table whose first line begins with the numbers of examples and of features.

    ValueError for another number of either.
    """
    header, *rows = _rows(filename)
    made = _split(rows, target_dtype, features_dtype, target_column)
    wanted = int(header[0]), int(header[1])
    if made.data.shape != wanted:
        raise ValueError(f"{filename}: the first line says (examples, features) = {wanted}, there are {made.data.shape}")
    return made


def load_csv_without_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Dataset:
    """A table, line by line."""
    return _split(_rows(filename), target_dtype, features_dtype, target_column)


def _rows(filename: str) -> list[list[str]]:
    with GFile(filename, "r") as file:
        return [row for row in csv.reader(file) if row]


def _split(rows: list[list[str]], target_dtype: Any, features_dtype: Any, target_column: int) -> Dataset:
    targets = [row.pop(target_column) for row in rows]
    return Dataset(np.array(rows).astype(features_dtype), np.array(targets).astype(target_dtype))
