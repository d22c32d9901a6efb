"""The curves as a picture, and the check against what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.saturation.curves import Curve, saturates_at

__all__ = ["draw"]

_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#9c6b4e")


def draw(curves: Sequence[Curve], checks: Sequence[dict[str, Any]], path: Path) -> None:
    """Write a PNG: speed-up by servers, how busy one is, by rule, by model, a divided batch, and the check."""
    from matplotlib.figure import Figure

    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.group, []).append(curve)
    figure = Figure(figsize=(13, 7.4), dpi=110, layout="constrained")
    (first, second, third), (fourth, fifth, sixth) = figure.subplots(2, 3)
    _speedups(first, groups["servers"], "asynchronous, by parameter servers (dots: saturated)")
    _busy(second, groups["servers"][0])
    _speedups(third, groups["rules"], "by rule, 4 ps, workers of uneven speed", of=groups["rules"][0])
    _speedups(fourth, groups["models"], "by what travels, asynchronous, 1 ps")
    _divided(fifth, groups["divided"][0])
    _checked(sixth, checks)
    for axes in (first, second, third, fourth, fifth, sixth):
        axes.grid(True, color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def _workers(axes: Any, title: str) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("workers")
    axes.set_title(title, fontsize=10, loc="left")


def _speedups(axes: Any, curves: Sequence[Curve], title: str, of: Curve | None = None) -> None:
    """Gradients a second, as multiples of one worker's: each curve's own, or that of the curve `of`."""
    most = max(curve.workers[-1] for curve in curves)
    axes.plot([1, most], [1, most], color="grey", linewidth=1, linestyle=":", label="linear")
    for curve, colour in zip(curves, _COLOURS, strict=False):
        one = (of or curve).reached[0].gradients
        speedup = [reached.gradients / one for reached in curve.reached]
        axes.plot(curve.workers, speedup, color=colour, linewidth=1.8, label=curve.name)
        knee = saturates_at(curve)
        if knee is not None:
            axes.plot([knee], [knee], "o", color=colour, markersize=6)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylabel("times as many gradients a second")
    axes.legend(frameon=False, fontsize=8)
    _workers(axes, title)


def _busy(axes: Any, curve: Curve) -> None:
    parts = {"link out (parameters)": "out", "link in (gradients)": "into", "cores": "server"}
    for (name, part), colour, style in zip(parts.items(), _COLOURS, ("-", "--", "-"), strict=False):
        used = [100 * getattr(reached, part) for reached in curve.reached]
        axes.plot(curve.workers, used, color=colour, linewidth=1.8, linestyle=style, label=name)
    axes.plot(
        curve.workers, [100 * one.cores for one in curve.reached], color=_COLOURS[3], linewidth=1.8, label="workers' cores"
    )
    axes.set_ylabel("busy, %")
    axes.legend(frameon=False, fontsize=8)
    _workers(axes, "what is busy, 1 ps")


def _divided(axes: Any, curve: Curve) -> None:
    seconds = [count / one.gradients for count, one in zip(curve.workers, curve.reached, strict=True)]
    axes.plot(curve.workers, seconds, color=_COLOURS[0], linewidth=1.8, marker="o", markersize=4)
    axes.set_ylim(0)
    axes.set_ylabel("seconds a step")
    _workers(axes, "synchronous, the same batch divided, 4 ps")


def _checked(axes: Any, checks: Sequence[dict[str, Any]]) -> None:
    for number, model in enumerate(sorted({check["model"] for check in checks})):
        found = [check for check in checks if check["model"] == model]
        measured, simulated = ([check[of] for check in found] for of in ("measured", "simulated"))
        axes.loglog(measured, simulated, "o", color=_COLOURS[number], markersize=5, label=model)
    ends = [f(check[of] for check in checks for of in ("measured", "simulated")) for f in (min, max)]
    axes.plot(ends, ends, color="grey", linewidth=1, linestyle=":")
    axes.set_xlabel("measured, gradients a second")
    axes.set_ylabel("simulated")
    axes.set_title("the model beside this machine, 1 to 8 workers", fontsize=10, loc="left")
    axes.legend(frameon=False, fontsize=8)
