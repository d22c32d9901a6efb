"""What a run would be, before it is one: its data, its course, the variables of its model."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np

from tfexp.core.wording import plural
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.runner import Experiment

__all__ = ["show_preview"]

_MOST_COLUMNS = 12
_MOST_CLASSES = 20


def show_preview(experiment: Experiment) -> None:
    """Print the data's columns and labels, the course of the steps, and what is learned; of many, the first."""
    from rich.console import Console
    from rich.table import Table

    settings, dataset = experiment.settings, experiment.dataset
    out = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    out.print(settings.title, style="bold", markup=False)
    rows = f"{dataset.rows:,} rows to train on, {dataset.test.rows:,} to test on"
    out.print(f"data        {dataset.origin}: {rows}", markup=False)
    table = Table(header_style="bold")
    for name in ("column", "least", "mean", "most"):
        table.add_column(name, justify="left" if name == "column" else "right")
    for name, values in _columns(dataset):
        table.add_row(name, *(f"{number:.6g}" for number in (values.min(), values.mean(), values.max())))
    out.print(table)
    hidden = dataset.spec.width - _MOST_COLUMNS
    if hidden > 0:
        out.print(f"            and {plural(hidden, 'more column')}")
    for line in _labels(dataset):
        out.print(line, markup=False)
    out.print(_course(experiment))
    if experiment.program.start is not None:
        out.print(f"start       {experiment.program.start}", markup=False)
    if experiment.program.frozen is not None:
        out.print(f"frozen      {experiment.program.frozen}", markup=False)

    table = Table(header_style="bold")
    for name in ("variable", "shape", "numbers"):
        table.add_column(name, justify="right" if name == "numbers" else "left")
    shapes = {variable.op.name: variable.shape.as_list() for variable in experiment.program.variables}
    for name in experiment.program.trained:
        table.add_row(name, str(shapes[name]), f"{math.prod(shapes[name]):,}")
    out.print(table)
    learned = sum(math.prod(shapes[name]) for name in experiment.program.trained)
    others = sum(map(math.prod, shapes.values())) - learned
    frozen = "" if experiment.program.frozen is None else "the frozen ones, "
    kept = "1 more is kept: the step" if others == 1 else f"{others:,} more are kept: {frozen}the optimizer's, the step, …"
    out.print(f"model       {learned:,} numbers are learned; {kept}")


def _columns(dataset: Dataset) -> Iterator[tuple[str, np.ndarray]]:
    """The first columns and, where it is a number, the label: the values to train on, in the data's own unit."""
    for at, name in enumerate(dataset.columns[:_MOST_COLUMNS]):
        values = dataset.train.features[:, at].astype(np.float64)
        if dataset.scaling is not None:
            values = values * dataset.scaling.scale[at] + dataset.scaling.shift[at]
            values[abs(values) < 1e-6 * abs(values).max()] = 0.0  # what is left where float32 has no more digits
        yield name, values
    if dataset.spec.classes is None:
        labels = dataset.train.labels.astype(np.float64)
        yield "label", labels * dataset.spec.label_scale + dataset.spec.label_shift


def _labels(dataset: Dataset) -> Iterator[str]:
    """How many rows to train on each class has."""
    spec = dataset.spec
    if spec.classes is not None:
        counts = np.bincount(dataset.train.labels, minlength=spec.classes)
        names = spec.class_names or tuple(map(str, range(spec.classes)))
        shown = [f"{name}: {count:,}" for name, count in zip(names, counts, strict=True)][:_MOST_CLASSES]
        more = f", … of {spec.classes} classes" if spec.classes > _MOST_CLASSES else ""
        yield f"classes     {', '.join(shown)}{more}"


def _course(experiment: Experiment) -> str:
    course, train = experiment.course, experiment.settings.train
    epochs = course.total_steps / course.steps_per_epoch
    each = f", an evaluation every {train.eval_every:,}" if train.eval_every else ""
    return (
        f"course      {course.total_steps:,} steps of {course.batch_size:,} rows{each}: "
        f"{course.steps_per_epoch:,} steps an epoch, {epochs:.4g} epochs"
    )
