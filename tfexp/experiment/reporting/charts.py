"""The charts of a report as SVG: a panel of curves for each metric, and parallel coordinates of settings and outcome.

What a curve shows is in the SVG; the numbers behind it, for the pointer, are in the data that goes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from tfexp.experiment.reporting.run import Record, Run
from tfexp.experiment.reporting.scale import TRIED, Scale, digits, natural, spans_decades
from tfexp.experiment.reporting.select import text_of
from tfexp.experiment.reporting.thin import thin

__all__ = ["FEW", "Panel", "curves_panel", "parallel"]

FEW = 8
"""Up to so many runs have a colour each, and curves of the training rows; more are coloured by how they ended."""
_WIDTH, _HEIGHT = 400.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 18.0, 8.0, 26.0
_TALL = 300.0


@dataclass
class Panel:
    """`svg`, and what the page's script needs to know of it. `thinned`: (points shown, points there were), if fewer."""

    title: str
    svg: str
    data: dict[str, Any]
    thinned: tuple[int, int] | None = None
    left_out: int = 0
    """Values that a logarithmic axis cannot show."""


@dataclass
class _Curve:
    run: int
    part: str
    steps: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


def curves_panel(metric: str, histories: Sequence[Sequence[Record]], points: int) -> Panel | None:
    """The curves of one metric, or of `learning_rate`, of all runs, each of at most `points`; None where no run has it."""
    parts = ("test",) if len(histories) > FEW else ("train", "test")
    curves = _curves(metric, histories, parts)
    if not curves:
        return None
    there = sum(len(curve.values) for curve in curves)
    log = spans_decades([value for curve in curves for value in curve.values if value > 0]) and metric in (
        "loss",
        "learning_rate",
    )
    left_out = 0
    for curve in curves:
        if log:
            positive = [place for place, value in enumerate(curve.values) if value > 0]
            left_out += len(curve.values) - len(positive)
            curve.steps = [curve.steps[place] for place in positive]
            curve.values = [curve.values[place] for place in positive]
        kept = thin(curve.values, points)
        curve.steps, curve.values = [curve.steps[place] for place in kept], [curve.values[place] for place in kept]
    curves = [curve for curve in curves if curve.values]
    shown = sum(len(curve.values) for curve in curves)
    steps = [step for curve in curves for step in curve.steps]
    across = Scale.over(steps, _LEFT, _WIDTH - _RIGHT)
    up = Scale.over([v for curve in curves for v in curve.values], _HEIGHT - _BOTTOM, _TOP, log, 0.04)
    places = [[*zip(map(across.place, curve.steps), map(up.place, curve.values), strict=True)] for curve in curves]
    drawn = [_path(*each) for each in zip(curves, places, strict=True)]
    paths = "".join(reversed(drawn))  # of many, the best on top
    svg = (
        f'<svg class="curves" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" '
        f'aria-label="{escape(metric)} of {len(histories)} runs over their steps">'
        f'{_grid(across, up)}<g class="lines">{paths}</g><line class="cross" y1="{_TOP:.0f}" y2="{_HEIGHT - _BOTTOM:.0f}"/>'
        '<circle class="dot" r="3.5"/></svg>'
    )
    data = {
        "x": [across.low, across.high, across.start, across.end],
        "y": [up.low, up.high, up.start, up.end],
        "log": log,
        "curves": [[curve.run, curve.part, curve.steps, [_six(value) for value in curve.values]] for curve in curves],
    }
    thinned = (shown, there - left_out) if shown < there - left_out else None
    return Panel(metric, svg, data, thinned, left_out)


def _curves(metric: str, histories: Sequence[Sequence[Record]], parts: Sequence[str]) -> list[_Curve]:
    curves = []
    for run, records in enumerate(histories):
        for part in ("",) if metric == "learning_rate" else parts:
            curve = _Curve(run, part)
            for record in records:
                value = record[part].get(metric) if part else record.get(metric)
                if isinstance(value, int | float):
                    curve.steps.append(record["step"])
                    curve.values.append(value)
            if curve.values:
                curves.append(curve)
    return curves


def _path(curve: _Curve, points: Sequence[tuple[float, float]]) -> str:
    places = [f"{x:.1f} {y:.1f}".replace(".0", "") for x, y in points]
    if len(places) == 1:  # a line of no length, whose round ends are a dot
        places = places * 2
    return f'<path data-run="{curve.run}" class="r{curve.run} {curve.part}" d="M{"L".join(places)}"/>'


def _grid(across: Scale, up: Scale) -> str:
    lines = []
    for value in up.ticks():
        y = up.place(value)
        lines.append(f'<line x1="{_LEFT:.0f}" x2="{_WIDTH - _RIGHT:.0f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{_LEFT - 6:.0f}" y="{y + 3.5:.1f}" class="y">{digits(value)}</text>')
    for value in across.ticks():
        lines.append(f'<text x="{across.place(value):.1f}" y="{_HEIGHT - 9:.0f}" class="x">{value:,.6g}</text>')
    return f'<g class="grid">{"".join(lines)}</g>'


def _six(value: float) -> float:
    return float(f"{value:.6g}")


def parallel(runs: Sequence[Run], settings: Sequence[str], metric: str) -> Panel | None:
    """A vertical axis for each setting and one for the metric, a line for each run; None for fewer than two runs.

    A run that lacks a value passes below the axis.
    """
    if len(runs) < 2:
        return None
    names = [*settings, metric]
    gap = max(112, min(260, 1000 / (len(names) - 1)))
    width = gap * (len(names) - 1) + 150
    axes = [_Axis(name, [run.values.get(name) for run in runs], 75 + gap * at) for at, name in enumerate(names)]
    points = [[(axis.x, axis.places[number]) for axis in axes] for number in range(len(runs))]
    lines = []
    for number in reversed(range(len(runs))):
        path = "L".join(f"{x:.0f} {y:.1f}" for x, y in points[number])
        lines.append(f'<path data-run="{number}" class="r{number}" d="M{path}"/>')
    tall = _Axis.missing + 22 if any(axis.lacking for axis in axes) else _Axis.bottom + 16
    svg = (
        f'<svg class="parallel" viewBox="0 0 {width:.0f} {tall:.0f}" width="{width:.0f}" role="img" '
        f'aria-label="Settings of {len(runs)} runs and their {escape(metric)}"><g class="lines">{"".join(lines)}</g>'
        f"{''.join(axis.svg(at, tall - 8) for at, axis in enumerate(axes))}</svg>"
    )
    places = [[round(place, 1) for place in axis.places] for axis in axes]
    return Panel(metric, svg, {"axes": places, "names": names, "top": _Axis.top, "bottom": tall - 8})


class _Axis:
    """Numbers on a scale; all else as one tick for each value that there is, in the order of the texts."""

    top, bottom, missing = 40.0, 40.0 + _TALL - 30, 40.0 + _TALL

    def __init__(self, name: str, values: Sequence[Any], x: float) -> None:
        self.name, self.x = name, x
        there = [value for value in values if value is not None]
        numbers = [value for value in there if isinstance(value, int | float) and not isinstance(value, bool)]
        self.lacking = len(there) < len(values)
        if numbers and len(numbers) == len(there) and (len(set(numbers)) > 1 or name.startswith("test.")):
            scale = Scale.over(numbers, self.bottom, self.top, spans_decades(numbers, TRIED))
            few = sorted(set(numbers)) if len(set(numbers)) <= 6 else scale.ticks()
            self.ticks = [(digits(value), scale.place(value)) for value in few]
            self.places = [self.missing if value is None else scale.place(value) for value in values]
        else:
            texts = sorted({text_of(value) for value in there}, key=natural)
            gap = (self.bottom - self.top) / max(1, len(texts) - 1)
            at = {text: self.bottom - gap * number for number, text in enumerate(texts)}
            self.ticks = list(at.items())
            self.places = [self.missing if value is None else at[text_of(value)] for value in values]

    def svg(self, number: int, end: float) -> str:
        marks = [*self.ticks, ("none", self.missing)] if self.lacking else self.ticks
        ticks = "".join(
            f'<text x="{self.x + 7:.0f}" y="{y + 3.5:.1f}">{escape(text if len(text) < 16 else text[:15] + "…")}</text>'
            for text, y in marks
        )
        section, _, last = self.name.rpartition(".")
        return (
            f'<g class="axis" data-axis="{number}"><text class="section" x="{self.x:.0f}" y="12">{escape(section)}</text>'
            f'<text class="name" x="{self.x:.0f}" y="26">{escape(last)}</text>'
            f'<line x1="{self.x:.0f}" x2="{self.x:.0f}" y1="{self.top:.0f}" y2="{self.bottom:.0f}"/>{ticks}'
            f'<rect class="brush" x="{self.x - 9:.0f}" width="18" y="0" height="0"/>'
            f'<rect class="grip" x="{self.x - 16:.0f}" y="{self.top - 8:.0f}" width="32" '
            f'height="{end - self.top + 8:.0f}"/></g>'
        )
