"""What a run says when it ends."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfexp.core.wording import plural
from tfexp.experiment.compare import Compared

__all__ = ["show_environment", "show_reproduction", "show_result"]


def show_result(
    title: str,
    result: dict[str, Any],
    folder: Path,
    values: dict[str, Any],
    tasks: Sequence[dict[str, Any]] = (),
    *,
    drawn: bool,
) -> None:
    """The table of the final numbers, what was learned where it is short, where to look, and where the tasks were."""
    from rich.console import Console
    from rich.table import Table

    numbers, timing = result["numbers"], result["timing"]
    table = Table(title=title, title_justify="left")
    table.add_column("")
    table.add_column("train", justify="right")
    table.add_column("test", justify="right")
    for name in numbers["train"]:
        table.add_row(name, f"{numbers['train'][name]:.6g}", f"{numbers['test'][name]:.6g}")
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    console.print(table)
    if tasks:
        console.print(_task_table(tasks, result))
    elif "staleness" in result:
        late = ", ".join(f"{name} {told['mean']:.2f}" for name, told in result["staleness"].items())
        console.print(f"staleness   {late}")
    for name, value in values.items():
        console.print(f"{name} = {value}", markup=False)
    if "skipped" in result:
        rows, first = result["skipped"]["rows"], result["skipped"]["first"]
        console.print(f"skipped     {plural(rows, 'row')} that could not be read; the first: {first[0]}", markup=False)
    console.print(
        f"{numbers['status']} after step {numbers['step']} (epoch {numbers['epoch']:.4g}), "
        f"{plural(timing['steps'], 'step')} in {timing['seconds']:.2f} s, {timing['steps_per_second']:,.0f} steps/s"
    )
    best = result["best"]
    if best["test"]["loss"] < numbers["test"]["loss"]:
        console.print(f"best        step {best['step']}: the test loss was {best['test']['loss']:.6g} then")
    if "placement" in result:
        placed = result["placement"]
        console.print(
            f"placement   a step was estimated at {placed['estimated_ms']:.3g} ms "
            f"({placed['without_moves_ms']:.3g} ms without moves), and took {placed['took_ms']:.3g} ms"
        )
    console.print(f"folder      {folder}", markup=False)
    if drawn:
        console.print(f"curves      {folder / 'loss.png'}", markup=False)
    if drawn and (folder / "confusion.csv").exists():
        console.print(f"confusion   {folder / 'confusion.png'}", markup=False)
    console.print(f"tensorboard --logdir {shlex.quote(str(folder))}", markup=False)


def _task_table(tasks: Sequence[dict[str, Any]], result: dict[str, Any]) -> Any:
    """What each task did; `staleness` is the mean of its gradients', `dropped` counts those that came too late."""
    from rich.table import Table

    steps, seconds = result["timing"]["steps_of"], result["timing"]["seconds"]
    staleness, dropped = result.get("staleness"), result.get("dropped")
    moved = result["timing"].get("bytes_per_step")
    table = Table()
    for name, justify in (("task", "left"), ("host", "left"), ("port", "right"), ("process", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]  # rich's own set of literals
    table.add_column("steps", justify="right")
    table.add_column("steps/s", justify="right")
    if moved is not None:
        table.add_column("kB/step", justify="right")
    if staleness is not None:
        table.add_column("staleness", justify="right")
    if dropped is not None:
        table.add_column("dropped", justify="right")
    for task in tasks:
        made = steps.get(task["task"])
        speed = "" if made is None else f"{made / seconds:,.0f}"
        cells = [task["task"], task["host"], task["port"], task["pid"], made, speed]
        if moved is not None:
            own = moved.get(task["task"])
            cells.append(None if own is None else f"{(own['sent'] + own['received']) / 1000:,.1f}")
        if staleness is not None:
            cells.append(f"{staleness[task['task']]['mean']:.2f}" if task["task"] in staleness else None)
        if dropped is not None:
            cells.append(dropped.get(task["task"]))
        table.add_row(*("" if cell is None else str(cell) for cell in cells))
    return table


def show_reproduction(found: Sequence[Compared], earlier: Path, parted: int | None, spread: float | None) -> None:
    """Number by number, whether a run came to those of the run that it repeats; the last line says it of all.

    `parted` is the step whose evaluations were the first to differ; `spread` is what `compare` was given.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    table = Table(title=f"again: {earlier}", title_justify="left")
    table.add_column("number")
    for head in ("then", "now", "difference"):
        table.add_column(head, justify="right", overflow="fold")
    table.add_column("")
    for one in found:
        name, digest = one.name.removesuffix("_sha256"), one.name.endswith("_sha256")
        exact = not one.equal and one.tolerance is None  # the last digits tell
        before, after = (
            f"{value:.6g}" if isinstance(value, float) and not exact else _brief(value) if digest else str(value)
            for value in (one.before, one.after)
        )
        difference = "" if one.equal or math.isnan(one.difference) else f"{one.difference:+.3g}"
        if one.equal:
            verdict = "the same"
        elif one.agrees:
            verdict = f"within {one.tolerance:.3g}"
        else:
            verdict = "[red]differs[/]" if one.tolerance is None else f"[red]more than {one.tolerance:.3g}[/]"
        table.add_row(name, before, "" if one.equal else after, difference, verdict)
    console.print(table)
    wrong = [one for one in found if not one.agrees]
    if spread is not None:
        console.print(
            "asynchronous: what comes first is used first, so the numbers are near, not equal: each may be off by "
            f"{spread:.0%} of the way that it went in training"
        )
    if parted is not None:
        console.print(f"the evaluations are equal up to the one at step {parted}, which is the first that differs")
    how = "to the bit" if spread is None else f"within {spread:.0%}"
    said = f"the numbers agree with {earlier}, {how}" if not wrong else f"the numbers differ from {earlier}: {len(wrong)}"
    console.print(said if not wrong else f"{said} of {len(found)}", markup=False)


def show_environment(differences: Sequence[tuple[str, Any, Any]], agree: bool, way_back: str | None) -> None:
    """What the manifests of a run and of its repetition say differently, and how to get at the code of then."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    if not differences:
        if not agree:
            console.print("nothing that the manifests record differs: versions, code, data, machine, threads")
        return
    table = Table(title="what differs in the environment", title_justify="left")
    for head in ("", "then", "now"):
        table.add_column(head, overflow="fold")
    for name, before, after in differences:
        table.add_row(name, *(_brief(value) for value in (before, after)))
    console.print(table)
    if way_back is not None:
        console.print(f"the code of then: {way_back}", markup=False)


def _brief(value: Any) -> str:
    """A digest by its first digits."""
    text = "" if value is None else str(value)
    return text[:12] if len(text) in (40, 64) and not text.strip("0123456789abcdef") else text
