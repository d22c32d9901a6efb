"""What a run's model says of the rows of a file, and how good that is where the file has the labels, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.csv_file import CsvFile
from tfexp.experiment.datasets.csv_records import opened
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import ExperimentError, no_such
from tfexp.experiment.exporting import Serving
from tfexp.experiment.objective import Objective
from tfexp.experiment.schema import Settings

__all__ = ["Rows", "evaluated", "predicted", "read_rows"]


@dataclass(frozen=True)
class Rows:
    """A file's `cells`, and `names`, of its columns; of these, `features` float64 [rows, columns] is what the model takes.

    `labels` are what its loss and metrics take, None where the file has none.
    """

    names: list[str]
    cells: list[list[str]]
    features: np.ndarray
    labels: np.ndarray | None


def read_rows(path: str, settings: Settings, model: Serving) -> Rows:
    """The rows of a file of comma-separated values that has the columns which the model learned from, in any order, beside
    others. Raises ExperimentError naming what is missing or wrong, and where.
    """
    spec, wanted = model.dataset.spec, model.dataset.columns
    # Other data than CsvFile has no column of labels.
    data = settings.data if isinstance(settings.data, CsvFile) else None
    has_names = data is None or data.header
    cells, features, labels = [], [], []
    with opened(path, "," if data is None else data.separator) as records:
        first = records.next()
        if first is None:
            raise ExperimentError(f"{path}: the file is empty")
        names = [cell.strip() for cell in first] if has_names else [str(at) for at in range(len(first))]
        for name in wanted:
            if name not in names:
                raise ExperimentError(no_such(f"column in {path} called", name, names))
        places = [names.index(name) for name in wanted]
        label = data.label if data is not None and data.label in names else None
        record = records.next() if has_names else first
        while record is not None:
            if len(record) != len(names):
                raise records.problem(f"{len(record)} columns where {len(names)} are expected")
            cells.append(record)
            features.append([records.number(record[at], names[at]) for at in places])
            if data is not None and label is not None:
                labels.append(data.label_of(record[names.index(label)], label, records))
            record = records.next()
    if not cells:
        raise ExperimentError(f"{path}: no rows of data")
    return Rows(names, cells, np.array(features), None if label is None else _as_learned(np.array(labels), spec))


def predicted(rows: Rows, model: Serving) -> tuple[list[str], Iterator[list[str]]]:
    """The columns of the file and of what the model says, and its rows with that. ExperimentError for names that clash."""
    said = model.session.run(dict(model.predictions), {model.features: rows.features})
    added: list[str] = []
    columns: list[np.ndarray] = []
    for name, values in said.items():
        flat = values.reshape(len(rows.cells), -1)
        added += [name] if flat.shape[1] == 1 else [f"{name}_{which}" for which in _parts(flat.shape[1], model.dataset.spec)]
        columns += list(flat.T)
    twice = next((name for name in added if name in rows.names), None)
    if twice is not None:
        raise ExperimentError(f"the file has a column called '{twice}' already, which is what the model says: rename it")
    answers = zip(*columns, strict=True)
    return [*rows.names, *added], ([*cells, *map(_written, of)] for cells, of in zip(rows.cells, answers, strict=True))


def evaluated(rows: Rows, settings: Settings, model: Serving) -> dict[str, float]:
    """The loss and the metrics over rows that have labels. To be called in the block of `serving`."""
    assert rows.labels is not None
    spec = model.dataset.spec
    labels = tf.placeholder(rows.labels.dtype, [None, *rows.labels.shape[1:]], name="labels")
    measured = {
        "loss": Objective.of(settings.model.loss(model.outputs, labels, spec)).value,
        **settings.model.metrics(model.outputs, labels, spec),
    }
    found = model.session.run(measured, {model.features: rows.features, labels: rows.labels})
    return {name: float(value) for name, value in found.items()}


def _as_learned(labels: np.ndarray, spec: Spec) -> np.ndarray:
    if spec.classes is not None:
        return labels.astype(np.int64)
    return ((labels - spec.label_shift) / spec.label_scale).astype(np.float32)[:, None]


def _parts(count: int, spec: Spec) -> tuple[str, ...]:
    """What the columns of a prediction are called: by the classes, where there is one for each."""
    return spec.class_names if len(spec.class_names) == count else tuple(map(str, range(count)))


def _written(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
