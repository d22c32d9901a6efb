"""`loss.png`: how the loss and the first metric went, on the training and the test rows."""

from __future__ import annotations

from pathlib import Path

from tfexp.experiment.history import Record
from tfexp.experiment.reporting.figures import COLOURS, along_steps, new_figure
from tfexp.experiment.reporting.scale import spans_decades

__all__ = ["draw"]

_TRAIN, _TEST = COLOURS[:2]


def draw(path: Path, title: str, records: list[Record], metric: str | None) -> None:
    """Write the picture; `metric` is the one of the second panel, None for no such panel."""
    names = ["loss"] if metric is None else ["loss", metric]
    figure = new_figure(4.8 * len(names), 3.6, title)
    steps = [record["step"] for record in records]
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        for part, colour in (("train", _TRAIN), ("test", _TEST)):
            values = [record[part][name] for record in records]
            axes.plot(steps, values, color=colour, linewidth=1.8, label=f"{part} {values[-1]:.4g}")
            axes.plot(steps[-1:], values[-1:], "o", color=colour, markersize=4)
        if name == "loss" and spans_decades([record[part][name] for record in records for part in ("train", "test")]):
            axes.set_yscale("log")
        axes.set_title(name, fontsize=10, loc="left")
        along_steps(axes)
        axes.legend(frameon=False, fontsize=9)
    figure.savefig(path)
