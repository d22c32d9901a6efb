"""The figures as pictures: a bar for each ratio, the spread over it, the aim beside it; and a curve for what grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.benchmarks.measuring import OURS, THEIRS, Figure

_ABOVE, _BELOW = "#2a7f62", "#b5482a"


def draw(figures: Sequence[Figure], path: Path) -> None:
    """Write a PNG; rows without a ratio are left out."""
    from matplotlib.figure import Figure as Picture

    rows = [(figure, ratio) for figure in figures if (ratio := figure.ratio()) is not None]
    picture = Picture(figsize=(11, 1.2 + 0.26 * len(rows)), layout="constrained")
    axes = picture.subplots()
    for place, (figure, ratio) in enumerate(rows):
        ratios = figure.ratios()
        axes.barh(place, ratio, color=_ABOVE if figure.is_reached else _BELOW, height=0.7)
        axes.plot([ratios[0], ratios[-1]], [place, place], color="black", linewidth=1)
        if figure.aim is not None:
            axes.plot([figure.aim] * 2, [place - 0.42, place + 0.42], color="black", linewidth=2)
        axes.annotate(
            f"{ratio:.2g}x", (max(ratio, ratios[-1]), place), (4, 0), textcoords="offset points", va="center", fontsize=7
        )
    axes.set_yticks(range(len(rows)), [f"{figure.group}: {figure.name}" for figure, _ in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.axvline(1, color="grey", linewidth=1)
    axes.set_xlabel("times as good as what it is measured beside (thin line: spread over the rounds; thick: the aim)")
    axes.margins(y=0.01)
    picture.savefig(path, dpi=120)


def draw_growth(figures: Sequence[Figure], path: Path) -> None:
    """Write a PNG of the figures that are points of curves, both axes logarithmic."""
    from matplotlib.figure import Figure as Picture

    curves: dict[str, list[tuple[float, Figure]]] = {}
    for figure in figures:
        if figure.point is not None:
            curves.setdefault(figure.point[0], []).append((figure.point[1], figure))
    columns = min(4, len(curves))
    rows = -(-len(curves) // columns)
    picture = Picture(figsize=(3.2 * columns, 2.6 * rows), layout="constrained")
    for place, (name, points) in enumerate(curves.items(), 1):
        axes = picture.add_subplot(rows, columns, place)
        for engine, color in ((OURS, _ABOVE), (THEIRS, "grey")):
            reached = [(size, value) for size, figure in points if (value := figure.median(engine)) is not None]
            if reached:
                axes.loglog(*zip(*reached, strict=True), marker="o", markersize=3, color=color, label=engine)
        axes.set_title(name, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.margins(y=0.2)
        axes.legend(fontsize=7, frameon=False)
    picture.savefig(path, dpi=120)
