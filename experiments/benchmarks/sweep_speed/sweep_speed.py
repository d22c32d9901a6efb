"""What a sweep costs beside Hydra's basic launcher, from the command to its end.

Jobs are either empty or short runs (one step on a hundred points). Whole processes are timed from their start to their end;
a warm pool, from the command to its end in a process that has composed and run such jobs before.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from experiments.benchmarks.measuring import OURS, Figure, Options, environment

_BASIC = "Hydra"
_JOBS = 40
_RUN = ["data=line", "train.steps=1"]
_EMPTY, _A_RUN = "experiments.benchmarks.sweep_speed.sweep_speed:empty", "tfexp.experiment.sweeps.attempt:make"
_LOSSES = {"loss": 0.0}


def figures(options: Options) -> Iterator[Figure]:
    name = "one run in this process, from start to end"
    if options.wants(name):
        rounds = [{_BASIC: _process("basic", 1, False), OURS: _process("local", 1, False)} for _ in range(options.rounds)]
        yield Figure("sweep", name, "s", rounds, 1 / 1.5, base=_BASIC)
    for launcher in ("process", "ray"):
        kinds = ("empty jobs", "runs")
        names = [f"{_JOBS} {kind}, warm pool ({launcher})" for kind in kinds]
        if any(map(options.wants, names)):
            found = _child("warm", launcher, str(_JOBS), str(options.rounds))
            for kind, name in zip(kinds, names, strict=True):
                yield Figure("sweep", name, "s", [row[kind] for row in found], 1.0, base=_BASIC)
    for launcher in ("local", "process", "ray"):
        name = f"{_JOBS} empty jobs, cold ({launcher}), from start to end"
        if options.wants(name):
            rounds = [
                {_BASIC: _process("basic", _JOBS, True), OURS: _process(launcher, _JOBS, True)}
                for _ in range(options.rounds)
            ]
            yield Figure("sweep", name, "s", rounds, base=_BASIC)


def _process(launcher: str, jobs: int, is_empty: bool) -> float:
    """Seconds from the start to the end of a process with a sweep of that many jobs."""
    return _timed(lambda: _child("once", launcher, str(jobs), str(int(is_empty))))


def _child(*words: str) -> Any:
    """What this file answers in a process, and an empty folder, of its own."""
    with tempfile.TemporaryDirectory(prefix="sweep-speed-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name, *words],
            cwd=folder,
            env=environment(),
            check=False,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} gave up:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


# --- in a child ------------------------------------------------------------------------------------------------------


def empty(station: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """What an empty job does, in a pool."""
    numbers = {"status": "finished", "step": 1, "train": _LOSSES, "test": _LOSSES}
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

    driver.WORK = (
        "experiments.benchmarks.sweep_speed.sweep_speed:empty" if is_empty else "tfexp.experiment.sweeps.attempt:make"
    )
    assert cli.main(["-m", *words]) == 0


def words_for(jobs: int, folder: str) -> list[str]:
    return [*_RUN, f"train.seed=range({jobs})", f"hydra.sweep.dir={folder}"]


class _Warm:
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


def warm(launcher: str, jobs: int, rounds: int) -> list[dict[str, dict[str, float]]]:
    """Seconds of the basic launcher and of the warm pool, with empty jobs and with runs, round by round."""
    from tfexp.distributed.process_pool import ProcessPool
    from tfexp.distributed.ray_pool import RayPool
    from tfexp.experiment.sweeps import command

    pool = RayPool("local") if launcher == "ray" else ProcessPool()
    ready = _Warm(pool)
    command.pool_of = lambda sweep, folder: ready  # type: ignore[assignment]
    found = []
    try:
        for number in range(rounds + 1):
            row: dict[str, dict[str, float]] = {}
            for kind in ("empty jobs", "runs"):
                is_empty, row[kind] = kind == "empty jobs", {}
                for engine, run in ((_BASIC, basic), (OURS, ours)):
                    words = words_for(jobs, f"{launcher}-{number}-{is_empty}-{run.__name__}")
                    more = [f"sweep.launcher={launcher}"] if run is ours else []
                    with contextlib.redirect_stdout(io.StringIO()):
                        row[kind][engine] = _timed(functools.partial(run, [*words, *more], is_empty))
            if number:  # the first round is for getting warm
                found.append(row)
    finally:
        pool.close()
    return found


def main(what: str, launcher: str, jobs: str, more: str) -> None:
    if what == "warm":
        print(json.dumps(warm(launcher, int(jobs), int(more))))
        return
    words, is_empty = words_for(int(jobs), "sweep"), bool(int(more))
    if launcher == "basic":
        basic(words, is_empty)
    else:
        ours([*words, f"sweep.launcher={launcher}"], is_empty)
    print("null")


if __name__ == "__main__":
    main(*sys.argv[1:])
