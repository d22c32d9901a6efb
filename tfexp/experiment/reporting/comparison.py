"""Several runs on the terminal: in which settings and circumstances they differ, and to what numbers they came."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfexp.experiment.compare import environment_differences, flat
from tfexp.experiment.reporting.listing import STATUS_STYLES, console, is_better_low, short, show_runs
from tfexp.experiment.reporting.run import Run
from tfexp.experiment.reporting.select import differing, metric_names, text_of

__all__ = ["circumstances", "parted", "show_comparison"]

_MOST_BESIDE = 6
"""More runs than these stand below each other, not beside."""


def show_comparison(runs: Sequence[Run], root: str) -> None:
    settings = parted(runs)
    if len(runs) > _MOST_BESIDE:
        metrics = [f"test.{name}" for name in metric_names(runs)]
        show_runs(runs, ["run", "status", *settings, "step", *metrics], root)
        rows = circumstances(runs)
        if rows:
            out = console(sys.stdout)
            out.print("not the same for all: " + ", ".join(f"{name} ({len(set(v))} values)" for name, v in rows.items()))
        return
    _show_beside(runs, settings)


def _show_beside(runs: Sequence[Run], settings: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold")
    table.add_column("", no_wrap=True)
    for run in runs:
        table.add_column(Text(run.name), overflow="fold")
    table.add_row("status", *(Text(run.status, STATUS_STYLES[run.status]) for run in runs), end_section=not settings)
    for number, name in enumerate(settings):
        texts = _texts((run.settings.get(name) for run in runs), text_of)
        table.add_row(name, *map(Text, texts), end_section=number == len(settings) - 1)
    for name, head in (("step", "step"), ("seconds", "time")):
        table.add_row(head, *_texts((run.values.get(name) for run in runs), functools.partial(short, name)))
    for part in ("train", "test"):
        for metric in metric_names(runs):
            found = [run.numbers.get(part, {}).get(metric) for run in runs]
            there = [value for value in found if value is not None]
            if there:
                best = (min if is_better_low(metric) else max)(there)
                bold = ["bold" if value == best and min(there) < max(there) else "" for value in found]
                digits = _texts(found, "{:.6g}".format)
                table.add_row(f"{part}.{metric}", *(Text(text, style) for text, style in zip(digits, bold, strict=True)))
    rows = circumstances(runs)
    if rows:
        table.add_section()
    for name, values in rows.items():
        table.add_row(name, *values)
    out = console(sys.stdout)
    out.print(table)
    for run in runs:
        for problem in (*run.problems, *run.history().problems):
            out.print(f"  {run.name}: {problem}", markup=False)
    if not settings:
        out.print("the settings are the same")


def _texts(values: Iterable[Any], text: Callable[[Any], str]) -> list[str]:
    return ["" if value is None else text(value) for value in values]


def parted(runs: Sequence[Run]) -> list[str]:
    """The settings that differ, and those that only some have because of a choice that does not differ by name."""
    found = differing(runs)
    whole = {name for name in found if "." not in name}
    known = [run.settings for run in runs if run.settings]
    names = dict.fromkeys(name for one in known for name in one)
    lacking = [n for n in names if n not in found and n.partition(".")[0] not in whole and any(n not in o for o in known)]
    return found + lacking


def circumstances(runs: Sequence[Run]) -> dict[str, list[str]]:
    """What differs in the environment (`environment_differences`), by name, a text for each run."""
    first = next((run.manifest for run in runs if run.manifest), {})
    names: dict[str, None] = {}
    for run in runs:
        if run.manifest:
            names |= dict.fromkeys(name for name, _, _ in environment_differences(first, run.manifest))
    for name in ("working_directory", "data.columns"):
        names.pop(name, None)
    flats = [flat(run.manifest) for run in runs]
    return {name: [_brief(one.get(name)) for one in flats] for name in names}


def _brief(value: Any) -> str:
    """Of a digest, the first digits; of a list, such as that of the BLAS libraries, what its items say."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(" ".join(map(str, one.values())) if isinstance(one, dict) else str(one) for one in value)
    text = str(value)
    return text[:12] if len(text) in (40, 64) and not text.strip("0123456789abcdef") else text
