"""`data=diabetes`, `breast_cancer`, `digits`: real data that every installation has, in `tables/`.

They are the tables that scikit-learn bundles, number for number, carried here so that nobody needs that library and SciPy
for them: a test compares each with what its loaders return. Where they come from:

- diabetes: Efron, Hastie, Johnstone and Tibshirani, Least angle regression, Annals of Statistics 32 (2004).
- breast_cancer: Wolberg, Mangasarian, Street and Street, Breast Cancer Wisconsin (Diagnostic), UCI Machine Learning
  Repository (1995), CC BY 4.0.
- digits: Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, its test part, UCI Machine Learning Repository
  (1998), CC BY 4.0.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tfexp.experiment.datasets.source import Source, Table

__all__ = ["BreastCancer", "Diabetes", "Digits"]

_TABLES = Path(__file__).parent / "tables"


def _table(name: str, classes: int | None, class_names: tuple[str, ...] = ()) -> Table:
    """The file of this name: a line that names the columns, then rows; the label is the last column."""
    header, *lines = gzip.decompress((_TABLES / f"{name}.csv.gz").read_bytes()).decode("ascii").splitlines()
    rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    labels = rows[:, -1] if classes is None else rows[:, -1].astype(np.int64)
    columns = tuple(header.split(",")[:-1])
    return Table(rows[:, :-1], labels, columns, classes, f"scikit-learn's {name}", class_names=class_names)


@dataclass(frozen=True, kw_only=True)
class Diabetes(Source):
    """442 patients; the label is a measure of the disease's progression a year later (25 to 346)."""

    def read(self) -> Table:
        return _table("diabetes", None)


@dataclass(frozen=True, kw_only=True)
class BreastCancer(Source):
    """569 tumours, measured on images; the label is 0 for malignant and 1 for benign."""

    def read(self) -> Table:
        return _table("breast_cancer", 2, ("malignant", "benign"))


@dataclass(frozen=True, kw_only=True)
class Digits(Source):
    """1797 handwritten digits, 8x8 pixels with 17 levels of grey; the label is the digit."""

    def read(self) -> Table:
        return _table("digits", 10)
