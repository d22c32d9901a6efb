"""From a source's table to what a run trains and is tested on."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tfexp.experiment.datasets.skipped import NONE, Skipped
from tfexp.experiment.datasets.source import LARGEST, Data, Source, Table
from tfexp.experiment.errors import ExperimentError

__all__ = ["Dataset", "Examples", "Prepared", "Records", "Scaling", "Spec", "batch_rows", "prepare", "rows_of_batches"]


@dataclass(frozen=True)
class Spec:
    """What a model needs to know to build its graph: `width` features, and `classes` (None: labels are
    numbers).

    A label that is a number stands for `label * label_scale + label_shift` in the data's own unit. `class_names` are what
    the classes are called, if they are.
    """

    width: int
    classes: int | None
    label_scale: float = 1.0
    label_shift: float = 0.0
    class_names: tuple[str, ...] = dataclasses.field(default=(), repr=False)


@dataclass(frozen=True)
class Examples:
    """`features` float32 [rows, width]; `labels` float32 [rows, 1] or, for classes, int64 [rows]."""

    features: np.ndarray
    labels: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.features)


@dataclass(frozen=True)
class Scaling:
    """What is learned from a feature: (as it was read - `shift`) / `scale`; both float64 [width]."""

    shift: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True)
class Dataset:
    """`train` and `test` are what a run is evaluated on. `digest` is the SHA-256 of the table as read, before it was split
    or standardized. Where there are `records`, a run trains on the rows in them; `train` is then a part of them, or all.
    `scaling` says what was done to the features since they were read; None: nothing that is known.
    """

    train: Examples
    test: Examples
    spec: Spec
    columns: tuple[str, ...]
    origin: str
    digest: str
    records: Records | None = None
    skipped: Skipped = NONE
    scaling: Scaling | None = None

    @property
    def rows(self) -> int:
        """How many rows there are to train on."""
        return self.train.rows if self.records is None else self.records.rows

    def in_memory(self) -> Dataset:
        """The same data with all rows to train on in `train`. Raises ExperimentError if they cannot be read."""
        if self.records is None:
            return self
        return dataclasses.replace(self, train=self.records.read(self.spec), records=None)


@dataclass(frozen=True, kw_only=True)
class Prepared(Data, ABC):
    """Data that need not be split and standardized: that has been done when it was written."""

    @abstractmethod
    def dataset(self) -> Dataset:
        """The data. Raises ExperimentError if it cannot be read."""


class Records(Protocol):
    """Rows to train on that are in files, so many that they may not fit into memory."""

    @property
    def rows(self) -> int: ...

    def read(self, spec: Spec, limit: int | None = None) -> Examples:
        """The first `limit` rows, or all, in the order of the files. Raises ExperimentError naming file and record."""


def prepare(data: Data) -> Dataset:
    """Read, check, split and standardize; all of it decided by the settings."""
    if isinstance(data, Prepared):
        return data.dataset()
    assert isinstance(data, Source)
    try:
        table = data.read()
        if not isinstance(table, Table):
            raise ExperimentError(f"{type(data).__name__}.read gave {type(table).__name__}: it must give a Table")
        return _from_table(table, data)
    except MemoryError as error:
        raise ExperimentError(f"data: {type(data).__name__} does not fit into memory: {error}") from error


def _from_table(table: Table, source: Source) -> Dataset:
    _check(table)
    rows = len(table.features)
    tested = max(1, round(rows * source.test_fraction))
    if tested >= rows:
        raise ExperimentError(f"data.test_fraction: {source.test_fraction} of {rows} rows leaves none to train on")
    order = np.random.RandomState(source.split_seed).permutation(rows)
    test, train = order[:tested], order[tested:]

    features, labels, scale, shift, scaling = table.features, table.labels, 1.0, 0.0, None
    if source.standardize:
        scaling = Scaling(features[train].mean(axis=0), _deviation(features[train]))
        features = (features - scaling.shift) / scaling.scale
        if table.classes is None:
            shift, scale = float(labels[train].mean()), float(_deviation(labels[train]))
            labels = (labels - shift) / scale
    features = features.astype(np.float32)
    labels = labels.astype(np.float32)[:, None] if table.classes is None else labels.astype(np.int64)

    def pick(at: np.ndarray) -> Examples:
        return Examples(np.ascontiguousarray(features[at]), np.ascontiguousarray(labels[at]))

    spec = Spec(features.shape[1], table.classes, scale, shift, table.class_names)
    digest = _digest(table)
    return Dataset(pick(train), pick(test), spec, table.columns, table.origin, digest, None, table.skipped, scaling)


def batch_rows(seed: int, step: int, rows: int, batch_size: int) -> np.ndarray:
    """The training rows of the batch at `step` (from 0): a pure function, so a resumed run goes on with the
    next.

    Each epoch has `rows // batch_size` batches cut from its own permutation, drawn from (seed, epoch); the
    rows left over differ from epoch to epoch.
    """
    epoch, position = divmod(step, rows // batch_size)
    return _epoch_order(seed, epoch, rows)[position * batch_size : (position + 1) * batch_size]


def rows_of_batches(seed: int, numbers: np.ndarray, rows: int, batch_size: int) -> np.ndarray:
    """`batch_rows` of several batches, whose numbers rise: int64 [batches, batch_size]."""
    per_epoch = rows // batch_size
    epochs, positions = np.divmod(numbers, per_epoch)
    found = np.empty((len(numbers), batch_size), np.int64)
    starts = np.flatnonzero(np.diff(epochs, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(numbers)], strict=True):
        cut = _epoch_order(seed, int(epochs[start]), rows)[: per_epoch * batch_size].reshape(per_epoch, batch_size)
        np.take(cut, positions[start:stop], axis=0, out=found[start:stop])
    return found


@functools.lru_cache(maxsize=2)
def _epoch_order(seed: int, epoch: int, rows: int) -> np.ndarray:
    # RandomState's permutations are frozen by NumPy's compatibility policy; Generator's are not
    return np.random.RandomState(np.random.Philox(key=[seed, epoch])).permutation(rows)


def _deviation(values: np.ndarray) -> np.ndarray:
    """The standard deviation down the rows; 1 where a column is constant, so that it becomes 0 and not nan."""
    deviation = values.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def _check(table: Table) -> None:
    """Sources may be anyone's: the table must be what `Table` says before a graph is built on it."""
    features, labels = table.features, table.labels
    for name, array in (("features", features), ("labels", labels)):
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "buif":
            kind = f"one of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
            raise ExperimentError(f"{table.origin}: {name} must be a NumPy array of numbers, not {kind}")
    if features.ndim != 2 or labels.shape != features.shape[:1] or not features.size:
        raise ExperimentError(
            f"{table.origin}: features {list(features.shape)} and labels {list(labels.shape)} must have the "
            "shapes [rows, columns] and [rows]"
        )
    if len(table.columns) != features.shape[1]:
        raise ExperimentError(f"{table.origin}: {len(table.columns)} column names for {features.shape[1]} columns")
    if table.class_names and len(table.class_names) != table.classes:
        raise ExperimentError(f"{table.origin}: {len(table.class_names)} class names for {table.classes} classes")
    bad = np.argwhere(_beyond(features))
    if len(bad):
        row, column = bad[0]
        value = features[row, column]
        raise ExperimentError(f"{table.origin}, row {row}, column '{table.columns[column]}': {value} is not {_NUMBER}")
    if table.classes is None:
        wrong = np.flatnonzero(_beyond(labels))
        must = _NUMBER
    else:
        wrong = np.flatnonzero((labels < 0) | (labels >= table.classes) | (labels != np.floor(labels)))
        must = f"one of the {table.classes} classes 0 to {table.classes - 1}"
    if len(wrong):
        raise ExperimentError(f"{table.origin}, row {wrong[0]}: the label {labels[wrong[0]]} is not {must}")


def _beyond(values: np.ndarray) -> np.ndarray:
    """Where the values are none that a table may have: nan, or 1.8e308 in the place of what is not known."""
    return ~(np.abs(values) <= LARGEST)


_NUMBER = "a finite number of float32"


def _digest(table: Table) -> str:
    sha = hashlib.sha256(f"{table.columns} {table.classes} {table.features.shape}".encode())
    sha.update(np.ascontiguousarray(table.features, "<f8").tobytes())
    sha.update(np.ascontiguousarray(table.labels, "<i8" if table.classes else "<f8").tobytes())
    return sha.hexdigest()
