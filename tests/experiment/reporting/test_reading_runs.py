"""What is read of a run's folder, whole or not, and how the run is said to have ended."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from written_runs import write_run

from tests.processes import started
from tfexp.experiment.choices import choice_of, groups
from tfexp.experiment.reporting.find import find_runs
from tfexp.experiment.reporting.run import STATUSES, read_run


def process(pid: int, began: datetime.datetime | None = None, host: str | None = None) -> dict[str, Any]:
    at = (began or datetime.datetime.now(datetime.UTC)).isoformat()
    return {"process": {"pid": pid, "host": host or platform.node(), "began": at}}


def test_a_whole_run(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", rate=0.25), "run")
    assert (run.status, run.problems, run.step) == ("finished", (), 100)
    assert run.numbers["test"]["loss"] == pytest.approx(2 / 101)
    assert run.values["test.loss"] == run.numbers["test"]["loss"]
    assert (run.values["model"], run.values["data"], run.values["optimizer"]) == ("mlp", "breast_cancer", "adam")
    assert run.values["optimizer.learning_rate"] == 0.25
    assert run.values["train.early_stop.patience"] is None
    assert run.values["seconds"] == 1.5
    history = run.history()
    assert ([r["step"] for r in history.records], history.problems) == (list(range(0, 101, 10)), ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pkg.nets:Wide", "wide"),
        ("a:BreastCancer", "breast_cancer"),
        ("a:Mlp2", "mlp2"),
        ("a:GANModel", "ganmodel"),
        ("3", "3"),
    ],
)
def test_a_choice_of_ones_own_is_named_as_ours_are(name: str, expected: str) -> None:
    assert choice_of("model", name) == expected


def test_a_choice_is_named_as_on_the_command_line(tmp_path: Path) -> None:
    named = {
        (group.name, choice.name): choice_of(group.name, target[1])
        for group in groups().values()
        for choice in group.choices
        if (target := re.search(r"^target: *(\S+:\S+)", choice.path.read_text(), re.MULTILINE))
    }
    assert named == {(group, name): name for group, name in named}
    assert {("replication", "none"), ("data", "csv"), ("input", "tfrecord")} <= named.keys()
    folder = write_run(tmp_path / "run", data="tfexp.experiment.datasets.csv_file:CsvFile")
    assert read_run(folder).settings["data"] == "csv"


def test_who_is_at_work(tmp_path: Path) -> None:
    now = datetime.datetime.now(datetime.UTC)
    with started([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        cases = {
            "running": process(os.getpid()),
            "running too": process(child.pid, now),
            "another process has the number now": process(child.pid, now - datetime.timedelta(hours=1)),
            "elsewhere": process(os.getpid(), host="another machine"),
            "no number": {"process": {"pid": "x", "host": platform.node()}},
        }
        found = {
            name: read_run(write_run(tmp_path / name, status=None, result=False, manifest=facts)).status
            for name, facts in cases.items()
        }
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert found == {
        "running": "running",
        "running too": "running",
        "another process has the number now": "interrupted",
        "elsewhere": "unknown",
        "no number": "unknown",
    }
    assert read_run(tmp_path / "running too").status == "interrupted", "its process is gone"


def test_a_run_that_goes_on_again_is_running_whatever_it_said_before(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", status=None, manifest=process(os.getpid()))
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 110, "epoch": 10, "train": {"loss": 1}, "test": {"loss": 0.5}}\n{"step": 120, "tr')
    run = read_run(folder)
    assert (run.status, run.step, run.numbers["test"]) == ("running", 110, {"loss": 0.5})
    assert run.history().problems == ("the last line of metrics.jsonl is cut short",)


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("config.yaml", None, "there is no config.yaml"),
        ("config.yaml", "", "config.yaml is empty: the run had not begun"),
        ("config.yaml", "model: {a: 1", "config.yaml is damaged, line 2"),
        ("config.yaml", "- 1\n", "config.yaml is no run's configuration"),
        ("config.yaml", "\x00", "config.yaml is damaged"),
        ("manifest.json", None, "there is no manifest.json"),
        ("manifest.json", '{"started": ', "manifest.json is damaged: Expecting value"),
        ("manifest.json", "[]", "manifest.json is damaged: it holds no object"),
        ("manifest.json", '{"git": 3, "process": [], "ending": 7, "resumed": 1, "data": "x", "runtime": {"blas": 3}}', None),
        ("result.json", '{"numbers": 3, "timing": []}', None),
        ("result.json", '{"numbers": {"status": 7, "step": "x", "train": {"loss": "no"}, "test": []}}', None),
        ("result.json", "\xff", "result.json is damaged"),
        ("metrics.jsonl", None, None),
        ("metrics.jsonl", "nonsense\n[1]\n", None),
    ],
)
def test_damage_is_told_and_never_raised(
    file: str, content: str | None, problem: str | None, tmp_path: Path, show: Callable
) -> None:
    folder = write_run(tmp_path / "run")
    (folder / file).unlink()
    (folder / "checkpoints").mkdir()
    if content is not None:
        (folder / file).write_text(content, encoding="latin-1")
    (run,) = find_runs(tmp_path)
    assert run.status in STATUSES
    assert [one[: len(problem or "")] for one in run.problems] == ([problem] if problem else [])
    assert show(".")[0] == 0
    code, out, err = show("show", "run")
    assert (code, err) == (0, "")
    assert problem is None or problem in out
    write_run(tmp_path / "other", rate=0.2)
    assert show("compare", "run", "other")[0] == 0
    assert show("list", "--json")[0] == 1, "there is no folder outputs"
    assert isinstance(json.loads(show(".", "--json")[1]), list)
    assert show(".", "--csv")[1].count("\n") == 3


def test_lines_that_are_damaged_are_counted(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    lines[3] = lines[3][:20]
    lines[7] = '{"step": 70, "train": 3}'
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    history = read_run(folder).history()
    assert [record["step"] for record in history.records] == [0, 10, 20, 40, 50, 60, 80, 90, 100]
    assert history.problems == ("metrics.jsonl: 2 of 11 lines are damaged (line 4, 8)",)


def test_the_runs_of_a_tree(tmp_path: Path) -> None:
    for name in ("day/b", "day/a", "sweep/0-mlp", "sweep/0-mlp/attempt-2"):
        write_run(tmp_path / name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "config.yaml").write_text("another program's")
    (tmp_path / "day" / "a" / "checkpoints").mkdir()
    write_run(tmp_path / ".hidden" / "run")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [run.name for run in find_runs(tmp_path)] == ["day/a", "day/b", "sweep/0-mlp", "sweep/0-mlp/attempt-2"]
    assert [run.name for run in find_runs(tmp_path / "day" / "a")] == ["."]


@pytest.mark.parametrize("ended", ["finished", "stopped early", "interrupted", "failed", "diverged"])
def test_what_runs_say_of_their_end_is_believed(ended: str, tmp_path: Path) -> None:
    assert read_run(write_run(tmp_path / "run", status=ended, result=ended != "failed")).status == ended


def test_a_run_of_a_version_that_wrote_no_ending(tmp_path: Path) -> None:
    assert read_run(write_run(tmp_path / "ended", status=None)).status == "finished"
    assert read_run(write_run(tmp_path / "not", status=None, result=False)).status == "unknown"
