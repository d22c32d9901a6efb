"""What a run says when it ends."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["show_comparison", "show_result"]


def show_result(
    title: str, result: dict[str, Any], folder: Path, values: dict[str, Any], tasks: Sequence[dict[str, Any]] = ()
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
        console.print(_task_table(tasks, timing["steps_of"], timing["seconds"], result.get("dropped")))
    for name, value in values.items():
        console.print(f"{name} = {value}", markup=False)
    console.print(
        f"{numbers['status']} after step {numbers['step']} (epoch {numbers['epoch']:.4g}), "
        f"{timing['steps']} steps in {timing['seconds']:.2f} s, {timing['steps_per_second']:,.0f} steps/s"
    )
    console.print(f"folder      {folder}", markup=False)
    console.print(f"curves      {folder / 'loss.png'}", markup=False)
    console.print(f"tensorboard --logdir {shlex.quote(str(folder))}", markup=False)


def _task_table(
    tasks: Sequence[dict[str, Any]], steps: dict[str, int], seconds: float, dropped: dict[str, int] | None
) -> Any:
    """`dropped`: the gradients of each worker that came too late; None where none can."""
    from rich.table import Table

    table = Table()
    for name, justify in (("task", "left"), ("host", "left"), ("port", "right"), ("process", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]  # rich's own set of literals
    table.add_column("steps", justify="right")
    table.add_column("steps/s", justify="right")
    if dropped is not None:
        table.add_column("dropped", justify="right")
    for task in tasks:
        made = steps.get(task["task"])
        speed = "" if made is None else f"{made / seconds:,.0f}"
        cells = [task["task"], task["host"], task["port"], task["pid"], made, speed]
        if dropped is not None:
            cells.append(dropped.get(task["task"]))
        table.add_row(*("" if cell is None else str(cell) for cell in cells))
    return table


def show_comparison(differences: list[tuple[str, Any, Any]], earlier: Path, later: Path, repeatable: bool = True) -> None:
    """Whether a run's numbers are those of the run that it repeats; `repeatable` numbers must be."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    if not differences:
        console.print(f"the numbers agree with {earlier}, to the bit", markup=False)
        return
    table = Table(title=f"the numbers differ from {earlier}", title_justify="left")
    for head in ("number", str(earlier), str(later)):
        table.add_column(head, overflow="fold")
    for name, before, after in differences:
        table.add_row(name, str(before), str(after))
    console.print(table)
    if not repeatable:
        console.print("the workers' gradients come in another order each time: their numbers are near, not equal")
