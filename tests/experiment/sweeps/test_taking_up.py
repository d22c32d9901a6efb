"""A sweep whose driver is killed, wherever: what finished is not run again, nothing is lost, one table."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import journalled

import tfexp as tf
from tests.processes import started
from tfexp.distributed.hosting import Message, Say, Sink
from tfexp.distributed.pool import Capacity, Job, Pool
from tfexp.experiment import cli as command_line
from tfexp.experiment.composing import checked, composer, parse, section_of
from tfexp.experiment.errors import ExperimentError, SettingError
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.sweeps import attempt as of_attempts
from tfexp.experiment.sweeps.driver import Driver, Watcher, planned_event
from tfexp.experiment.sweeps.journal import Journal
from tfexp.experiment.sweeps.ledger import Ledger
from tfexp.experiment.sweeps.plan import Door, Planner
from tfexp.experiment.sweeps.results import as_csv, rows
from tfexp.experiment.sweeps.schema import Sweep
from tfexp.experiment.sweeps.searching import GridSearch
from tfexp.experiment.sweeps.space import space_of

ROOT = Path(next(iter(tf.__path__))).parent
TRIALS = 40
QUICK = ["data=line", "train.steps=20", "train.eval_every=10", "train.checkpoint_every=0", "hydra.sweep.dir=sweep"]


class Scripted(Pool):
    """Comes to numbers that follow from the learning rate; 7 always fails, 11 at its first attempt."""

    kind = "scripted"

    def __init__(self) -> None:
        self.ran: list[str] = []

    def open(self, sink: Sink, say: Say) -> Capacity:
        self.sink = sink
        return Capacity(3.0)

    def start(self, job: Job) -> None:
        self.ran.append(job.name)
        rate = job.work.arguments["settings"]["optimizer"]["values"]["learning_rate"]
        if rate == 7 or (rate == 11 and "attempt" not in job.name):
            self.sink(job.name, {"kind": "exited", "why": "a bad day"})
            return
        folder = Path(job.work.arguments["folder"])
        result = result_of(rate)
        (folder / "result.json").write_text(json.dumps(result))
        self.sink(
            job.name, {"kind": "ended", "result": {"status": "finished", "numbers": result["numbers"], "seconds": rate}}
        )

    def tell(self, job: str, message: Message) -> None:
        raise AssertionError("nobody asked")

    def close(self) -> None:
        pass


def result_of(rate: float) -> dict[str, Any]:
    losses = {"loss": abs(rate - 20) / 10}
    return {"numbers": {"status": "finished", "step": 20, "train": losses, "test": losses}, "timing": {"seconds": rate}}


class Sweeping:
    """The parts of a sweep of forty trials, planned once."""

    def __init__(self, door: Door) -> None:
        words = [*QUICK, f"optimizer.learning_rate=range(1,{TRIALS + 1})"]
        self.space = space_of(door.parse(words), lambda group: [])
        self.settings = door.sweep(door.compose(door.parse(["sweep.retries=1"])))
        self.planner = Planner(door, self.space, self.settings)
        search, self.trials, self.events = GridSearch(self.space), {}, [{"kind": "sweep"}]
        for number, point in enumerate(iter(search.ask, None)):
            (trial,) = self.planner.trials(number, point)
            self.trials[number] = trial
            self.events.append(planned_event(trial, point, None))

    def run(
        self, folder: Path, journal: Journal, events: list[dict[str, Any]], pool: Scripted | None = None
    ) -> tuple[list[str], list[dict[str, str]]]:
        """The names of the jobs that ran, and the table."""
        pool = pool or Scripted()
        ledger, search = Ledger(events), GridSearch(self.space)
        parts = (self.planner, search, journal, ledger, dict(self.trials), pool, Watcher())
        Driver(folder, self.settings, "a command", *parts).run()
        journal.close()
        table = list(csv.DictReader(io.StringIO(as_csv(rows(list(self.trials.values()), ledger, self.settings)))))
        return pool.ran, [{name: text for name, text in row.items() if name != "seconds"} for row in table]


@pytest.fixture(scope="module")
def sweeping() -> Sweeping:
    with pytest.MonkeyPatch.context() as patch, composer([]) as compose:
        patch.setattr(Planner, "_checked", lambda self, settings: 20)
        recorded = lambda config: command_line._origin("", config, ()).config_yaml  # noqa: E731
        door = Door(parse, compose, checked, recorded, lambda config: section_of("sweep", Sweep, config))
        return Sweeping(door)


@pytest.fixture(scope="module")
def whole(sweeping: Sweeping, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[dict[str, str]], bytes]:
    """What is run, the table, and the journal, of a sweep that nobody ends."""
    folder = tmp_path_factory.mktemp("whole")
    journal = Journal.create(folder)
    journal.add(sweeping.events)
    ran, table = sweeping.run(folder, journal, sweeping.events)
    assert len(ran) == TRIALS + 2
    assert [row["status"] for row in table].count("finished") == TRIALS - 1
    return ran, table, (folder / "journal.jsonl").read_bytes()


def test_trials_that_failed_are_tried_again_where_there_are_more_retries(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str) -> list[tuple[str, str]]:
        """The attempts that were made, and how each ended."""
        before = len(journalled(tmp_path / "sweep")) if (tmp_path / "sweep").exists() else 0
        cli("-m", *words)
        events = journalled(tmp_path / "sweep")[before:]
        started = [event["folder"] for event in events if event["kind"] == "started"]
        return list(zip(started, [event["status"] for event in events if event["kind"] == "ended"], strict=True))

    with monkeypatch.context() as patch:
        patch.setattr(of_attempts.Experiment, "run", raising(OSError(28, "No space left on device")))
        words = [*QUICK, "optimizer.learning_rate=0.1,1e30"]
        assert run(*words) == [("0-linreg", "failed"), ("1-linreg", "failed")]
        assert run("sweep.resume=sweep") == []
        assert run("sweep.resume=sweep", "sweep.retries=1") == [
            ("0-linreg-attempt-2", "failed"), ("1-linreg-attempt-2", "failed"),
        ]  # fmt: skip
    assert run("sweep.resume=sweep", "sweep.retries=1") == []
    assert run("sweep.resume=sweep", "sweep.retries=2") == [
        ("0-linreg-attempt-3", "finished"), ("1-linreg-attempt-3", "failed"),
    ]  # fmt: skip
    assert run("sweep.resume=sweep", "sweep.retries=9") == [], "what diverged would do so again"


def raising(error: Exception) -> Callable:
    def run(*arguments: Any, **options: Any) -> None:
        raise error

    return run


@pytest.mark.parametrize("seed", range(20))
def test_killed_at_a_random_point(seed: int, sweeping: Sweeping, whole: Any, tmp_path: Path) -> None:
    """Up to three times, at any byte of the journal, with or without the results of what was under way."""
    _, expected, text = whole
    chance = random.Random(seed)
    header = len("".join(json.dumps(event) + "\n" for event in sweeping.events))
    (tmp_path / "journal.jsonl").write_bytes(text[: chance.randrange(header, len(text))])
    for _ in range(chance.randrange(3)):
        journal = Journal.open(tmp_path)
        leave_folders(tmp_path, journal.events, chance)
        sweeping.run(tmp_path, journal, journal.events)
        text = (tmp_path / "journal.jsonl").read_bytes()
        (tmp_path / "journal.jsonl").write_bytes(text[: chance.randrange(header, len(text))])
    journal = Journal.open(tmp_path)
    done = leave_folders(tmp_path, journal.events, chance)
    ran, table = sweeping.run(tmp_path, journal, journal.events)

    assert table == expected
    assert not done & set(ran), "finished trials were run again"
    assert len(ran) == len(set(ran))
    kinds = [event["kind"] for event in journalled(tmp_path)]
    assert kinds[-1] == "over"


def leave_folders(folder: Path, events: list[dict[str, Any]], chance: random.Random) -> set[str]:
    """Make the folders that the attempts would have left; some of those under way had come to their result."""
    ledger, done = Ledger(events), set()
    for number, progress in ledger.trials.items():
        for attempt in progress.attempts:
            path = folder / attempt.folder
            if attempt.status in ("lost", "failed"):
                continue
            path.mkdir(exist_ok=True)
            (path / "result.json").unlink(missing_ok=True)
            good = number + 1 != 7 and not (number + 1 == 11 and "attempt" not in path.name)
            if attempt.status == "finished" or (good and chance.random() < 0.5):
                (path / "result.json").write_text(json.dumps(result_of(float(number + 1))))
                done.add(attempt.folder)
    return done


def test_what_was_under_way_is_kept_aside(sweeping: Sweeping, tmp_path: Path) -> None:
    journal = Journal.create(tmp_path)
    journal.add([*sweeping.events, {"kind": "started", "trial": 0, "attempt": 1, "folder": "0-linreg"}])
    journal.close()
    (tmp_path / "0-linreg").mkdir()
    (tmp_path / "0-linreg" / "half").write_text("a half")
    held = RunFolder(tmp_path / "0-linreg")
    journal = Journal.open(tmp_path)
    with pytest.raises(ExperimentError, match="0-linreg is still in use by the earlier stay"):
        sweeping.run(tmp_path, journal, journal.events)
    journal.close()
    held.close()
    journal = Journal.open(tmp_path)
    ran, _ = sweeping.run(tmp_path, journal, journal.events)
    assert ran[0] == "0-linreg"
    assert (tmp_path / "0-linreg-lost-1" / "half").read_text() == "a half"


def test_output_that_nobody_reads_ends_the_sweep(sweeping: Sweeping, tmp_path: Path) -> None:
    class Unread(Scripted):
        def start(self, job: Job) -> None:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    journal = Journal.create(tmp_path)
    journal.add(sweeping.events)
    with pytest.raises(ExperimentError, match=r"output cannot be written: Broken pipe\nsend it elsewhere, and go on with: "):
        sweeping.run(tmp_path, journal, sweeping.events, Unread())
    journal.close()


def test_a_pool_that_goes_away_ends_the_sweep_and_loses_nothing(sweeping: Sweeping, whole: Any, tmp_path: Path) -> None:
    class Leaving(Scripted):
        def start(self, job: Job) -> None:
            if len(self.ran) < 5:
                super().start(job)
            elif len(self.ran) == 5:
                self.ran.append(job.name)
                self.sink("", {"kind": "gone", "why": "Ray went away"})

    journal = Journal.create(tmp_path)
    journal.add(sweeping.events)
    with pytest.raises(ExperimentError, match=r"Ray went away, with \d trials? under way\ngo on with: .*sweep.resume="):
        sweeping.run(tmp_path, journal, sweeping.events, Leaving())
    journal.close()
    journal = Journal.open(tmp_path)
    _, table = sweeping.run(tmp_path, journal, journal.events)
    assert table == whole[1]


# --- through the command line -----------------------------------------------------------------------------------------


def test_only_what_the_sweep_was_begun_with_goes_on(cli: Callable, tmp_path: Path) -> None:
    words = ["optimizer.learning_rate=0.1,1e30", *QUICK]
    assert cli("-m", *words, "sweep.seeds=2").code == 1
    begun = (tmp_path / "sweep" / "journal.jsonl").read_text()

    again = cli("-m", "sweep.resume=sweep")  # what failed has failed
    assert again.code == 1
    assert again.err.startswith("tfexp: 2 of 4 trials failed:")
    assert cli("-m", *words, "sweep.resume=sweep", "sweep.seeds=2", "sweep.parallel=1").code == 1

    for given, said in {
        "train.steps=21": "'train.steps=21' was given now and not then",
        "sweep.seeds=3": "'sweep.seeds=3' was given now and not then; 'sweep.seeds=2' was given then and not now",
        "sweep=random": "'sweep=random' was given now and not then",
    }.items():
        ended = cli("-m", "sweep.resume=sweep", *([*words, given] if "train" in given else [given]))
        assert ended.code == 2
        assert ended.err.startswith(f"tfexp: sweep.resume: sweep was begun with other words: {said}"), ended.err
    assert cli("-m", *words).err.startswith(
        "tfexp: sweep already holds a sweep: choose another hydra.sweep.dir, or go on with"
    )
    now = (tmp_path / "sweep" / "journal.jsonl").read_text()
    assert now == begun + '{"kind": "over"}\n' * 2


def test_a_configuration_that_changed_meanwhile_is_refused_with_the_difference(cli: Callable, tmp_path: Path) -> None:
    choices = tmp_path / "choices" / "optimizer"
    choices.mkdir(parents=True)
    mine = choices / "mine.yaml"
    mine.write_text("target: tfexp.experiment.optimizers:Sgd\nlearning_rate: 0.1\n")
    words = ["--config-dir", "choices", "-m"]
    assert cli(*words, *QUICK, "optimizer=sgd,mine").code == 0
    mine.write_text("target: tfexp.experiment.optimizers:Sgd\nlearning_rate: 0.2\n")
    ended = cli(*words, "sweep.resume=sweep")
    assert ended.code == 2
    assert ended.err == (
        "tfexp: sweep.resume: sweep was begun with another configuration: in trial 1, optimizer.learning_rate was 0.1 and "
        "is 0.2\n"
    )
    assert issubclass(SettingError, ExperimentError)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_is_ended_for_real(how: signal.Signals, cli: Callable, tmp_path: Path) -> None:
    words = [*QUICK, "train.seed=range(4)", "sweep.launcher=process", "sweep.parallel=1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with started(
        [sys.executable, "-m", "tfexp", "-m", *words],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            if line.startswith("trial 1 "):
                process.send_signal(how)
                break
        process.stdout.read()
        err = process.stderr.read()
        process.wait(60)
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert re.match(
            r"tfexp: stopped: [234] of 4 trials are over, and [01] (was|were) under way, which will be run ", err
        )
        assert err.endswith("go on with: python -m tfexp -m sweep.resume=sweep\n")
    before = [event for event in journalled(tmp_path / "sweep") if event["kind"] == "ended"]
    assert len(before) >= 2

    threads = threading.active_count()
    ended = cli("-m", "sweep.resume=sweep", "sweep.launcher=local")
    assert ended.code == 0, ended.err
    assert threading.active_count() == threads
    events = journalled(tmp_path / "sweep")
    finished = [event["trial"] for event in events if event["kind"] == "ended" and event["status"] == "finished"]
    assert sorted(finished) == list(range(4))
    with (tmp_path / "sweep" / "sweep.csv").open() as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["finished"] * 4


def test_a_sweep_of_ones_own_choices_goes_on_with_them(cli: Callable, tmp_path: Path) -> None:
    choice = tmp_path / "mine" / "optimizer" / "slow.yaml"
    choice.parent.mkdir(parents=True)
    choice.write_text("target: tfexp.experiment.optimizers:Sgd\nlearning_rate: 0.001\n")
    words = ("data=line", "optimizer=slow", "train.steps=1,2", "hydra.sweep.dir=sweep")
    assert cli("--config-dir", "mine", "-m", *words).code == 0
    assert cli("-m", "sweep.resume=sweep").code == 0
    (tmp_path / "mine").rename(tmp_path / "moved")
    ended = cli("-m", "sweep.resume=sweep")
    assert ended.err == f"tfexp: --config-dir: there is no folder {tmp_path / 'mine'}\n"
    assert cli("--config-dir", "moved", "-m", "sweep.resume=sweep").code == 0
    choice = tmp_path / "moved" / "optimizer" / "slow.yaml"
    choice.unlink()
    ended = cli("--config-dir", "moved", "-m", "sweep.resume=sweep")
    assert ended.code != 0
    assert "there is no choice 'slow'" in ended.err
    assert ended.err.endswith(f"\n  it was begun by: python -m tfexp --config-dir mine -m {' '.join(words)}\n")
