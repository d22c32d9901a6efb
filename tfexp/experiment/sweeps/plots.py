"""`sweep.png`: the points as lines through what was varied, coloured by what they came to, and the metric against each.

Of a point that was tried with several seeds it shows the mean and, against each setting, the standard deviation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfexp.experiment.reporting.figures import new_figure, quiet
from tfexp.experiment.reporting.scale import TRIED, digits, natural, spans_decades
from tfexp.experiment.sweeps.results import Ranked
from tfexp.experiment.sweeps.schema import Sweep

__all__ = ["draw_sweep"]

_MOST = 6
"""Settings that have a panel of their own."""
_ROOM = 0.06
"""Of an axis's height, what a value that is written beside it takes."""
_LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}


class _Scale:
    """Where a setting's values are: numbers on a line, by orders of magnitude where they span some; others in places."""

    def __init__(self, texts: Sequence[str]) -> None:
        numbers = [_number(text) for text in texts]
        found = [number for number in numbers if number is not None]
        self.is_numeric = len(found) == len(numbers)
        self.is_log = self.is_numeric and spans_decades(found, TRIED)
        self.names = [] if self.is_numeric else sorted(set(texts), key=natural)
        self.numbers = sorted(set(found)) if self.is_numeric else []
        self.least, self.most = (min(found), max(found)) if self.is_numeric else (0.0, float(len(self.names) - 1))

    def at(self, text: str) -> float:
        number = _number(text) if self.is_numeric else float(self.names.index(text))
        assert number is not None
        return number

    def marks(self) -> list[tuple[float, str]]:
        """What to write along an axis, and where: every value, but of numbers that leave no room the ends alone."""
        if not self.is_numeric:
            return [(self.share(name), name) for name in self.names]
        shares = [self._share(number) for number in self.numbers]
        roomy = all(after - before >= _ROOM for before, after in itertools.pairwise(shares))
        chosen = self.numbers if roomy else [self.least, self.most]
        return [(self._share(number), digits(number)) for number in chosen]

    def share(self, text: str) -> float:
        """From 0 (least) to 1 (most)."""
        return self._share(self.at(text))

    def _share(self, value: float) -> float:
        low, high = self.least, self.most
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return 0.5 if high == low else (value - low) / (high - low)


def draw_sweep(path: Path, title: str, sweep: Sweep, ranked: Sequence[Ranked]) -> bool:
    """Write the picture; False if there is nothing to draw: fewer than two points with a value, or nothing varied."""
    known = [point for point in ranked if point.value is not None]
    counts = {name: len({point.varied.get(name) for point in known}) for point in known for name in point.varied}
    names = [name for name, count in counts.items() if count > 1]
    if len(known) < 2 or not names:
        return False
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable

    values = [point.value for point in known if point.value is not None]
    norm, best = _norm(values), known[0]
    colours = colormaps["viridis" if sweep.minimizes else "viridis_r"]  # the best is the darkest
    panels = names[:_MOST]
    columns = min(3, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = new_figure(9.6, 3.4 + 2.8 * lines, title)
    halves = figure.add_gridspec(2, 1, height_ratios=[3.2, 2.8 * lines])
    above, below = figure.add_subfigure(halves[0]), figure.add_subfigure(halves[1])
    _parallel(above.subplots(), names, known, best, sweep, norm, colours)
    above.colorbar(
        ScalarMappable(norm=norm, cmap=colours), ax=above.axes, label=f"{sweep.part} {sweep.metric_name}", pad=0.01
    )
    grid = below.subplots(lines, columns, squeeze=False, sharey=True).ravel()
    for axes, name in zip(grid, panels, strict=False):
        _against(axes, name, known, best, norm, colours)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[::columns]:
        axes.set_ylabel(f"{sweep.part} {sweep.metric_name}")
    if spans_decades(values):
        grid[0].set_yscale("log")
    figure.savefig(path)
    return True


def _parallel(
    axes: Any, names: Sequence[str], points: Sequence[Ranked], best: Ranked, sweep: Sweep, norm: Any, colours: Any
) -> None:
    scales = {name: _Scale([point.varied[name] for point in points if name in point.varied]) for name in names}
    worst_first = sorted(points, key=lambda point: point.value or 0.0, reverse=sweep.minimizes)
    values = [point.value for point in points if point.value is not None]
    for point in worst_first:
        assert point.value is not None
        across = [at for at, name in enumerate(names) if name in point.varied]  # a condition may leave a setting out
        heights = [scales[names[at]].share(point.varied[names[at]]) for at in across]
        own = float(norm(point.value))
        heights.append(own)
        width, alpha = (2.6, 1.0) if point is best else (1.1, 0.75)
        style = "--" if point.status == "halved" else "-"
        axes.plot([*across, len(names)], heights, style, color=colours(own), linewidth=width, alpha=alpha)
    axes.set_xlim(-0.1, len(names) + 0.1)
    axes.set_ylim(-0.06, 1.06)
    axes.set_xticks(range(len(names) + 1), [*names, f"{sweep.part} {sweep.metric_name}"], fontsize=9)
    axes.set_yticks([])
    for at, name in enumerate(names):
        axes.axvline(at, color="#c8ccd2", linewidth=1, zorder=0)
        for height, text in scales[name].marks():
            axes.annotate(
                text, (at, height), xytext=(4, 4), textcoords="offset points", fontsize=8, color="#3a3f47", bbox=_LABEL
            )
    axes.axvline(len(names), color="#c8ccd2", linewidth=1, zorder=0)
    for height, value in ((0.0, min(values)), (1.0, max(values))):
        axes.annotate(
            f"{value:.4g}",
            (len(names), height),
            xytext=(-4, 4),
            textcoords="offset points",
            fontsize=8,
            ha="right",
            bbox=_LABEL,
        )
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)


def _against(axes: Any, name: str, points: Sequence[Ranked], best: Ranked, norm: Any, colours: Any) -> None:
    shown = [point for point in points if name in point.varied]
    scale = _Scale([point.varied[name] for point in shown])
    for point in shown:
        assert point.value is not None
        colour, place = colours(norm(point.value)), scale.at(point.varied[name])
        face = "none" if point.status == "halved" else colour
        size, edge = (90, "#ff725c") if point is best else (36, colour)
        if point.spread is not None:
            axes.errorbar([place], [point.value], [point.spread], fmt="none", ecolor=colour, elinewidth=1.2, capsize=3)
        axes.scatter(
            [place],
            [point.value],
            s=size,
            facecolors=face,
            edgecolors=edge,
            linewidths=2 if point is best else 1.2,
        )
    if scale.is_log:
        axes.set_xscale("log")
    if not scale.is_numeric:
        axes.set_xticks(range(len(scale.names)), scale.names, fontsize=9)
        axes.set_xlim(-0.5, len(scale.names) - 0.5)
    axes.set_xlabel(name, fontsize=9)
    quiet(axes)


def _norm(values: Sequence[float]) -> Any:
    from matplotlib.colors import LogNorm, Normalize

    return (LogNorm if spans_decades(values) else Normalize)(min(values), max(values))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
