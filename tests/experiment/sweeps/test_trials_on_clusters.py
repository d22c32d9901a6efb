"""Sweeps whose trials are clusters: judged by what their chiefs measure, and ended as a whole. The tasks are threads."""

from __future__ import annotations

import csv
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import journalled

from tfexp.experiment import together

RATES = "optimizer.learning_rate=0.1,0.001"
COMMON = ["data=line", "train.steps=20", "train.eval_every=5", "train.checkpoint_every=0"]
HALVING = ["sweep.halving.factor=2", "sweep.halving.least_steps=5"]
CLUSTER = ["cluster=2workers", "cluster.hosting=process", "update=sync"]


pytestmark = pytest.mark.usefixtures("tasks_are_threads")


def table(folder: Path) -> list[tuple[str, str]]:
    with (folder / "sweep.csv").open() as file:
        return [(row["status"], row["step"]) for row in csv.DictReader(file)]


def rungs(folder: Path) -> list[Any]:
    events = [event for event in journalled(folder) if event["kind"] == "rung"]
    return [[e["trial"], e["rung"], pytest.approx(e["value"], rel=1e-4), e["goes_on"]] for e in events]


def test_they_are_halved_as_trials_of_one_process_are(cli: Callable, tmp_path: Path) -> None:
    assert cli("-m", *COMMON, *HALVING, RATES, "hydra.sweep.dir=one").code == 0
    ended = cli("-m", *COMMON, *HALVING, RATES, *CLUSTER, "hydra.sweep.dir=clusters")
    assert ended.code == 0, ended.err
    assert table(tmp_path / "clusters") == [("finished", "20"), ("halved", "5")]
    assert table(tmp_path / "one") == table(tmp_path / "clusters")
    ours, theirs = (rungs(tmp_path / name) for name in ("clusters", "one"))
    assert ours == [[trial, rung, value.expected, on] for trial, rung, value, on in theirs]


def test_a_sweep_that_is_stopped_ends_its_cluster_and_takes_it_up(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    before = together.Together.may_begin

    def may_begin(self: Any, step: int) -> bool:
        if step >= 20 and not sent:
            sent.append(step)
            os.kill(os.getpid(), signal.SIGINT)
        return before(self, step)

    monkeypatch.setattr(together.Together, "may_begin", may_begin)
    words = ["train.eval_every=100000", "train.steps=200000", "hydra.sweep.dir=sweep"]
    ended = cli("-m", *COMMON, "optimizer.learning_rate=0.1,0.2", *CLUSTER, *words)
    assert ended.code == 130
    assert ended.err.startswith("tfexp: stopped: 0 of 2 trials are over, and 1 was under way")
    (log,) = (tmp_path / "sweep").glob("0-*/trial.log")
    assert "stopping: every worker ends its step" in log.read_text()
