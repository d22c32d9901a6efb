"""What all pictures have in common: how they are made without a window system, and how their axes look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "along_steps", "dashes", "new_figure", "quiet", "turns"]

COLOURS = ("#4269d0", "#ff725c", "#3ca951", "#efb118", "#a463f2", "#6cc5b0", "#9c6b4e", "#ff8ab7")
"""Of what is told apart by its name."""
_DASH = 4.0
"""In widths of the line."""


def new_figure(width: float, height: float, title: str = "") -> Figure:
    """An empty figure of that size in inches, 120 dots to each."""
    # without pyplot: no window system is looked for, and no figure stays registered
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title, fontsize=12, fontweight="bold")
    return figure


def along_steps(axes: Any) -> None:
    """What is drawn goes from step to step: no tick is between two of them; and as `quiet`."""
    axes.set_xlabel("step")
    axes.xaxis.get_major_locator().set_params(integer=True)
    quiet(axes)


def quiet(axes: Any) -> None:
    """Lines in light grey behind the data, and no frame above and to the right of it."""
    axes.grid(True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def dashes(lines: Sequence[Sequence[tuple[float, float]]]) -> list[Any]:
    """The styles of lines through (x, y) of one width: of those that coincide (`turns`), each has dashes where the others
    have gaps.
    """
    return ["-" if of == 1 else (-_DASH * at, (_DASH, _DASH * (of - 1))) for at, of in turns(lines)]


def turns(lines: Sequence[Sequence[tuple[float, float]]]) -> list[tuple[int, int]]:
    """Of each line through (x, y), its place among those that coincide with it, and how many they are with it.

    Two lines coincide if at every x that both have their values are a 500th of the whole height apart or less; lines that
    only begin at the same point do not.
    """
    values = [y for line in lines for _, y in line]
    least = (max(values) - min(values)) / 500 if values else 0.0
    groups: list[list[int]] = []
    for number, line in enumerate(lines):
        group = next((group for group in groups if _coincide(lines[group[0]], line, least)), None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    place = {number: (at, len(group)) for group in groups for at, number in enumerate(group)}
    return [place[number] for number in range(len(lines))]


def _coincide(one: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]], least: float) -> bool:
    first, second = dict(one), dict(other)
    both = first.keys() & second.keys()
    return len(both) >= min(2, len(one), len(other)) and all(abs(first[x] - second[x]) <= least for x in both)
