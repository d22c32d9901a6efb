"""Many runs, a line each: as a table for people, as JSON, as CSV."""

from __future__ import annotations

import csv
import datetime
import io
import json
import sys
from collections.abc import Sequence
from typing import Any

from tfexp.core.wording import plural
from tfexp.experiment.reporting.run import STATUSES, Run
from tfexp.experiment.reporting.select import differing, metric_names, text_of

__all__ = [
    "STATUS_STYLES",
    "as_csv",
    "as_json",
    "columns_that_tell",
    "console",
    "heads",
    "is_better_low",
    "is_number",
    "settings_that_tell",
    "short",
    "show_runs",
]

STATUS_STYLES = {
    "finished": "green",
    "stopped early": "green",
    "halved": "dim",
    "interrupted": "yellow",
    "failed": "red",
    "diverged": "red",
    "running": "cyan",
    "unknown": "dim",
}
_MOST_SETTINGS = 4
"""Columns for settings that differ, beside the model and the data."""
_TELLING = ("model", "optimizer", "schedule", "train", "input", "data", "update", "cluster.workers", "cluster.ps")
"""Where settings are of which a line of a list speaks, the most telling first."""


def columns_that_tell(runs: Sequence[Run], width: int | None = None) -> list[str]:
    """What tells these runs apart, and how good they are; no more than fits into `width` characters."""
    settings = [name for name in settings_that_tell(runs) if name not in ("model", "data", "train.steps")][:_MOST_SETTINGS]
    metrics = [f"test.{name}" for name in metric_names(runs)[:2]]
    columns = ["run", "status", "model", "data", *settings, "step", *metrics, "seconds", "started"]
    widths = {name: max(map(len, cells)) for name, cells in _cells(runs, columns).items()}
    same = [name for name in ("data", "model") if len({run.values.get(name) for run in runs}) < 2]
    for name in [*same, "started", "seconds", *reversed(settings), "step"]:
        if width is not None and name in columns and sum(widths[one] + 3 for one in columns) + 1 > width:
            columns.remove(name)
    return columns


def settings_that_tell(runs: Sequence[Run]) -> list[str]:
    """The settings that differ, the most telling first."""
    names = differing(runs)
    # Of one optimizer, say, many settings are its own: the choice says it.
    whole = {name for name in names if "." not in name}
    return [
        name
        for section in _TELLING
        for name in names
        if (name == section or name.startswith(f"{section}.")) and (name in whole or name.partition(".")[0] not in whole)
    ]


def heads(columns: Sequence[str]) -> dict[str, str]:
    """What stands above each column: the last part of the name, where no other column ends so."""
    lasts = [name.rpartition(".")[2] for name in columns]
    heads = {name: last if lasts.count(last) == 1 else name for name, last in zip(columns, lasts, strict=True)}
    return {**heads, **({"seconds": "time"} if "seconds" in heads else {})}


def show_runs(runs: Sequence[Run], columns: Sequence[str] | None, below: str) -> None:
    """The table, the best of each metric in bold, then how many runs there are of each status, and what is wrong with which.

    Without `columns`, those that tell the runs apart and fit.
    """
    out = console(sys.stdout)
    if columns is None:
        columns = columns_that_tell(runs, out.width if sys.stdout.isatty() else None)
    if runs:
        cells = _cells(runs, columns)
        out.width = max(out.width, sum(max(map(len, column)) + 3 for column in cells.values()) + 1)
        out.print(_table(runs, cells))
    counts = {status: sum(run.status == status for run in runs) for status in STATUSES}
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    out.print(f"{plural(len(runs), 'run')} {below}" + (f": {told}" if runs else ""), markup=False)
    troubled = [run for run in runs if run.problems]
    for run in troubled[:_MOST_NOTES]:
        out.print(f"  {run.name}: {'; '.join(run.problems)}", markup=False)
    if len(troubled) > _MOST_NOTES:
        out.print(f"  … and {len(troubled) - _MOST_NOTES} more with something amiss: --columns run,status,problem")


_MOST_NOTES = 10


def _cells(runs: Sequence[Run], columns: Sequence[str]) -> dict[str, list[str]]:
    """The texts of each column, its head first."""
    found = {}
    for name, head in heads(columns).items():
        values = (run.values.get(name) for run in runs)
        found[name] = [head, *("" if value is None else short(name, value) for value in values)]
    return found


def _table(runs: Sequence[Run], cells: dict[str, list[str]]) -> Any:
    """One row of as many lines as there are runs: with a row for each, rich takes a second for a thousand."""
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold")
    columns = []
    for name, (head, *texts) in cells.items():
        values = [run.values.get(name) for run in runs]
        right = all(is_number(value) for value in values)
        table.add_column(Text(head), justify="right" if right else "left", no_wrap=True)
        best = _best(values, name) if name.startswith(("test.", "train.")) else None
        column = Text()
        for run, value, text in zip(runs, values, texts, strict=True):
            style = STATUS_STYLES[run.status] if name == "status" else "bold" if best is not None and value == best else ""
            column.append(f"{text}\n", style or None)
        column.right_crop(1)
        columns.append(column)
    table.add_row(*columns)
    return table


def as_json(runs: Sequence[Run]) -> str:
    """A list of objects: the facts, and nested in them `train`, `test` and `settings`."""
    content = [{**run.facts, "folder": str(run.path), **run.numbers, "settings": run.settings} for run in runs]
    return json.dumps(content, indent=2, default=str)


def as_csv(runs: Sequence[Run], columns: Sequence[str] | None) -> str:
    """A header and a line per run; without `columns`, everything that any of the runs has."""
    names = columns
    if names is None:
        facts = [name for run in runs[:1] for name in run.facts]
        metrics = [f"{part}.{name}" for part in ("train", "test") for name in metric_names(runs)]
        names = [*facts, *metrics, *dict.fromkeys(name for run in runs for name in run.settings)]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for run in runs:
        found = (run.values.get(name) for name in names)
        writer.writerow("" if value is None else text_of(value) for value in found)
    return file.getvalue()


def console(stream: Any) -> Any:
    """rich's."""
    from rich.console import Console

    return Console(file=stream, highlight=False, soft_wrap=True)


def short(name: str, value: Any) -> str:
    """A value for people."""
    if name == "seconds":
        return _duration(float(value))
    if name == "started":
        try:
            return datetime.datetime.fromisoformat(str(value)).astimezone().strftime("%Y-%m-%d %H:%M")
        except ValueError:
            return str(value)
    if name == "commit":
        return str(value)[:10]
    if isinstance(value, float):
        return f"{value:.5g}"
    return text_of(value)


def _duration(seconds: float) -> str:
    if round(seconds) < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


_LOW_IS_BETTER = ("loss", "mse", "rmse", "mae", "error", "perplexity")


def is_better_low(metric: str) -> bool:
    return metric.endswith(_LOW_IS_BETTER)


def _best(values: Sequence[Any], name: str) -> float | None:
    numbers = [value for value in values if value is not None]
    if len(numbers) < 2:
        return None
    return min(numbers) if is_better_low(name) else max(numbers)


def is_number(value: Any) -> bool:
    """Whether a column may have it among its numbers: nothing is no text either."""
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
