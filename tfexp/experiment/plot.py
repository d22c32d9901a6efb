"""`loss.png`: how the loss and the first metric went, on the training and the test rows; `confusion.png`: what the test
rows of each class were taken for.
"""

from __future__ import annotations

from pathlib import Path

from tfexp.experiment.confusion import Confusion
from tfexp.experiment.history import Record
from tfexp.experiment.reporting.figures import COLOURS, along_steps, new_figure
from tfexp.experiment.reporting.scale import spans_decades

__all__ = ["draw", "draw_confusion"]

_TRAIN, _TEST = COLOURS[:2]
_RIGHT, _WRONG = _TRAIN, _TEST
_MOST_COUNTED = 25
"""Of more classes, the counts are left out: the colours say it."""


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


def draw_confusion(path: Path, title: str, confusion: Confusion) -> None:
    """Write the picture: a cell for each class and what it was taken for, those that are right in another colour."""
    names, depths = confusion.names, confusion.depths()
    count = len(names)
    side = min(12.0, max(3.2, 0.42 * count + 1.6))
    figure = new_figure(side, side + 0.3, title)
    axes = figure.subplots()
    right, wrong = bytes.fromhex(_RIGHT[1:]), bytes.fromhex(_WRONG[1:])
    axes.imshow([[_mixed(right if at == to else wrong, of) for to, of in enumerate(row)] for at, row in enumerate(depths)])
    if count <= _MOST_COUNTED:
        for at, row in enumerate(confusion.counts):
            for to, number in enumerate(row):
                colour = "#b8bec8" if not number else "white" if at == to and depths[at][to] > 0.5 else "#1c2330"
                axes.text(to, at, str(number), ha="center", va="center", fontsize=9, color=colour)
    every = range(0, count, -(-count // 40))
    long = max(map(len, names)) > 3
    axes.set_xticks(every, [names[at] for at in every], fontsize=8, rotation=90 if long and count > 4 else 0)
    axes.set_yticks(every, [names[at] for at in every], fontsize=8)
    axes.set_xlabel("taken for")
    axes.set_ylabel("class")
    total, good = sum(map(sum, confusion.counts)), sum(row[at] for at, row in enumerate(confusion.counts))
    axes.set_title(f"{good:,} of {total:,} test rows are right", fontsize=10, loc="left")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.savefig(path)


def _mixed(colour: bytes, depth: float) -> tuple[float, ...]:
    """The colour in front of white."""
    return tuple(1 - 0.85 * depth * (1 - part / 255) for part in colour)
