"""The curves of several runs in one picture: a panel for the loss and one for the metric that says most."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tfexp.experiment.reporting.figures import COLOURS, along_steps, new_figure
from tfexp.experiment.reporting.listing import heads, is_better_low, settings_that_tell, short
from tfexp.experiment.reporting.run import Run
from tfexp.experiment.reporting.scale import spans_decades
from tfexp.experiment.reporting.select import metric_names

__all__ = ["draw_curves"]

_MOST_TOLD = 2
"""Settings that differ that a name in the legend says."""


def draw_curves(path: Path, runs: Sequence[Run]) -> int:
    """Write the picture of the test rows' curves, in the format that the name ends with; returns how many runs are in it.

    Up to eight runs have a colour and a name each, with what differs in their settings; of more, the colour says how good
    the last value is. Raises ValueError for a format that matplotlib does not know, OSError for a file that cannot be
    written.
    """
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    names = metric_names(runs)[:2]
    histories = [(run, run.history().records) for run in runs]
    histories = [(run, records) for run, records in histories if records]
    if not histories:
        return 0
    few = len(histories) <= len(COLOURS)
    figure = new_figure(5.6 * len(names), 4.2 + (0.18 * len(histories) if few else 0))
    told = heads(settings_that_tell([run for run, _ in histories])[:_MOST_TOLD]) if few else {}
    colour_of = {run.path: colour for (run, _), colour in zip(histories, COLOURS)}
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        having = [(run, [r for r in records if name in r["test"]]) for run, records in histories]
        having = [(run, records) for run, records in having if records]
        ranked = sorted(having, key=lambda pair: pair[1][-1]["test"][name], reverse=is_better_low(name))  # the best on top
        points = [[(r["step"], r["test"][name]) for r in records] for _, records in (having if few else ranked)]
        for (run, _), line in zip(having, points, strict=True) if few else ():
            settings = [f"{head}={short(key, run.settings[key])}" for key, head in told.items() if key in run.settings]
            label = "  ".join([run.name, *settings, f"{line[-1][1]:.4g}"])
            axes.plot(*zip(*line), color=colour_of[run.path], linewidth=1.8, label=label)
        if not few:  # one artist for all: with a thousand of them, matplotlib takes seconds
            colours = colormaps["viridis_r"]([0.1 + 0.9 * place / max(1, len(points) - 1) for place in range(len(points))])
            axes.add_collection(LineCollection(points, colors=colours, linewidths=0.8, alpha=0.7))
            axes.autoscale()
        if name == "loss" and spans_decades([value for line in points for _, value in line]):
            axes.set_yscale("log")
        title = (
            f"{name}, test rows"
            if few
            else f"{name}, test rows, {len(ranked)} runs, the best the darkest\n{_best(ranked, name)}"
        )
        axes.set_title(title, fontsize=10, loc="left")
        along_steps(axes)
        if few:
            axes.legend(loc="upper left", bbox_to_anchor=(0, -0.14), borderaxespad=0, frameon=False, fontsize=8)
    figure.savefig(path)
    return len(histories)


def _best(ranked: list[tuple[Run, list[dict[str, dict[str, float]]]]], name: str) -> str:
    run, records = ranked[-1]
    return f"{records[-1]['test'][name]:.4g} ({run.name})"
