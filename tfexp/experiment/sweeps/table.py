"""What a sweep shows: a table that lives while it runs (lines, where standard output is no terminal), and the ranking."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.experiment.progress import clock
from tfexp.experiment.sweeps.driver import Watcher
from tfexp.experiment.sweeps.ledger import Ledger
from tfexp.experiment.sweeps.results import Ranked, Row
from tfexp.experiment.sweeps.schema import Sweep
from tfexp.experiment.sweeps.trial import Progress, Trial

__all__ = ["Lines", "LiveTable", "show_planned", "show_ranking", "watcher_for"]

_SHOWN = 12
"""Trials in the table that lives."""
_WIDEST = 1000
"""Columns of a terminal that a table at the end may ask for."""
_STYLES = {"finished": "green", "stopped early": "green", "running": "cyan", "halved": "yellow", "failed": "red"}


class _Counting(Watcher):
    """Counts, and estimates the time left from the trials that have ended since it began."""

    def __init__(self, sweep: Sweep, trials: Mapping[int, Trial], total: int | None, stream: Any) -> None:
        self.sweep, self.trials, self.total, self.stream = sweep, trials, total, stream
        self._began: float | None = None
        self._over_before = 0

    def summary(self, ledger: Ledger) -> str:
        counts: dict[str, int] = {}
        for progress in ledger.trials.values():
            counts[progress.status] = counts.get(progress.status, 0) + 1
        over = sum(progress.is_over for progress in ledger.trials.values())
        total = max(self.total or 0, len(ledger.trials))
        parts = [f"{over}/{total} trials"]
        parts += [f"{counts[name]} {name}" for name in ("running", "halved", "duplicate", "failed") if counts.get(name)]
        best = self.best(ledger)
        if best is not None:
            parts.append(f"best {self.sweep.metric} {best[0]:.6g} (trial {best[1]})")
        left = self.seconds_left(over, total)
        if left is not None:
            parts.append(f"{clock(left)} left")
        return "  ".join(parts)

    def seconds_left(self, over: int, total: int) -> float | None:
        """From the trials that have ended since the first word of any."""
        if self._began is None:
            self._began, self._over_before = time.perf_counter(), over
        ended = over - self._over_before
        return (time.perf_counter() - self._began) / ended * (total - over) if ended and over < total else None

    def best(self, ledger: Ledger) -> tuple[float, int] | None:
        values = [
            (self.value(progress), number)
            for number, progress in ledger.trials.items()
            if progress.numbers is not None and progress.status != "halved"
        ]
        if not values:
            return None
        return min(values, key=lambda found: found[0] if self.sweep.minimizes else -found[0])

    def value(self, progress: Progress) -> float:
        assert progress.numbers is not None
        return float(progress.numbers[self.sweep.part][self.sweep.metric_name])


class Lines(_Counting):
    """A line for each attempt that ends."""

    def changed(self, ledger: Ledger, trial: int) -> None:
        progress = ledger.trials[trial]
        if not progress.attempts or progress.status == "running":
            self.summary(ledger)
            return
        last = progress.attempts[-1]
        if last.status == "failed":
            what = f"failed: {_first_line(last.message)}" + ("; trying again" if progress.status == "waiting" else "")
        else:
            what = f"{progress.status}  {self.sweep.metric} {self.value(progress):.6g}"
        print(f"trial {trial} ({self.trials[trial].label}): {what}  [{self.summary(ledger)}]", file=self.stream, flush=True)

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)


class LiveTable(_Counting):
    """The running trials and the best so far, drawn in place."""

    _INTERVAL = 0.1

    def __init__(self, sweep: Sweep, trials: Mapping[int, Trial], total: int | None, stream: Any) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(sweep, trials, total, stream)
        self._live = Live(console=Console(file=stream, highlight=False), auto_refresh=False, redirect_stdout=False,
                          redirect_stderr=False)  # fmt: skip
        self._drawn = 0.0
        self._ledger: Ledger | None = None

    def say(self, text: str) -> None:
        self._live.console.print(text, markup=False)

    def changed(self, ledger: Ledger, trial: int) -> None:
        self._ledger = ledger
        if not self._live.is_started:
            self._live.start()
        if time.perf_counter() - self._drawn >= self._INTERVAL:
            self.tick()

    def tick(self) -> None:
        if self._ledger is not None:
            self._drawn = time.perf_counter()
            self._live.update(self._table(self._ledger), refresh=True)

    def close(self) -> None:
        """Take the table away: the ranking takes its place."""
        if self._live.is_started:
            from rich.text import Text

            self._live.update(Text(self.summary(self._ledger) if self._ledger else ""), refresh=True)
            self._live.stop()

    def _table(self, ledger: Ledger) -> Any:
        from rich.table import Table

        names = list(dict.fromkeys(name for trial in self.trials.values() for name in trial.varied))
        table = Table(title=self.summary(ledger), title_justify="left", title_style="bold")
        table.add_column("trial", justify="right")
        for name in short_names(names):
            table.add_column(name, overflow="fold")
        table.add_column(self.sweep.metric, justify="right")
        table.add_column("step", justify="right")
        table.add_column("status")
        running = [n for n, p in ledger.trials.items() if p.status == "running"]
        ended = [n for n, p in ledger.trials.items() if p.numbers is not None]
        sign = 1 if self.sweep.minimizes else -1
        ended.sort(key=lambda n: sign * self.value(ledger.trials[n]))
        failed = [n for n, p in ledger.trials.items() if p.status == "failed"]
        for number in (*running, *ended, *failed)[:_SHOWN]:
            progress, trial = ledger.trials[number], self.trials[number]
            value, step = "", f"0/{trial.total_steps}"
            if progress.numbers is not None:
                value, step = f"{self.value(progress):.6g}", str(progress.numbers["step"])
            elif progress.latest is not None:
                value, step = f"{progress.latest[1]:.6g}", f"{progress.latest[0]}/{trial.total_steps}"
            style = _STYLES.get(progress.status, "")
            cells = (str(number), *(trial.varied.get(name, "") for name in names), value, step)
            table.add_row(*_texts(cells), *_texts([progress.status], style))
        hidden = len(running) + len(ended) + len(failed) - _SHOWN
        if hidden > 0:
            table.caption = f"and {hidden} more"
        return table


def watcher_for(sweep: Sweep, trials: Mapping[int, Trial], total: int | None, stream: Any = None) -> Lines | LiveTable:
    """A table if standard output is a terminal, else lines."""
    stream = stream or sys.stdout
    return (LiveTable if stream.isatty() else Lines)(sweep, trials, total, stream)


def show_planned(trials: Sequence[Trial], same_as: Mapping[int, int], statuses: Mapping[int, str]) -> None:
    """The trials of a dry run, and what each takes."""
    from rich.table import Table

    if not trials:
        print("the trials are chosen as it goes; every value that there is to choose was checked, and nothing was run")
        return
    table = Table(title=f"{len(trials)} trials, checked; nothing was run", title_justify="left")
    names = list(dict.fromkeys(name for trial in trials for name in trial.varied))
    table.add_column("trial", justify="right")
    for name in short_names(names):
        table.add_column(name, no_wrap=True)
    for head in ("what", "steps", "CPUs"):
        table.add_column(head, justify="left" if head == "what" else "right")
    noted = bool(same_as or statuses)
    if noted:
        table.add_column("")
    for trial in trials:
        number = trial.number
        note = f"the same as {same_as[number]}" if number in same_as else statuses.get(number, "")
        cells = [str(number), *(trial.varied.get(name, "") for name in names), trial.settings.title, str(trial.total_steps)]
        cells.append(f"{trial.needs.cpus + trial.needs.gang_cpus:g}")
        table.add_row(*_texts(cells), *_texts([note] if noted else []))
    _print(table)


def show_ranking(ranked: Sequence[Ranked], sweep: Sweep, most: int = 30) -> None:
    """The points, the best first."""
    from rich.table import Table

    goal = "least" if sweep.minimizes else "greatest"
    several = any(len(entry.rows) > 1 for entry in ranked)
    part = {"train": "training", "test": "test"}[sweep.part]
    table = Table(title=f"{goal} {sweep.metric_name} on the {part} rows first", title_justify="left")
    names = list(dict.fromkeys(name for entry in ranked for name in entry.varied))
    table.add_column("", justify="right")
    table.add_column("trials" if several else "trial", justify="right")
    for name in short_names(names):
        table.add_column(name, no_wrap=True)
    table.add_column(f"{sweep.metric}{' (mean ± spread)' if several else ''}", justify="right")
    others = [name for name in _other_names(ranked) if _says_more(ranked, sweep, name)][:1]
    for name in others:
        table.add_column(f"{sweep.part} {name}", justify="right")
    table.add_column("status")
    table.add_column("seconds", justify="right")
    for place, entry in enumerate(ranked[:most], start=1):
        numbers = [str(row.number) for row in entry.rows]
        shown = numbers[0] if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
        value = "" if entry.value is None else f"{entry.value:.6g}"
        if entry.spread is not None:
            value += f" ± {entry.spread:.2g}"
        style = _STYLES.get(entry.status, "")
        cells = ["" if entry.value is None else str(place), shown, *(entry.varied.get(name, "") for name in names), value]
        cells += [_mean(entry.rows, sweep.part, name) for name in others]
        seconds = f"{sum(row.seconds for row in entry.rows):.2f}"
        best = "bold" if place == 1 else ""
        table.add_row(*_texts(cells), *_texts([entry.status], style), *_texts([seconds]), style=best)
    if len(ranked) > most:
        table.caption = f"and {len(ranked) - most} more in sweep.csv"
    _print(table)


def short_names(names: Sequence[str]) -> list[str]:
    """Settings' names without their section, where that still tells them apart."""
    last = [name.rpartition(".")[2] for name in names]
    return [short if last.count(short) == 1 else name for name, short in zip(names, last, strict=True)]


def _texts(cells: Sequence[str], style: str = "") -> list[Any]:
    """Cells that rich shows as they are: a list in brackets is none of its tags."""
    from rich.text import Text

    return [Text(cell, style) for cell in cells]


def _print(table: Any) -> None:
    """Wide enough for its words: a terminal that is narrower breaks its lines, and nothing is left out."""
    from rich.console import Console

    out = Console(file=sys.stdout, highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 200)
    out.width = max(out.width, out.measure(table, options=out.options.update(max_width=_WIDEST)).minimum)
    out.print(table)


def _other_names(ranked: Sequence[Ranked]) -> list[str]:
    return list(dict.fromkeys(name for e in ranked for row in e.rows if row.numbers for name in row.numbers["test"]))


def _says_more(ranked: Sequence[Ranked], sweep: Sweep, name: str) -> bool:
    """Whether the metric is not what ranks the trials, under this or another name."""
    numbers = [row.numbers[sweep.part] for entry in ranked for row in entry.rows if row.numbers is not None]
    return any(of.get(name) != of[sweep.metric_name] for of in numbers)


def _mean(rows: Sequence[Row], part: str, name: str) -> str:
    values = [row.numbers[part][name] for row in rows if row.numbers is not None and name in row.numbers[part]]
    return f"{sum(values) / len(values):.6g}" if values else ""


def _first_line(text: str) -> str:
    line = (text.strip().splitlines() or [""])[0].partition("; ")[0]
    return line if len(line) <= 100 else f"{line[:99]}…"
