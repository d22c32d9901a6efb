"""`python -m tests.chaos simulate|clusters [--mode MODE]`: the long part of the chaos suite.

It prints failing seeds, which `--from` replays.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.chaos.clusters import MODES, Broken, run, schedule
from tests.chaos.simulation import Outcome, Violation, simulate
from tests.chaos.together import simulate_together


def _simulate(first: int, count: int, mode: str, console: Console) -> list[int]:
    run = simulate_together if mode == "sync" else simulate
    failed, outcomes = [], []
    began = time.perf_counter()
    for seed in range(first, first + count):
        try:
            outcomes.append(run(seed))
        except Violation as violation:
            failed.append(seed)
            console.print(f"seed {seed}: {violation}", markup=False, soft_wrap=True)
    _show_simulations(outcomes, time.perf_counter() - began, console)
    return failed


def _show_simulations(outcomes: list[Outcome], seconds: float, console: Console) -> None:
    table = Table("what", "times", title=f"{len(outcomes)} simulated clusters without a violation, {seconds:.0f} s")
    table.columns[1].justify = "right"
    happened, ended = Counter[str](), Counter[str]()
    for outcome in outcomes:
        happened.update(outcome.happened)
        ended.update(outcome.ended)
    table.add_row("steps acknowledged", f"{sum(outcome.steps for outcome in outcomes):,}")
    table.add_row("restored, per parameter server", f"{sum(outcome.restored for outcome in outcomes):,}")
    for what, counted in (("", happened), ("calls that ended: ", ended)):
        for name, times in sorted(counted.items()):
            table.add_row(f"{what}{name}", f"{times:,}")
    console.print(table)


def _clusters(first: int, count: int, mode: str, console: Console) -> list[int]:
    failed = []
    recoveries: dict[str, list[float]] = {}
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory(prefix="tfexp-chaos-") as folder:
            try:
                ended = run(schedule(seed), Path(folder), MODES[mode])
            except Broken as broken:
                failed.append(seed)
                console.print(f"seed {seed}: {broken}", markup=False, soft_wrap=True)
                continue
        timing = ended.result["timing"]
        console.print(
            f"seed {seed}: {', '.join(map(str, ended.actions))}; {timing['steps_per_second']:,.0f} steps/s; "
            f"{ended.restored} times from a checkpoint",
            markup=False,
            soft_wrap=True,
        )
        for task, seconds in ended.recoveries.items():
            recoveries.setdefault(task, []).extend(seconds)
    title = f"{mode}: from a task's SIGKILL to the next step, {count} clusters"
    table = Table("lost", "times", "median s", "most s", title=title)
    for task, seconds in sorted(recoveries.items()):
        table.add_row(task, str(len(seconds)), f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}")
    console.print(table)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("part", choices=["simulate", "clusters"])
    parser.add_argument("--count", type=int, help="how many seeds (300 simulations, 20 clusters)")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--mode", choices=MODES, default="async", help="how they train (default: async)")
    given = parser.parse_args()
    if given.part == "simulate" and given.mode not in ("async", "sync"):
        parser.error("what is simulated is --mode async or --mode sync, which is spare for every third seed")
    console = Console()
    if given.part == "simulate":
        failed = _simulate(given.first, given.count or 300, given.mode, console)
    else:
        failed = _clusters(given.first, given.count or 20, given.mode, console)
    if failed:
        console.print(f"failing seeds: {', '.join(map(str, failed))}")
        console.print(f"again: python -m tests.chaos {given.part} --mode {given.mode} --from {failed[0]} --count 1")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
