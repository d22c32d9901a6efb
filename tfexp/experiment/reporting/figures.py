"""What all pictures have in common: how they are made without a window system, and how their axes look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "along_steps", "new_figure", "quiet"]

COLOURS = ("#4269d0", "#ff725c", "#3ca951", "#efb118", "#a463f2", "#6cc5b0", "#9c6b4e", "#ff8ab7")
"""Of what is told apart by its name."""


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
