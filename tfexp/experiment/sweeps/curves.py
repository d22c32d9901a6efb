"""`curves.png`: how the metric that ranks the points went as they trained; of several seeds, its mean and spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tfexp.experiment.history import Record, read_records
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.reporting.figures import COLOURS, along_steps, new_figure
from tfexp.experiment.reporting.scale import spans_decades
from tfexp.experiment.sweeps.results import Ranked
from tfexp.experiment.sweeps.schema import Sweep
from tfexp.experiment.sweeps.table import short_names

__all__ = ["Curve", "curve_of", "draw_learning"]


@dataclass(frozen=True)
class Curve:
    """`mean` and, of several runs, the standard deviation `spread` at the `steps`: each float64 [steps]."""

    steps: np.ndarray
    mean: np.ndarray
    spread: np.ndarray | None


def curve_of(histories: Sequence[Sequence[Record]], part: str, metric: str) -> Curve | None:
    """Of runs that differ in their seed, at each step at which one was evaluated and that all have come to.

    Between its evaluations a run is on the line that joins them. None where a run has none.
    """
    if not all(histories):
        return None
    steps = [np.array([record["step"] for record in records], np.float64) for records in histories]
    values = [np.array([record[part][metric] for record in records], np.float64) for records in histories]
    there = np.unique(np.concatenate(steps))
    there = there[there <= min(of[-1] for of in steps)]
    every = np.stack([np.interp(there, *line) for line in zip(steps, values, strict=True)])
    return Curve(there, every.mean(axis=0), every.std(axis=0, ddof=1) if len(every) > 1 else None)


def draw_learning(path: Path, title: str, sweep: Sweep, ranked: Sequence[Ranked], folder: Path) -> bool:
    """Write the picture of the trials in the sweep's `folder`; False if there is nothing to compare: fewer than two with a
    value.

    Up to eight points have a colour and a name each; of more, the colour says how good they are.
    """
    known = [point for point in ranked if point.value is not None]
    curves = [
        (point, curve)
        for point in known
        if (curve := curve_of([_records(folder, row.folder) for row in point.rows], sweep.part, sweep.metric_name))
    ]
    if sum(len(point.rows) for point, _ in curves) < 2:
        return False
    from matplotlib import colormaps

    figure = new_figure(9.6, 5.2, title)
    axes = figure.subplots()
    few = len(curves) <= len(COLOURS)
    colours = COLOURS if few else [colormaps["viridis"](0.9 * place / (len(curves) - 1)) for place in range(len(curves))]
    drawn = [*enumerate(zip(curves, colours, strict=False))][::-1]  # the best on top
    for place, ((point, curve), colour) in drawn:
        style = "--" if point.status == "halved" else "-"
        width = 2.4 if place == 0 else 1.5 if few else 0.9
        axes.plot(
            curve.steps, curve.mean, linestyle=style, color=colour, linewidth=width, label=_label(point) if few else None
        )
    if spans_decades([value for _, curve in curves for value in curve.mean.tolist()]):
        axes.set_yscale("log")
    axes.set_ylim(axes.get_ylim())  # one wide band does not press all curves flat
    for _, ((_, curve), colour) in drawn:
        if curve.spread is not None:
            low, high = curve.mean - curve.spread, curve.mean + curve.spread
            axes.fill_between(curve.steps, low, high, color=colour, alpha=0.18 if few else 0.08, linewidth=0)
    told = "" if few else f"; the best is the darkest: {_label(curves[0][0])}"
    axes.set_title(f"{sweep.metric_name} on the {sweep.part} rows{told}", fontsize=10, loc="left")
    along_steps(axes)
    if few:
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9, reverse=True)
    figure.savefig(path)
    return True


def _records(folder: Path, trial: str) -> list[Record]:
    return read_records(RunFiles(folder / trial).metrics)


def _label(point: Ranked) -> str:
    """What was chosen for it, and what it came to."""
    chosen = zip(short_names(list(point.varied)), point.varied.values(), strict=True)
    spread = "" if point.spread is None else f" ± {point.spread:.2g}"
    return "  ".join([*(f"{name}={value}" for name, value in chosen), f"{point.value:.4g}{spread}"])
