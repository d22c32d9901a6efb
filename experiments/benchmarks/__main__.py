"""`python -m experiments.benchmarks [GROUP…]`: everything that is measured here, beside TensorFlow when it is installed.

Prints a table of each group as it is measured, and writes all figures with their rounds as JSON and a picture of the ratios
into a folder. `--keep` makes them the committed figures, with which later runs are compared. Measure on a quiet machine:
the load is in the JSON, and a warning says when it is high.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.benchmarks.limits import limits
from experiments.benchmarks.measuring import JAX, NUMPY, OURS, THEIRS, Figure, Options
from experiments.benchmarks.picture import draw, draw_growth

GROUPS = {
    "start": "start_speed.start_speed",
    "step": "step_speed.step_speed",
    "eager": "eager_speed.eager_speed",
    "queue": "queue_speed.queue_speed",
    "input": "input_speed.input_speed",
    "dataset": "dataset_speed.dataset_speed",
    "checkpoint": "checkpoint_speed.checkpoint_speed",
    "cluster": "cluster_speed.cluster_speed",
    "xla": "xla_speed.xla_speed",
    "jit": "jit_speed.jit_speed",
    "placement": "placement_speed.placement_speed",
    "trainers": "trainers.trainers",
    "sweep": "sweep_speed.sweep_speed",
    "runs": "run_listing.run_listing",
    "memory": "memory.memory",
    "scaling": "scaling.scaling",
}
COMMITTED = Path(__file__).with_name("figures.json")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}; all without one")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="per program, engine and round")
    parser.add_argument("--only", default="", help="part of the names of what is to be measured")
    parser.add_argument("--out", type=Path, help="the folder for the figures; outputs/benchmarks/<date and time> without")
    parser.add_argument("--keep", action="store_true", help="commit to these figures: later runs are compared with them")
    parser.add_argument(
        "--tensorflow-python", default=sys.executable, help="the interpreter that has tensorflow-cpu, if not this one"
    )
    parser.add_argument("--jax-python", default=sys.executable, help="the interpreter that has jax, if not this one")
    given = parser.parse_args()
    if unknown := sorted(set(given.groups) - set(GROUPS)):
        parser.error(f"there is no group {unknown[0]!r}; the groups are: {', '.join(GROUPS)}")
    if given.rounds < 1:
        parser.error("--rounds: at least one")
    options = Options(given.rounds, given.seconds, given.only, given.tensorflow_python, given.jax_python)
    if os.getloadavg()[0] > 1:
        print(f"the load of this machine is {os.getloadavg()[0]:.1f}: figures say little while others use its cores")
    host = machine(options)
    print("\n".join(f"{key}: {value}" for key, value in host.items()))
    reached = limits()
    print("\n".join(f"limit: {name}: {value:,.1f}" for name, value in reached.items()))
    earlier = _committed()
    folder = given.out or Path("outputs/benchmarks") / f"{datetime.datetime.now():%Y-%m-%d/%H-%M-%S}"
    folder.mkdir(parents=True, exist_ok=True)
    measured: list[Figure] = []
    for group in given.groups or GROUPS:
        print(f"\n{HEADER}", flush=True)
        for figure in _figures(group, options):
            measured.append(figure)
            print(row(figure, earlier.get((figure.group, figure.name))), flush=True)
        result = {"machine": host, "limits": reached, "figures": [figure.to_json() for figure in measured]}
        _write(folder, result, measured)  # after each group: measuring takes long, and may be ended
        if given.keep:
            _keep(result)
    print(f"\nfigures  {folder / 'figures.json'}")
    return 0


def _write(folder: Path, result: dict[str, Any], measured: list[Figure]) -> None:
    (folder / "figures.json").write_text(_as_json(result))
    if any(figure.ratio() is not None for figure in measured):
        draw(measured, folder / "ratios.png")
    if any(figure.point is not None for figure in measured):
        draw_growth(measured, folder / "growth.png")


def _figures(group: str, options: Options) -> Iterator[Figure]:
    module = importlib.import_module(f"experiments.benchmarks.{GROUPS[group]}")
    found: Iterator[Figure] = module.figures(options)
    return found


def machine(options: Options) -> dict[str, Any]:
    """What the figures depend on."""
    versions = {"Python": platform.python_version(), "NumPy": importlib.metadata.version("numpy")}
    if THEIRS in options.engines:
        code = "import importlib.metadata as m; print(m.version(m.packages_distributions()['tensorflow'][0]))"
        found = subprocess.run([options.engines[THEIRS], "-c", code], capture_output=True, text=True, check=False)
        versions[THEIRS] = found.stdout.strip() or "of unknown version"
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "rounds": options.rounds,
        "seconds": options.seconds,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


COLUMNS = ("", "unit", "tfexp", "beside it", "ratio (spread)", "to NumPy", "to JAX", "aim", "kept")
HEADER = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def row(figure: Figure, earlier: float | None) -> str:
    """A line of the table. The ratios to NumPy and JAX: to a program by hand; `kept`: that of the committed figures."""
    ratios, own, base = figure.ratios(), figure.median(OURS), figure.median(figure.base)
    cells = (
        figure.name,
        figure.unit,
        _number(own),
        "-" if base is None else f"{_number(base)} {'' if figure.base == THEIRS else figure.base}".rstrip(),
        f"{_ratio(figure.ratio())} ({_ratio(ratios[0])} to {_ratio(ratios[-1])})" if ratios else "-",
        _ratio(figure.ratio(NUMPY)),
        _ratio(figure.ratio(JAX)),
        _ratio(figure.aim) if figure.aim is not None else f"{figure.at_most:g} {figure.unit}" if figure.at_most else "",
        _ratio(earlier),
    )
    return f"| {' | '.join(cells)} |"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}x" if value >= 10 else f"{value:.2g}x"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _committed() -> dict[tuple[str, str], float | None]:
    if not COMMITTED.is_file():
        return {}
    return {(f["group"], f["name"]): f["ratio"] for f in json.loads(COMMITTED.read_text())["figures"]}


def _keep(result: dict[str, Any]) -> None:
    """What was measured takes the place of what is committed; other rows stay."""
    kept = json.loads(COMMITTED.read_text())["figures"] if COMMITTED.is_file() else []
    names = {(f["group"], f["name"]) for f in result["figures"]}
    figures = [f for f in kept if (f["group"], f["name"]) not in names] + result["figures"]
    figures.sort(key=lambda f: list(GROUPS).index(f["group"]))
    COMMITTED.write_text(_as_json({**result, "figures": figures}))


def _as_json(result: dict[str, Any]) -> str:
    """The result with a line per figure."""
    rest = {key: value for key, value in result.items() if key != "figures"}
    figures = ",\n".join(json.dumps(figure) for figure in result["figures"])
    return json.dumps({**rest, "figures": ["HERE"]}, indent=1).replace('"HERE"', figures) + "\n"


if __name__ == "__main__":
    sys.exit(main())
