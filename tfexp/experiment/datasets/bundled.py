"""`data=diabetes`, `breast_cancer`, `digits`: the real data that scikit-learn carries in its package.

The files are read from scikit-learn's folder without importing it: the import takes longer than a whole small
run. A test compares every table with what scikit-learn's own loaders return.
"""

from __future__ import annotations

import gzip
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.errors import ExperimentError

__all__ = ["BreastCancer", "Diabetes", "Digits"]

_MEASURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
)


def _numbers(name: str, delimiter: str | None, skip_lines: int = 0) -> np.ndarray:
    """The file `name` of scikit-learn's data folder as float64 [rows, columns]."""
    spec = importlib.util.find_spec("sklearn")
    if spec is None or not spec.submodule_search_locations:
        raise ExperimentError("the bundled data sets are scikit-learn's: pip install scikit-learn")
    path = Path(spec.submodule_search_locations[0]) / "datasets" / "data" / name
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ExperimentError(f"scikit-learn's {name} cannot be read: {error}") from error
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("ascii")
    return np.loadtxt(text.splitlines()[skip_lines:], delimiter=delimiter, ndmin=2)


@dataclass(frozen=True, kw_only=True)
class Diabetes(Source):
    """442 patients; the label is a measure of the disease's progression a year later (25 to 346)."""

    def read(self) -> Table:
        return Table(
            _numbers("diabetes_data_raw.csv.gz", None),
            _numbers("diabetes_target.csv.gz", None)[:, 0],
            ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"),
            None,
            "scikit-learn's diabetes",
        )


@dataclass(frozen=True, kw_only=True)
class BreastCancer(Source):
    """569 tumours, measured on images; the label is 0 for malignant and 1 for benign."""

    def read(self) -> Table:
        rows = _numbers("breast_cancer.csv", ",", skip_lines=1)
        columns = tuple(f"{kind}_{measure}" for kind in ("mean", "error", "worst") for measure in _MEASURES)
        return Table(rows[:, :-1], rows[:, -1].astype(np.int64), columns, 2, "scikit-learn's breast_cancer")


@dataclass(frozen=True, kw_only=True)
class Digits(Source):
    """1797 handwritten digits, 8x8 pixels with 17 levels of grey; the label is the digit."""

    def read(self) -> Table:
        rows = _numbers("digits.csv.gz", ",")
        columns = tuple(f"pixel_{row}_{column}" for row in range(8) for column in range(8))
        return Table(rows[:, :-1], rows[:, -1].astype(np.int64), columns, 10, "scikit-learn's digits")
