"""Sweeps in this process: what is run, what is said, and what is left in the folder."""

from __future__ import annotations

import csv
import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from run_files import journalled

import tfexp as tf

ROOT = Path(next(iter(tf.__path__))).parent

QUICK = ["data=line", "train.steps=20", "train.eval_every=10", "train.checkpoint_every=0", "hydra.sweep.dir=sweep"]
OWN = """
import os
from dataclasses import dataclass
from pathlib import Path
from tfexp.experiment.models.linreg import Linreg

@dataclass(frozen=True)
class Moody(Linreg):
    mood: str = "good"

    def loss(self, outputs, labels, spec):
        if Path("running").exists():
            if self.mood == "bad":
                raise ValueError("a mood")
            if self.mood == "exit":
                os._exit(3)
            if self.mood == "killed":
                os.kill(os.getpid(), 9)
            if self.mood == "better" and not Path("seen").exists():
                Path("seen").touch()
                raise RuntimeError("not yet")
        return super().loss(outputs, labels, spec)
"""


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "sweep.csv").open() as file:
        return list(csv.DictReader(file))


def test_trials_draw_no_pictures(cli: Callable, tmp_path: Path, pictures: None) -> None:
    words = ("data=mixture", "data.points=61", "model=softmax", "train.steps=1,2", "train.eval_every=1")
    assert cli("-m", *words, "hydra.sweep.dir=sweep").code == 0
    drawn = sorted(path.relative_to(tmp_path / "sweep") for path in tmp_path.rglob("*.png"))
    assert drawn == [Path("curves.png"), Path("sweep.png")]
    log = (tmp_path / "sweep" / "0-softmax" / "trial.log").read_text()
    assert "tensorboard --logdir" in log
    assert ".png" not in log
    assert cli("resume=sweep/0-softmax", "train.steps=2").code == 0
    assert (tmp_path / "sweep" / "0-softmax" / "confusion.png").exists()


def test_each_combination_is_a_whole_run(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK, "optimizer.learning_rate=0.1,0.3", "model=linreg,mlp")
    assert ended.code == 0, ended.err
    rows = table(tmp_path / "sweep")
    assert [(row["optimizer.learning_rate"], row["model"], row["folder"]) for row in rows] == [
        ("0.1", "linreg", "0-linreg"), ("0.1", "mlp", "1-mlp"), ("0.3", "linreg", "2-linreg"), ("0.3", "mlp", "3-mlp"),
    ]  # fmt: skip
    for row in rows:
        folder = tmp_path / "sweep" / row["folder"]
        numbers = json.loads((folder / "result.json").read_text())["numbers"]
        assert float(row["test.loss"]) == numbers["test"]["loss"]
        assert float(row["train.rmse"]) == numbers["train"]["rmse"]
        assert row["step"] == "20"
        assert f"optimizer.learning_rate={row['optimizer.learning_rate']}" in yaml.safe_load(
            (folder / "overrides.yaml").read_text()
        )
        assert "finished after step 20" in (folder / "trial.log").read_text()
    ranked = re.findall(r"│ (\d) │ +(\d) │.*│ finished", ended.out)
    losses = [float(row["test.loss"]) for row in rows]
    assert [int(trial) for _, trial in ranked] == sorted(range(4), key=losses.__getitem__)


def test_trials_are_as_single_runs(cli: Callable, tmp_path: Path) -> None:
    assert cli("-m", *QUICK, "optimizer=sgd,adam", "train.batch_size=8").code == 0
    assert cli(*QUICK[:-1], "optimizer=adam", "train.batch_size=8", "hydra.run.dir=run").code == 0
    alone, trial = ((tmp_path / name) for name in ("run", "sweep/1-linreg"))
    assert (alone / "metrics.jsonl").read_text() == (trial / "metrics.jsonl").read_text()
    assert yaml.safe_load((alone / "config.yaml").read_text()) == yaml.safe_load((trial / "config.yaml").read_text())


def test_dry_lists_and_runs_nothing(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK, "sweep.dry=true", "optimizer.learning_rate=0.1,1e-1,0.3", "train.steps=7,9")
    assert ended.code == 0
    assert ended.out.splitlines()[0].strip() == "6 trials, checked; nothing was run"
    assert len(re.findall(r"│ +the same as (\d) │", ended.out)) == 2
    assert list(tmp_path.iterdir()) == []


def test_equal_trials_are_run_once(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK, "optimizer.learning_rate=0.1,1e-1")
    assert ended.code == 0, ended.err
    first, second = table(tmp_path / "sweep")
    assert first["test.loss"] == second["test.loss"]
    assert second["folder"] == first["folder"] == "0-linreg"
    assert not (tmp_path / "sweep" / "1-linreg").exists()


def test_all_are_checked_before_the_first_starts(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK, "data=line,digits", "model=linreg")  # only the last one does not fit
    assert ended.code == 2
    assert ended.err.startswith("tfexp: model: Linreg predicts numbers and this data has 10 classes")
    assert list(tmp_path.iterdir()) == []


def test_seeds_repeat_each_point(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK, "optimizer.learning_rate=0.1,0.3", "sweep.seeds=2", "train.seed=5", "model=mlp")
    assert ended.code == 0, ended.err
    rows = table(tmp_path / "sweep")
    assert [(row["point"], row["train.seed"]) for row in rows] == [(point, seed) for point in "01" for seed in "56"]
    losses = [float(row["test.loss"]) for row in rows]
    for of in (losses[:2], losses[2:]):
        assert f"{statistics.fmean(of):.6g} ± {statistics.stdev(of):.2g}" in ended.out


def test_one_that_fails_is_tried_again_and_does_not_sink_the_others(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moods.py").write_text(OWN)
    (tmp_path / "running").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "moods", raising=False)
    monkeypatch.setattr("tfexp.experiment.sweeps.plan.Planner._checked", lambda self, settings: 20)
    own = ["model=own", "model.target=moods:Moody", "model.l2=0", "model.mood=bad,better,good", "sweep.retries=2"]
    ended = cli("-m", *QUICK, *own)
    assert ended.code == 1
    assert ended.err == (
        "tfexp: 1 of 3 trials failed:\n"
        "  0 (model.mood=bad) after 3 attempts: ValueError: a mood\n"
        "    log: sweep/0-own-attempt-3/trial.log\n"
    )
    assert [(row["status"], row["attempts"], row["folder"]) for row in table(tmp_path / "sweep")] == [
        ("failed", "3", "0-own-attempt-3"), ("finished", "2", "1-own-attempt-2"), ("finished", "1", "2-own"),
    ]  # fmt: skip
    log = (tmp_path / "sweep" / "0-own" / "trial.log").read_text()
    assert log.startswith("Traceback") and "moods.py" in log


def test_data_that_cannot_be_read_names_the_trial(cli: Callable, tmp_path: Path) -> None:
    ended = cli(
        "-m", *QUICK, "data=csv", "data.label=y", f"data.path={tmp_path}/gone.csv", "optimizer.learning_rate=0.1,0.2"
    )
    assert ended.code == 1
    assert ended.err == (
        f"tfexp: data.path: {tmp_path}/gone.csv cannot be read: No such file or directory\n"
        "  in the trial optimizer.learning_rate=0.1\n"
    )


@pytest.mark.parametrize("search", [[], ["sweep=random", "sweep.trials=1"]])
def test_a_model_that_cannot_be_built_names_the_trial(
    search: list[str], cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moods.py").write_text(OWN)
    (tmp_path / "running").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "moods", raising=False)
    with pytest.raises(ValueError, match="a mood") as raised:
        cli("-m", *QUICK, "model=own", "model.target=moods:Moody", "model.l2=0", "model.mood=good,bad", *search)
    assert raised.value.__notes__ == ["in the trial model.mood=bad"]
    assert not (tmp_path / "sweep").exists()


def test_settings_that_do_not_fit_together_name_the_trial(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", "data=digits", "model=softmax,linreg")
    said, trial = ended.err.splitlines()
    assert said.startswith("tfexp: model: Linreg predicts numbers and this data has 10 classes")
    assert trial == "  in the trial model=linreg"
    ended = cli("-m", "data=digits", "model=linreg")
    assert ended.err.splitlines() == [said], "nothing varied, nothing to tell apart"
    assert list(tmp_path.iterdir()) == []


def test_one_run_that_fails_where_nothing_is_varied(cli: Callable) -> None:
    ended = cli("-m", *QUICK, "optimizer.learning_rate=1e30")
    assert ended.err.startswith("tfexp: 1 of 1 trials failed:\n  0 (nothing varied): the loss is ")
    assert "trial 0 (nothing varied): failed" in ended.out
    resumed = cli("resume=sweep")
    assert resumed.err == "tfexp: sweep is a sweep's folder: go on with python -m tfexp -m sweep.resume=sweep\n"


def test_one_whose_process_dies_does_not_sink_the_others(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moods.py").write_text(OWN)
    (tmp_path / "running").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "moods", raising=False)
    monkeypatch.setattr("tfexp.experiment.sweeps.plan.Planner._checked", lambda self, settings: 20)
    own = ["model=own", "model.target=moods:Moody", "model.l2=0", "model.mood=exit,good,killed", "sweep.retries=1"]
    ended = cli("-m", *QUICK, *own, "sweep.launcher=process")
    assert ended.code == 1
    assert ended.err == (
        "tfexp: 2 of 3 trials failed:\n"
        "  0 (model.mood=exit) after 2 attempts: its process ended with exit code 3\n"
        "    log: sweep/0-own-attempt-2/trial.log\n"
        "  2 (model.mood=killed) after 2 attempts: its process was killed by SIGKILL\n"
        "    log: sweep/2-own-attempt-2/trial.log\n"
    )
    assert [row["status"] for row in table(tmp_path / "sweep")] == ["failed", "finished", "failed"]


def test_a_full_disk_is_said_and_nothing_is_lost(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_text

    def full(self: Path, *arguments: Any, **options: Any) -> int:
        if self.name == ".sweep.csv.new":
            raise OSError(28, "No space left on device")
        return write(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        ended = cli("-m", *QUICK, "train.seed=1,2")
    assert (ended.code, ended.err) == (
        1,
        "tfexp: cannot write sweep/sweep.csv: No space left on device\n"
        "nothing is lost: once that is put right, go on with: python -m tfexp -m sweep.resume=sweep\n",
    )
    again = cli("-m", "sweep.resume=sweep")
    assert again.code == 0
    assert "trial 0 " not in again.out, "a finished trial was run again"


def test_values_in_brackets_are_shown(cli: Callable) -> None:
    ended = cli("-m", *QUICK[:-1], "model=mlp", "model.hidden=[7],[5,3]", "sweep.dry=true")
    assert re.search(r"│ +0 │ \[7\] +│", ended.out)
    assert re.search(r"│ +1 │ \[5,3\] +│", ended.out)


def test_a_run_that_diverges_is_not_tried_again(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK, "optimizer.learning_rate=1e30,0.1", "sweep.retries=3")
    assert ended.code == 1
    assert [(row["status"], row["attempts"]) for row in table(tmp_path / "sweep")] == [("failed", "1"), ("finished", "1")]


def test_random_search_of_intervals(cli: Callable, tmp_path: Path) -> None:
    words = ["sweep=random", "sweep.trials=4", "optimizer.learning_rate=tag(log,interval(1e-3,1))"]
    assert cli("-m", *QUICK, *words).code == 0
    rates = [float(row["optimizer.learning_rate"]) for row in table(tmp_path / "sweep")]
    assert len(set(rates)) == 4
    assert all(1e-3 <= rate <= 1 for rate in rates)


def test_halving_ends_the_worse_at_the_rungs(cli: Callable, tmp_path: Path) -> None:
    rates = ["0.1", "0.001", "0.0001", "0.002", "0.2"]
    words = ["sweep.halving.factor=2", "sweep.halving.least_steps=5", f"optimizer.learning_rate={','.join(rates)}"]
    ended = cli("-m", *QUICK, "train.eval_every=5", "train.steps=40", *words)
    assert ended.code == 0, ended.err
    rows = table(tmp_path / "sweep")
    assert [row["status"] for row in rows] == ["finished", "halved", "halved", "halved", "finished"]
    assert [row["step"] for row in rows] == ["40", "5", "5", "10", "40"]
    rungs = [event for event in journalled(tmp_path / "sweep") if event["kind"] == "rung"]
    assert [(e["trial"], e["rung"], e["goes_on"]) for e in rungs if e["trial"] in (0, 1)] == [
        (0, 5, True), (0, 10, True), (0, 20, True), (1, 5, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("sweep.trials=3", "sweep.trials: there is no setting 'trials'"),
        ("sweep.seeds=1,2", "sweep.seeds: 'sweep.seeds=1,2' is several values, and a sweep has one"),
        ("sweep.metric=accuracy", "sweep.goal: give minimize or maximize: only of the loss is it known"),
        (
            "sweep.metric=accuracy sweep.goal=maximize",
            "sweep.metric: there is no 'accuracy': Linreg on Line has loss, mse, ",
        ),
        ("sweep.metric=best.loss", "sweep.metric: 'best.loss' is not <name>, test.<name> or train.<name>"),
        ("sweep=gird", "sweep (conf/sweep): there is no choice 'gird'; did you mean 'grid'?"),
        ("sweep.seeds=2 train.seed=1,2", "sweep.seeds: repeats every point with other values of train.seed"),
        (
            "optimizer.learning_rate=interval(0,1)",
            "optimizer.learning_rate: a grid needs single values: a,b,c or range(...)",
        ),
        ("sweep.resume=nowhere", "nowhere is not a sweep's folder: it has no journal.jsonl"),
        ("hydra.sweep.subdir=x model=linreg,mlp", "hydra.sweep.subdir: gives two trials the folder 'x'"),
        ("sweep.halving.factor=2", "sweep.halving.least_steps: 100 is not before the last of 20 steps"),
        (
            "sweep.halving.factor=2 sweep.halving.least_steps=5 train.eval_every=0",
            "train.eval_every: 0 of 20 steps leaves the halving nothing to go by before the end",
        ),
        ("hydra.sweeper=x", "hydra.sweeper: of Hydra's own settings, a sweep takes hydra.sweep.dir, hydra.sweep.subdir, "),
        (
            "cluster=2workers",
            "cluster.hosting (conf/cluster/local.yaml, line 2): ray inside a sweep needs sweep.launcher=ray, and it is ",
        ),
        ("--cfg job", "-m: many runs have no one configuration to show"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_done(words: str, message: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK[:-1], *words.split())
    assert ended.code != 0
    assert ended.err.startswith(f"tfexp: {message}")
    assert list(tmp_path.iterdir()) == []


def test_sweep_settings_are_for_sweeps(cli: Callable) -> None:
    assert cli("sweep.seeds=3").err == "tfexp: sweep.seeds: is about many runs: add -m\n"
    assert cli("sweep=random").err == "tfexp: sweep: is about many runs: add -m\n"


def test_checking_a_sweep_loads_neither_ray_nor_pictures(tmp_path: Path) -> None:
    program = (
        "import sys; from tfexp.experiment.cli import main\n"
        "code = main(['-m', 'data=line', 'train.seed=1,2', 'sweep.launcher=ray', 'sweep.dry=true'])\n"
        "print(code, [name for name in ('ray', 'grpc', 'matplotlib', 'optuna') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert done.stdout.splitlines()[-1] == "0 []"
