"""A run's folder says how the run ended, so that those who look at it later need not guess."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tfexp.experiment import ended, progress, recorder
from tfexp.experiment.errors import Diverged, Interrupted
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.reporting.run import read_run

RUN = ["data=line", "train.steps=40", "train.eval_every=10", "hydra.run.dir=run"]


def manifest(tmp_path: Path) -> dict[str, Any]:
    return dict(json.loads((tmp_path / "run" / "manifest.json").read_text()))


def at_step(monkeypatch: pytest.MonkeyPatch, step: int, act: Callable[[], None]) -> None:
    count = progress.Lines.step

    def counted(self: progress.Lines, done: int, loss: float) -> None:
        count(self, done, loss)
        if done == step:
            act()

    monkeypatch.setattr(progress.Lines, "step", counted)


def test_a_run_under_way_is_running_and_then_finished(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, int | None]] = []

    def look() -> None:
        run = read_run(tmp_path / "run")
        seen.append((run.status, run.step))

    at_step(monkeypatch, 25, look)
    assert cli(*RUN).code == 0
    assert seen == [("running", 20)]
    assert manifest(tmp_path)["ending"]["status"] == "finished"
    assert manifest(tmp_path)["process"]["pid"] == os.getpid()
    assert read_run(tmp_path / "run").status == "finished"


def test_a_stay_that_goes_on_ends_anew(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        at_step(patch, 25, lambda: os.kill(os.getpid(), signal.SIGINT))
        assert cli(*RUN).code == 130
    ending = manifest(tmp_path)["ending"]
    assert (ending["status"], ending["message"].splitlines()[0][:25]) == ("interrupted", "stopped after step 25 of ")
    run = read_run(tmp_path / "run")
    assert (run.status, run.step, run.problems) == ("interrupted", 20, (ending["message"].splitlines()[0],))

    with monkeypatch.context() as patch:
        at_step(patch, 35, lambda: seen.append(read_run(tmp_path / "run").status))
        seen: list[str] = []
        assert cli("resume=run").code == 0
    assert seen == ["running"]
    assert manifest(tmp_path)["ending"]["status"] == "finished"

    before = (tmp_path / "run" / "manifest.json").read_bytes()
    assert cli("resume=run").code == 1
    assert (tmp_path / "run" / "manifest.json").read_bytes() == before, "nothing was begun, so nothing ended"


def test_early_stop_and_divergence(cli: Callable, tmp_path: Path) -> None:
    patience = ["train.early_stop.patience=1", "train.early_stop.min_delta=100"]
    assert cli(*RUN, *patience).code == 0
    assert read_run(tmp_path / "run").status == "stopped early"
    assert cli(*RUN[:-1], "hydra.run.dir=wild", "optimizer.learning_rate=1000").code == 1
    wild = read_run(tmp_path / "wild")
    assert wild.status == "diverged"
    assert "A lower optimizer.learning_rate than 1000 may help" in wild.problems[0]


def test_a_fault_of_the_program_is_failed(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise ZeroDivisionError("a fault of the program")

    monkeypatch.setattr(recorder.Recorder, "save", fails)
    with pytest.raises(ZeroDivisionError):
        cli(*RUN)
    run = read_run(tmp_path / "run")
    assert (run.status, run.problems[-1]) == ("failed", "a fault of the program")


def test_a_full_disk_does_not_hide_what_the_run_failed_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = RunFiles(tmp_path)
    files.write_json(files.manifest, {"process": {"pid": 1}})

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(Diverged) as raised, ended.recorded(files, {"pid": 1}):
        raise Diverged(3, "the loss is nan")
    assert raised.value.__notes__ == ["how the run ended could not be written down: [Errno 28] No space left on device"]


def test_only_the_process_that_wrote_the_manifest_ends_it(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    with ended.recorded(files, {"pid": 1}):
        pass
    assert not files.manifest.exists()
    files.write_json(files.manifest, {"process": {"pid": 2}})
    with pytest.raises(Interrupted), ended.recorded(files, {"pid": 1}):
        raise Interrupted(2, "stopped")
    assert json.loads(files.manifest.read_text()) == {"process": {"pid": 2}}
