"""One run on the terminal: how it ended, its numbers, settings, environment and files."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from typing import Any

from tfexp.core.wording import plural
from tfexp.experiment.compare import flat
from tfexp.experiment.reporting.listing import STATUS_STYLES, console, is_better_low, short
from tfexp.experiment.reporting.run import Run
from tfexp.experiment.reporting.select import metric_names, text_of

__all__ = ["environment_of", "files_of", "heading", "show_run"]

_BLOCKS = " ▁▂▃▄▅▆▇█"


def show_run(run: Run) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console(sys.stdout)
    history = run.history()
    out.print(Text.assemble((run.name, "bold"), "  ", (run.status, STATUS_STYLES[run.status]), "  ", heading(run)))
    for problem in (*run.problems, *history.problems):
        out.print(f"  {problem}", markup=False)
    if run.numbers:
        table = Table(header_style="bold")
        table.add_column("")
        for head in ("train", "test"):
            table.add_column(head, justify="right")
        table.add_column("best test", justify="right")
        table.add_column(f"test, over {len(history.records)} evaluations")
        for name in metric_names([run]):
            values = (run.numbers.get(part, {}).get(name) for part in ("train", "test"))
            series = {record["step"]: record["test"][name] for record in history.records if name in record["test"]}
            shown = ["" if value is None else f"{value:.6g}" for value in values]
            table.add_row(name, *shown, _best(series, name), spark([*series.values()]))
        out.print(table)
    sections = {
        name: [f"{key}={text_of(value)}" for key, value in flat(values).items() if key != "target"]
        for name, values in run.config.items()
        if isinstance(values, dict)
    }
    for title, rows in (
        (
            "settings",
            {name: " ".join([str(run.settings.get(name, "")), *words]).strip() for name, words in sections.items()},
        ),
        ("environment", environment_of(run)),
        ("files", files_of(run)),
    ):
        if rows:
            out.print(Text(title, "bold"))
            width = max(map(len, rows))
            for name, value in rows.items():
                out.print(f"  {name:{width}}  {value}", markup=False)


def _best(series: Mapping[int, float], name: str) -> str:
    """The best of a metric by step, and where it was."""
    if not series:
        return ""
    step = (min if is_better_low(name) else max)(series, key=series.__getitem__)
    return f"{series[step]:.6g} at {step:,}"


def heading(run: Run) -> str:
    """How far it went, and how long it took."""
    words = []
    if run.step is not None:
        words.append(f"step {run.step:,}" + ("" if run.epoch is None else f" (epoch {run.epoch:.4g})"))
    for name, unit in (("seconds", ""), ("steps_per_second", " steps/s")):
        value = run.timing.get(name)
        if isinstance(value, int | float):
            words.append(short("seconds", value) if name == "seconds" else f"{value:,.0f}{unit}")
    started = run.manifest.get("started")
    if started:
        words.append(f"started {short('started', started)}")
    return ", ".join(words)


def environment_of(run: Run) -> dict[str, str]:
    """What the manifest says of command, code, data, versions and machine, a line each."""
    manifest = run.manifest
    parts: dict[str, dict[str, Any]] = {}
    for name in ("git", "data", "host", "runtime", "versions", "environment"):
        value = manifest.get(name)
        parts[name] = value if isinstance(value, dict) else {}
    git, data, host = parts["git"], parts["data"], parts["host"]
    found = {"command": manifest.get("command"), "in": manifest.get("working_directory")}
    if git:
        patch = git.get("patch")
        changed = len(git.get("changed_files") or []) + len(git.get("new_files") or [])
        kept = f": {patch['file']}" if isinstance(patch, dict) and patch.get("file") else ""
        dirty = f", {plural(changed, 'file')} not committed{kept}" if changed else ""
        found["commit"] = f"{git.get('commit')} ({git.get('branch')}){dirty}"
    if data:
        rows = f"{data.get('train_rows')} + {data.get('test_rows')} rows"
        found["data"] = f"{data.get('origin')}, {rows}, SHA-256 {str(data.get('sha256'))[:12]}"
    if host:
        found["machine"] = ", ".join(str(host[name]) for name in ("name", "processor", "system") if host.get(name))
    found["threads"] = _threads(parts["runtime"])
    found["versions"] = " ".join(f"{name} {value}" for name, value in parts["versions"].items() if value)
    found["variables"] = " ".join(f"{name}={value}" for name, value in parts["environment"].items())
    stays = manifest.get("resumed")
    if isinstance(stays, list) and stays:
        found["resumed"] = ", ".join(f"at step {stay.get('at_step')}" for stay in stays if isinstance(stay, dict))
    return {name: str(value) for name, value in found.items() if value}


def _threads(runtime: dict[str, Any]) -> str:
    blas = runtime.get("blas")
    libraries = [library for library in blas if isinstance(library, dict)] if isinstance(blas, list) else []
    words = [f"{one.get('internal_api')} {one.get('version')}, {one.get('num_threads')} threads" for one in libraries]
    return "; ".join([*words, f"{runtime['cores']} cores"] if "cores" in runtime else words)


def files_of(run: Run) -> dict[str, str]:
    """The names in the folder, each with its size, folders with what they hold."""
    found = {}
    for path in sorted(run.path.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            inside = [one for one in path.rglob("*") if one.is_file()]
            size = sum(one.stat().st_size for one in inside)
            found[f"{path.name}/"] = f"{_bytes(size)} in {plural(len(inside), 'file')}"
        else:
            found[path.name] = _bytes(path.stat().st_size)
    return found


def spark(values: list[float], width: int = 32) -> str:
    """A curve in one line of text: means of as many stretches as there is room for."""
    if not values:
        return ""
    size = min(width, len(values))
    cuts = [round(at * len(values) / size) for at in range(size + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(cuts)]
    low, high = min(means), max(means)
    scale = (len(_BLOCKS) - 2) / (high - low) if high > low else 0
    return "".join(_BLOCKS[1 + round((mean - low) * scale)] for mean in means)


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
