"""Measure sweeps beside Hydra's basic launcher: `python experiments/benchmarks/sweep_speed/sweep_speed.py`.

Jobs are either empty or short runs (one step on a hundred points). Whole processes are timed from their start to their end;
a warm pool, from the command to its end in a process that has composed and run such jobs before. The kinds are measured in
turn, round by round; a figure is the median over the rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT), str(HERE)]
RUN = ["data=line", "train.steps=1"]
LOSSES = {"loss": 0.0}


def empty(station: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """What an empty job does, in a pool."""
    numbers = {"status": "finished", "step": 1, "train": LOSSES, "test": LOSSES}
    return {"status": "finished", "numbers": numbers, "seconds": 0.0}


def basic(words: list[str], is_empty: bool) -> None:
    """The words as Hydra's own `-m` runs them, one job after the other in this process."""
    import hydra
    from hydra.core.hydra_config import HydraConfig

    from tfexp.experiment import cli
    from tfexp.experiment.composing import checked
    from tfexp.experiment.outputs import RunFolder
    from tfexp.experiment.runner import Experiment

    def task(config: Any) -> None:
        if not is_empty:
            experiment = Experiment.of(checked(config))
            with contextlib.closing(RunFolder.create(Path(HydraConfig.get().runtime.output_dir), exactly=True)) as folder:
                experiment.run(folder, cli._origin("", config, ()))

    sys.argv = ["basic", "-m", *words]
    hydra.main(version_base="1.3", config_path=str(cli.conf_dir()), config_name="config")(task)()


def ours(words: list[str], is_empty: bool) -> None:
    from tfexp.experiment import cli
    from tfexp.experiment.sweeps import driver

    driver.WORK = "sweep_speed:empty" if is_empty else "tfexp.experiment.sweeps.attempt:make"
    assert cli.main(["-m", *words]) == 0


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def process(kind: str, jobs: int, is_empty: bool, *more: str) -> float:
    words = [sys.executable, str(HERE / "sweep_speed.py"), "--as", kind, "--jobs", str(jobs), *more]
    return timed(lambda: subprocess.run([*words, *(["--empty"] if is_empty else [])], check=True, capture_output=True))


def words_for(jobs: int, folder: str) -> list[str]:
    return [*RUN, f"train.seed=range({jobs})", f"hydra.sweep.dir={folder}"]


class Warm:
    """A pool that is open already, and stays open."""

    def __init__(self, pool: Any) -> None:
        self.kind, self.most = pool.kind, pool.most
        self.start, self.tell = pool.start, pool.tell
        self._capacity = pool.open(lambda job, message: self._sink(job, message), lambda text: None)

    def open(self, sink: Any, say: Any) -> Any:
        self._sink = sink
        return self._capacity

    def close(self) -> None:
        pass


def warm(launcher: str, jobs: int, rounds: int) -> list[tuple[float, float, float, float]]:
    """Seconds of the basic launcher and of the warm pool, with empty jobs and with runs, round by round."""
    from tfexp.distributed.process_pool import ProcessPool
    from tfexp.distributed.ray_pool import RayPool
    from tfexp.experiment.sweeps import command

    pool = RayPool("local") if launcher == "ray" else ProcessPool()
    ready = Warm(pool)
    command.pool_of = lambda sweep, folder: ready  # type: ignore[assignment]
    found = []
    try:
        for number in range(rounds + 1):
            row = []
            for is_empty in (True, False):
                for run in (basic, ours):
                    words = words_for(jobs, f"{launcher}-{number}-{is_empty}-{run.__name__}")
                    more = [f"sweep.launcher={launcher}"] if run is ours else []
                    with contextlib.redirect_stdout(io.StringIO()):
                        row.append(timed(lambda run=run, words=[*words, *more], is_empty=is_empty: run(words, is_empty)))
            if number:  # the first round is for getting warm
                found.append(tuple(row))
    finally:
        pool.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--as", dest="kind", help=argparse.SUPPRESS)
    parser.add_argument("--empty", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--launcher", default="local", help=argparse.SUPPRESS)
    options = parser.parse_args()
    before = os.getcwd()
    folder = tempfile.mkdtemp(prefix="sweep-speed-")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(HERE)])
    os.chdir(folder)
    try:
        if options.kind:
            words = words_for(options.jobs, "sweep")
            if options.kind == "basic":
                basic(words, options.empty)
            else:
                ours([*words, f"sweep.launcher={options.launcher}"], options.empty)
            return
        report(options.jobs, options.rounds)
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def report(jobs: int, rounds: int) -> None:
    print(f"| what | jobs | basic, s | ours, s | ratio | aim |\n|{'---|' * 6}")

    def row(what: str, count: int, theirs: list[float], own: list[float], aim: str) -> None:
        ratio = statistics.median(mine / other for mine, other in zip(own, theirs, strict=True))
        spread = f"{min(own):.2f}-{max(own):.2f}"
        figures = f"{statistics.median(theirs):.2f} | {statistics.median(own):.2f} ({spread}) | {ratio:.2f}"
        print(f"| {what} | {count} | {figures} | {aim} |", flush=True)

    one = [(process("basic", 1, False), process("ours", 1, False)) for _ in range(rounds)]
    row("one run in this process, from start to end", 1, [a for a, _ in one], [b for _, b in one], "1.5")
    for launcher in ("process", "ray"):
        times = warm(launcher, jobs, rounds)
        row(f"empty jobs, warm pool ({launcher})", jobs, [t[0] for t in times], [t[1] for t in times], "1.0")
        row(f"runs, warm pool ({launcher})", jobs, [t[2] for t in times], [t[3] for t in times], "")
    for launcher in ("local", "process", "ray"):
        cold = [
            (process("basic", jobs, True), process("ours", jobs, True, "--launcher", launcher))
            for _ in range(max(1, rounds // 2))
        ]
        row(f"empty jobs, cold ({launcher}), from start to end", jobs, [a for a, _ in cold], [b for _, b in cold], "")


if __name__ == "__main__":
    main()
