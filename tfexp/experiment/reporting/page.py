"""The page of a report: one HTML file with all that it needs in it, so that it opens anywhere, also without a network."""

from __future__ import annotations

import importlib.resources
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

from tfexp.experiment.confusion import Confusion
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.reporting.charts import FEW, Panel, curves_panel, parallel
from tfexp.experiment.reporting.comparison import circumstances, parted
from tfexp.experiment.reporting.listing import heads, is_better_low, is_number, short
from tfexp.experiment.reporting.one_run import environment_of, files_of
from tfexp.experiment.reporting.run import STATUSES, History, Run
from tfexp.experiment.reporting.select import metric_names, sort_runs, text_of

__all__ = ["MARK", "page_of"]

MARK = "<!-- made by tfexp.runs report -->"
"""The page's first line after the doctype: a file that begins so may be written over."""
_POINTS = 24_000
"""Points in all curves together: what a page of a few hundred kB holds."""
_MOST_AXES = 9
_MOST_METRICS = 6


@dataclass(frozen=True)
class _Subject:
    """What the page is of. `runs` are in the order of how good they are, where there are too many to have a colour each."""

    runs: list[Run]
    histories: list[History]
    settings: list[str]
    """Those that differ."""
    metrics: list[str]
    out: Path

    @property
    def few(self) -> bool:
        return len(self.runs) <= FEW

    @property
    def main(self) -> str:
        return f"test.{self.metrics[0]}" if self.metrics else "test.loss"

    def link(self, path: Path) -> str:
        """The path as the page, where it will be, has to say it."""
        return quote(os.path.relpath(path.resolve(), self.out.resolve().parent))


def page_of(runs: Sequence[Run], title: str, out: Path) -> str:
    """The HTML of a report on the runs, of which there is at least one, to be written to the file `out`."""
    metrics = metric_names(runs)[:_MOST_METRICS]
    ordered = list(runs)
    if len(ordered) > FEW and metrics:
        ordered = sort_runs(ordered, f"test.{metrics[0]}", descending=not is_better_low(metrics[0]))
    subject = _Subject(ordered, [run.history() for run in ordered], parted(ordered), metrics, out)
    panels = _panels(subject)
    lines = parallel(ordered, _axes(subject), subject.main) if subject.settings and metrics else None
    data = {
        "runs": [run.name for run in ordered],
        "told": [_told(subject, run) for run in ordered],
        "panels": [{**panel.data, "title": panel.title} for panel in panels],
        "parallel": lines.data if lines else None,
    }
    body = [
        _header(subject, title),
        _curves(subject, panels),
        _parallel(subject, lines),
        _table(subject) if len(ordered) > 1 else _numbers(subject) + _confusion(subject),
        _settings(subject),
        _environment(subject),
        _files(subject),
    ]
    assets = importlib.resources.files("tfexp.experiment.reporting")
    style, script = (assets.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        f'<!doctype html>\n{MARK}\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>\n{style}{_colours(subject)}</style></head>\n"
        f'<body class="{"few" if subject.few else "many"}"><main>\n' + "\n".join(filter(None, body)) + "\n</main>"
        f'<div id="tip" hidden></div>\n<script type="application/json" id="data">{_json(data)}</script>\n'
        f"<script>\n{script}</script></body></html>\n"
    )


def _json(content: Any) -> str:
    """JSON that no HTML parser takes for the end of the script."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def _colours(subject: _Subject) -> str:
    """`--k` of each run: one of eight, or between the worst and the best by its rank."""
    rules = []
    for number in range(len(subject.runs)):
        part = 100 * (1 - number / max(1, len(subject.runs) - 1))
        colour = f"var(--c{number})" if subject.few else f"color-mix(in oklab,var(--best) {part:.0f}%,var(--worst))"
        rules.append(f".r{number}{{--k:{colour}}}")
    if len(subject.runs) == 1:
        rules.append(".r0.train{--k:var(--c1)}")
    return "".join(rules)


# ---- the parts of the page, from the top


def _header(subject: _Subject, title: str) -> str:
    runs = subject.runs
    if len(runs) == 1:
        run = runs[0]
        tiles = [(f'<span class="{_status(run)}">{escape(run.status)}</span>', "status")]
        for metric in subject.metrics[:2]:
            if metric in run.numbers.get("test", {}):
                tiles.append((f"{run.numbers['test'][metric]:.5g}", f"test {metric}"))
        for name, label in (("step", "steps"), ("seconds", "time"), ("steps_per_second", "steps per second")):
            value = run.values.get(name)
            if isinstance(value, int | float):
                tiles.append((short("seconds", value) if name == "seconds" else f"{value:,.0f}", label))
        model, data = run.settings.get("model", "?"), run.settings.get("data", "?")
        under = f"{model} on {data}" + (f", started {short('started', s)}" if (s := run.values.get("started")) else "")
        again = f'<p class="note">Once more: <code>python -m tfexp.reproduce {escape(str(run.path))}</code></p>'
    else:
        counts = [(sum(run.status == status for run in runs), status) for status in STATUSES]
        told = ", ".join(f"{count} {status}" for count, status in counts if count)
        tiles = [(str(len(runs)), "runs"), *_best_tiles(subject)]
        under, again = told, ""
    shown = "".join(f'<div class="card"><b>{value}</b><span>{escape(label)}</span></div>' for value, label in tiles)
    problems = "".join(
        f'<p class="problem">{escape(run.name + ": " if len(runs) > 1 else "")}{escape("; ".join(wrong))}</p>'
        for run, history in zip(runs, subject.histories, strict=True)
        if (wrong := (*run.problems, *history.problems))
    )
    if problems.count("<p") > 5:
        problems = f"<details><summary>{problems.count('<p')} runs with something amiss</summary>{problems}</details>"
    return f"<h1>{escape(title)}</h1><p>{escape(under)}</p>{again}{problems}<div class='tiles'>{shown}</div>"


def _best_tiles(subject: _Subject) -> list[tuple[str, str]]:
    tiles = []
    for metric in subject.metrics[:2]:
        name = f"test.{metric}"
        having = [run for run in subject.runs if name in run.values]
        if having:
            best = sort_runs(having, name, descending=not is_better_low(metric))[0]
            values = [run.values[name] for run in having]
            tiles.append((f"{best.values[name]:.5g}", f"best test {metric}, {best.name}"))
            tiles.append((f"{median(values):.5g}", f"median test {metric}, {min(values):.4g} to {max(values):.4g}"))
    return tiles


def _panels(subject: _Subject) -> list[Panel]:
    names = [*subject.metrics]
    histories = [history.records for history in subject.histories]
    rates = [{record.get("learning_rate") for record in records} for records in histories]
    if any(len(one) > 1 for one in rates):
        names.append("learning_rate")
    points = max(40, _POINTS // max(1, len(names) * len(histories) * (2 if subject.few else 1)))
    found = (curves_panel(name, histories, min(points, 600)) for name in names)
    return [panel for panel in found if panel is not None]


def _curves(subject: _Subject, panels: Sequence[Panel]) -> str:
    if not panels:
        return ""
    cards = "".join(
        f'<div class="card"><h3>{escape(panel.title)}{" <small>(logarithmic)</small>" if panel.data["log"] else ""}</h3>'
        f"{panel.svg.replace('<svg', f'<svg data-panel={chr(34)}{at}{chr(34)}', 1)}</div>"
        for at, panel in enumerate(panels)
    )
    notes = []
    for panel in panels:
        if panel.thinned:
            notes.append(f"{panel.title}: {panel.thinned[0]:,} of {panel.thinned[1]:,} points")
    told = ""
    if notes:
        told = f"Of long curves, the least and the greatest value of each stretch are drawn ({'; '.join(notes)}). "
    left_out = [f"{panel.left_out} of {panel.title}" for panel in panels if panel.left_out]
    if left_out:
        told += f"Values that are not above 0 are not on a logarithmic axis: {', '.join(left_out)}. "
    note = f'<p class="note">{escape(told)}</p>' if told else ""
    return f"<h2>Curves</h2>{_legend(subject)}<div class='panels'>{cards}</div>{note}"


def _legend(subject: _Subject) -> str:
    if len(subject.runs) == 1:
        kinds = (("r0 train", "training rows (dashed)"), ("r0", "test rows"))
        parts = (f'<span class="{kind}"><i class="swatch"></i>{text}</span>' for kind, text in kinds)
        return f'<div class="legend">{"".join(parts)}</div>'
    if subject.few:
        names = "".join(
            f'<span class="r{at}"><i class="swatch"></i>{escape(run.name)}</span>' for at, run in enumerate(subject.runs)
        )
        told = "solid: test rows, dashed: training rows"
        return f'<div class="legend">{names}<span>{told}</span></div>'
    return (
        f'<div class="legend"><span>test rows of {len(subject.runs)} runs, by {escape(subject.main)}: worst'
        '<i class="ramp"></i>best</span></div>'
    )


def _axes(subject: _Subject) -> list[str]:
    """The settings with an axis: those of many values first to be kept, in the order of the configuration."""
    having = {name: len({text_of(run.settings.get(name)) for run in subject.runs}) for name in subject.settings}
    kept = sorted(having, key=lambda name: -having[name])[:_MOST_AXES]
    return [name for name in subject.settings if name in kept]


def _parallel(subject: _Subject, lines: Panel | None) -> str:
    if lines is None:
        return ""
    left_out = len(subject.settings) - len(_axes(subject))
    more = f" {left_out} more settings differ; they are in the table." if left_out else ""
    return (
        f"<h2>Settings and {escape(subject.main)}</h2><div class='card scroll'>{lines.svg}</div>"
        f'<p class="note">Drag along an axis to choose a range, click on it to take the range away.{more} '
        '<b id="chosen"></b></p>'
    )


def _table(subject: _Subject) -> str:
    metrics = [f"test.{name}" for name in subject.metrics]
    columns = ["run", "status", *metrics, *subject.settings, "step", "seconds"]
    titles = heads(columns)
    best = {}
    for name in metrics:
        values = [run.values[name] for run in subject.runs if name in run.values]
        if len(set(values)) > 1:
            best[name] = (min if is_better_low(name) else max)(values)
    numeric = {name for name in columns if all(is_number(run.values.get(name)) for run in subject.runs)}
    head = "".join(
        f'<th{_number(name in numeric)}><button title="{escape(name)}">{escape(titles[name])}</button></th>'
        for name in columns
    )
    rows = []
    for at, run in enumerate(subject.runs):
        cells = []
        for name in columns:
            value = run.values.get(name)
            text = escape("" if value is None else short(name, value))
            if name == "run":
                link = subject.link(run.path)
                cells.append(f'<td class="run"><i class="swatch"></i><a href="{link}/">{text}</a></td>')
            elif name == "status":
                cells.append(f'<td><span class="{_status(run)}">{text}</span></td>')
            else:
                kind = ("n " if name in numeric else "") + ("best" if name in best and value == best[name] else "")
                sort = f' data-v="{value}"' if name in numeric and value is not None else ""
                cells.append(f"<td{f' class={chr(34)}{kind.strip()}{chr(34)}' if kind else ''}{sort}>{text}</td>")
        rows.append(f'<tr class="r{at}" data-run="{at}">{"".join(cells)}</tr>')
    return (
        f"<h2>Runs</h2><div class='card scroll tall'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _numbers(subject: _Subject) -> str:
    run = subject.runs[0]
    rows = "".join(
        f"<tr><td>{escape(metric)}</td>"
        + "".join(f'<td class="n">{_six(run.numbers.get(part, {}).get(metric))}</td>' for part in ("train", "test"))
        + "</tr>"
        for metric in metric_names([run])
    )
    if not rows:
        return ""
    at = "" if run.step is None else f" at step {run.step:,}"
    head = '<tr><th></th><th class="n">train</th><th class="n">test</th></tr>'
    table = f"<table class='short'><thead>{head}</thead><tbody>{rows}</tbody></table>"
    return f"<h2>Numbers{at}</h2><div class='card scroll'>{table}</div>"


def _confusion(subject: _Subject) -> str:
    """What the test rows of each class were taken for, of a run that chooses classes."""
    path = RunFiles(subject.runs[0].path).confusion
    if not path.exists():
        return ""
    try:
        confusion = Confusion.of_text(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        return f"<h2>Confusion matrix</h2><p class='problem'>{escape(f'{path.name}: {error}')}</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in confusion.names)
    rows = []
    for at, (name, counts, depths) in enumerate(zip(confusion.names, confusion.counts, confusion.depths(), strict=True)):
        cells = "".join(
            f'<td class="{"right" if at == to else "wrong"}" style="--p:{50 * depth:.0f}%" '
            f'title="{escape(f"{count} of {sum(counts)} {name} taken for {confusion.names[to]}")}">{count}</td>'
            if count
            else "<td>·</td>"
            for to, (count, depth) in enumerate(zip(counts, depths, strict=True))
        )
        rows.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    note = "A row for each class, a column for what its test rows were taken for: blue is right, orange is wrong."
    return (
        f"<h2>Confusion matrix</h2><p class='note'>{note}</p><div class='card scroll'><table class='confusion'>"
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _settings(subject: _Subject) -> str:
    """All settings of one run; of several, those that are the same."""
    first = next((run.settings for run in subject.runs if run.settings), {})
    differ = set(subject.settings)
    same = {name: text_of(value) for name, value in first.items() if name not in differ}
    if not same:
        return ""
    if len(subject.runs) == 1:
        return f"<h2>Settings</h2><div class='card'>{_by_section(same)}</div>"
    return (
        f"<h2>Settings</h2><details class='card'><summary>{len(same)} settings that are the same in all runs</summary>"
        f"{_by_section(same)}</details>"
    )


def _by_section(settings: dict[str, str]) -> str:
    sections: dict[str, list[str]] = {}
    for name, text in settings.items():
        section, dot, rest = name.partition(".")
        sections.setdefault(section, []).append(f"{rest}={text}" if dot else text)
    return _pairs((section, " ".join(words)) for section, words in sections.items())


def _environment(subject: _Subject) -> str:
    told = environment_of(subject.runs[0])
    if not told:
        return ""
    if len(subject.runs) == 1:
        return f"<h2>Environment</h2><div class='card'>{_pairs(told.items())}</div>"
    rows = circumstances(subject.runs)
    count = {name: len(set(values)) for name, values in rows.items()}
    differs = _pairs((name, f"{count[name]} values: {', '.join(sorted(set(values))[:5])}") for name, values in rows.items())
    note = "<p>It is the same for all runs.</p>" if not rows else f"<p>Not the same for all runs:</p>{differs}"
    of = escape(subject.runs[0].name)
    return (
        f"<h2>Environment</h2><div class='card'>{note}<details><summary>that of {of}</summary>{_pairs(told.items())}"
        "</details></div>"
    )


def _files(subject: _Subject) -> str:
    if len(subject.runs) > 1:
        return ""
    run = subject.runs[0]
    items = "".join(
        f'<li><a href="{subject.link(run.path / name)}">{escape(name)}</a> <small>{escape(size)}</small></li>'
        for name, size in files_of(run).items()
    )
    board = f"<p class='note'><code>tensorboard --logdir {escape(str(run.path))}</code></p>"
    return f"<h2>Files</h2><div class='card'><ul class='links'>{items}</ul>{board}</div>"


# ---- small pieces


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f'<table class="pairs"><tbody>{cells}</tbody></table>'


def _status(run: Run) -> str:
    return f"status {run.status.replace(' ', '-')}"


def _number(right: bool) -> str:
    return ' class="n"' if right else ""


def _six(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _told(subject: _Subject, run: Run) -> list[str]:
    """What the pointer says of a run."""
    names = [*subject.settings[:6], *(f"test.{metric}" for metric in subject.metrics[:2])]
    said = [
        f"{name.rpartition('.')[2]} {short(name, value)}" for name in names if (value := run.values.get(name)) is not None
    ]
    return said if run.status == "finished" else [run.status, *said]
