"""`python -m experiments.saturation`: how many workers a parameter server can take, measured here and simulated beyond.

First what the work of a cluster costs on this machine, with one worker; then what the simulation makes of it for more of
them, beside what these reach; then clusters that are not there. Writes `saturation.json` and `saturation.png`.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from experiments.saturation.checking import Check, checks
from experiments.saturation.costs import Costs, Network
from experiments.saturation.curves import Curve, Scene, curves, saturates_at
from experiments.saturation.measured import processes
from experiments.saturation.pictures import draw

_OF_SCENE = "4 MB, little to compute"
"""The measured model whose costs of requests and bytes are those of the simulated clusters."""


def main() -> int:
    given = _arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    if os.getloadavg()[0] > 1:
        print(f"the load of this machine is {os.getloadavg()[0]:.1f}: others use its cores, and figures say less")
    costs, found = _check(given)
    network = Network(given.gigabits * 1e9 / 8, given.latency * 1e-6, 1e-5)
    scene = Scene(given.megabytes, given.compute, network, given.cores, given.most, costs)
    drawn = _simulate(scene)
    errors = sorted(abs(check.error) for check in found)
    result = {
        "load": os.getloadavg()[0],
        "error": {"median": errors[len(errors) // 2], "most": errors[-1]},
        "checks": [{**dataclasses.asdict(check), "error": check.error} for check in found],
        "scene": dataclasses.asdict(scene),
        "curves": [curve.to_json() for curve in drawn],
    }
    (given.out / "saturation.json").write_text(json.dumps(result, indent=1) + "\n")
    draw(drawn, [dataclasses.asdict(check) for check in found], given.out / "saturation.png")
    print(f"figures  {given.out / 'saturation.json'}\ndrawn    {given.out / 'saturation.png'}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.saturation", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="of each training that is measured")
    parser.add_argument("--rounds", type=int, default=3, help="of which the one counts that reached most")
    parser.add_argument("--measured", type=int, default=8, metavar="N", help="workers on this machine at most")
    parser.add_argument("--most", type=int, default=256, metavar="N", help="simulated workers: a power of two from 8")
    parser.add_argument("--megabytes", type=float, default=100.0, help="of the simulated model's parameters")
    parser.add_argument("--compute", type=float, default=0.5, help="seconds of a worker for a batch's gradients")
    parser.add_argument("--gigabits", type=float, default=10.0, help="a second, of each machine's link in each direction")
    parser.add_argument("--latency", type=float, default=50.0, metavar="US", help="microseconds from machine to machine")
    parser.add_argument("--cores", type=int, default=16, help="of each simulated machine")
    parser.add_argument("--out", type=Path, default=Path("outputs/saturation"), help="the folder for figures and picture")
    given = parser.parse_args()
    if given.most < 8 or given.most & (given.most - 1):
        parser.error(f"--most {given.most}: it has to be a power of two, and 8 at least")
    if min(given.rounds, given.measured, given.cores) < 1:
        parser.error("--rounds, --measured, --cores: at least one")
    if min(given.seconds, given.megabytes, given.compute, given.gigabits) <= 0:
        parser.error("--seconds, --megabytes, --compute, --gigabits: more than 0")
    return given


# --- this machine ------------------------------------------------------------------------------------------------------

_COST_UNITS = {"step": "us", "compute": "us", "asking": "us", "answering": "us"}
_CHECKED = (
    "| | | workers | gradients/s | simulated | error | cores left | CPU us a gradient | simulated |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def _check(given: argparse.Namespace) -> tuple[dict[str, Costs], list[Check]]:
    counts = [count for count in (1, 2, 4, 8) if count <= given.measured]
    costs: dict[str, Costs] = {}
    found: list[Check] = []
    lines: list[str] = []
    with processes(2, counts[-1], sys.executable) as running:
        for one in checks(running, counts, given.seconds, given.rounds):
            if isinstance(one, Check):
                found.append(one)
                lines.append(_checked_row(one))
            else:
                name, cost, _ = one
                if name.startswith(_OF_SCENE):
                    costs[name.rpartition(", ")[2]] = cost
                print(f"{name}: {_priced(cost)}", flush=True)
            _progress(f"measured: {len(found)}")
    _progress("")
    print("\n".join([_CHECKED, *lines]), flush=True)
    return costs, found


def _priced(costs: Costs) -> str:
    fields = {key: value for key, value in dataclasses.asdict(costs).items() if key != "spread"}
    per = {
        key: f"{value * 1e6:,.0f} us" if key in _COST_UNITS else f"{value * 1e9:.2f} ns/B" for key, value in fields.items()
    }
    return ", ".join(f"{key} {value}" for key, value in per.items())


def _checked_row(check: Check) -> str:
    measured, simulated = (f"{1e6 * one:,.0f}" for one in check.computed)
    rates = f"{check.measured:,.0f} | {check.simulated:,.0f} | {check.error:+.0%} | {check.left:.1f}"
    return f"| {check.model} | {check.rule} | {check.workers} | {rates} | {measured} | {simulated} |"


# --- beyond it ---------------------------------------------------------------------------------------------------------


_SIMULATED = """
| simulated | workers | gradients/s | times one | busiest part of a ps | saturates at |
|---|---|---|---|---|---|"""


def _simulate(scene: Scene) -> list[Curve]:
    drawn: list[Curve] = []
    began = time.perf_counter()
    print(_SIMULATED)
    for curve, following in curves(scene):
        if following:
            so_far = f"{time.perf_counter() - began:.0f} s"
            _progress(f"{curve.group}: {curve.name}, {curve.workers[-1]} workers, next {following} ({so_far})")
            continue
        drawn.append(curve)
        _progress("")
        print(_curve_row(curve), flush=True)
    return drawn


def _curve_row(curve: Curve) -> str:
    knee, last = saturates_at(curve), curve.reached[-1]
    parts: dict[str, Any] = {"link out": last.out, "link in": last.into, "cores": last.server}
    busiest = max(parts, key=parts.__getitem__)
    cells = (
        f"{curve.group}: {curve.name}",
        f"{curve.workers[-1]}",
        f"{last.gradients:,.1f}",
        f"{curve.speedup()[-1]:,.1f}" if curve.workers[0] == 1 else "",
        f"{busiest}, {parts[busiest]:.0%}",
        "-" if knee is None else f"{knee:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
