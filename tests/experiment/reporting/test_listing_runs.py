"""`python -m tfexp.runs`: which runs it lists, in what order, in what form, and what it reads for that."""

from __future__ import annotations

import builtins
import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from written_runs import write_run

import tfexp
from tfexp.experiment.errors import SettingError
from tfexp.experiment.reporting.find import find_runs
from tfexp.experiment.reporting.listing import columns_that_tell, heads, short
from tfexp.experiment.reporting.select import Condition, differing, name_of, sort_runs

ROOT = Path(next(iter(tfexp.__path__))).parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    linreg = "tfexp.experiment.models.linreg:Linreg"
    started = [{"started": f"2026-03-0{day}T00:00:00+00:00"} for day in range(1, 6)]
    write_run(tmp_path / "e", rate=0.1, loss=lambda step: 0.5, manifest=started[0])
    write_run(tmp_path / "d", rate=0.02, loss=lambda step: 0.25, manifest=started[1], hidden=(13, 7))
    write_run(tmp_path / "c", rate=0.003, loss=lambda step: 0.125, manifest=started[2], model=linreg)
    write_run(tmp_path / "b", loss=lambda step: 4.0, manifest=started[3], status="interrupted", result=False)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "config.yaml").touch()
    (tmp_path / "a" / "checkpoints").mkdir()
    return tmp_path


def names(out: str) -> list[str]:
    return [line.split("│")[1].strip() for line in out.splitlines() if line.startswith("│")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "edcba"),
        (["loss<0.5"], "dc"),
        (["loss<=0.5"], "edc"),
        (["loss==0.5"], "e"),
        (["test.loss>0.2", "train.loss<0.2"], "d"),
        (["model=linreg"], "c"),
        (["model!=linreg"], "edba"),
        (["status=interrupted"], "b"),
        (["status~inter"], "b"),
        (["problem~empty"], "a"),
        (["learning_rate=0.020"], "d"),
        (["optimizer.learning_rate>=0.02"], "edb"),
        (["hidden=[13,7]"], "d"),
        (["hidden=[13, 7]"], "d"),
        (["started>2026-03-02"], "dcb"),
        (["standardize=true", "model=mlp"], "edb"),
        (["patience=null"], "edcba"),
        (["loss<0.01"], ""),
        (["--sort", "loss"], "cdeba"),
        (["--sort", "loss", "--reverse"], "bedca"),
        (["--sort", "loss", "--limit", "2"], "ba"),
        (["--sort", "run", "--reverse", "loss>0"], "edcb"),
    ],
)
def test_conditions_and_order(words: list[str], expected: str, tree: Path, show: Callable) -> None:
    code, out, err = show(".", *words)
    assert (code, err) == (0, "")
    assert names(out) == list(expected)
    told = f"{len(expected)} run{'' if len(expected) == 1 else 's'} {'' if len(expected) == 5 else 'of 5 '}in ."
    assert any(line.startswith(told) for line in out.splitlines()), out


def test_the_table_tells_the_runs_apart(tree: Path, show: Callable) -> None:
    lines = show(".")[1].splitlines()
    head = [cell.strip() for cell in lines[1].split("┃")[1:-1]]
    assert head == [
        "run", "status", "model", "data", "learning_rate", "step", "loss", "accuracy", "time", "started",
    ]  # fmt: skip
    assert [cell.strip() for cell in lines[4].split("│")[1:-2]] == [
        "d", "finished", "mlp", "breast_cancer", "0.02", "100", "0.25", "0.8", "1.50 s",
    ]  # fmt: skip
    assert lines[-2] == "5 runs in .: 3 finished, 1 interrupted, 1 unknown"
    assert lines[-1] == "  a: config.yaml is empty: the run had not begun; there is no manifest.json"
    assert len({len(line) for line in lines[:-2]}) == 1, "no line is wrapped where there is no terminal"


def test_a_narrow_terminal_gets_fewer_columns(tree: Path) -> None:
    runs = find_runs(tree)
    whole = columns_that_tell(runs)
    fitting = [columns_that_tell(runs, width) for width in (200, 100, 70, 10)]
    assert fitting[0] == whole
    assert [len(columns) for columns in fitting] == sorted((len(columns) for columns in fitting), reverse=True)
    assert fitting[-1][:2] == ["run", "status"]
    assert "test.loss" in fitting[-1]


def test_json_and_csv_have_everything(tree: Path, show: Callable) -> None:
    content = json.loads(show(".", "--json")[1])
    assert [run["run"] for run in content] == list("edcba")
    assert content[1]["test"] == {"loss": 0.25, "accuracy": 0.8}
    assert content[1]["settings"]["model.hidden"] == [13, 7]
    assert content[4]["status"] == "unknown"
    rows = list(csv.DictReader(io.StringIO(show(".", "--csv")[1])))
    assert [row["run"] for row in rows] == list("edcba")
    assert rows[1]["model.hidden"] == "[13,7]"
    assert float(rows[1]["test.loss"]) == 0.25
    assert rows[4]["test.loss"] == ""
    assert show(".", "--csv", "--columns", "run,loss")[1].splitlines()[:2] == ["run,test.loss", "e,0.5"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 1, "tfexp: there is no folder outputs: name the folder to look in"),
        (["nowhere"], 1, "tfexp: there is no folder nowhere"),
        (["c/config.yaml"], 1, "tfexp: c/config.yaml cannot be read: Not a directory"),
        ([".", "los<1"], 2, "tfexp: los: no run has such a value; did you mean 'train.loss'?"),
        ([".", "loss<<1"], 2, "tfexp: loss<<1: test.loss is a number, and '<1' is none"),
        ([".", "--sort", "rate"], 2, "tfexp: rate: no run has such a value"),
        ([".", "--columns", "run,xyzzy"], 2, "tfexp: xyzzy: no run has such a value"),
        ([".", "other"], 2, "error: one folder to look in, not 2: . other"),
        (["shw", "a"], 2, "error: one folder to look in, not 2: shw a; did you mean the command 'show'?"),
        ([".", "--limit", "0"], 2, "error: --limit: 0 must be at least 1"),
        (["show", "nowhere"], 1, "tfexp: there is no folder nowhere"),
        (["show", "."], 1, "tfexp: . is not a run's folder: a run has config.yaml, manifest.json and metrics.jsonl"),
        (["compare", "a/checkpoints"], 1, "tfexp: there is no run in a/checkpoints or below it"),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], code: int, message: str, tree: Path, show: Callable) -> None:
    found, _, err = show(*words)
    assert found == code
    assert message in err.splitlines()[-1]


def test_a_sweeps_folder_is_known_for_one(tree: Path, show: Callable) -> None:
    (tree / "journal.jsonl").touch()
    assert show("show", ".") == (1, "", "tfexp: . is a sweep's folder: python -m tfexp.runs report . shows its trials\n")


def test_an_end_of_a_name_means_it_where_no_other_ends_so(tree: Path) -> None:
    runs = find_runs(tree)
    assert name_of("loss", runs) == "test.loss"
    assert name_of("train.loss", runs) == "train.loss"
    assert name_of("seed", runs) == "train.seed"
    fresh = find_runs(tree)
    for run in fresh:
        run.settings["data.seed"] = 3
    with pytest.raises(SettingError, match=r"seed: could be data\.seed, train\.seed"):
        name_of("seed", fresh)
    assert not Condition("test.loss", "<", "1").holds(runs[0]), "a run without a loss"


def test_differing_settings_are_those_of_runs_that_have_them(tree: Path) -> None:
    runs = find_runs(tree)
    assert differing(runs) == ["model", "model.hidden", "optimizer.learning_rate"]
    assert [run.name for run in sort_runs(runs, "model.hidden")] == ["d", "b", "c", "e", "a"]
    assert heads(["run", "optimizer.learning_rate", "train.seed", "data.seed"]) == {
        "run": "run", "optimizer.learning_rate": "learning_rate", "train.seed": "train.seed", "data.seed": "data.seed",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("seconds", 0.25, "0.25 s"),
        ("seconds", 59.4, "59 s"),
        ("seconds", 59.9, "1:00"),
        ("seconds", 7325, "2:02:05"),
        ("test.loss", 0.123456789, "0.12346"),
        ("model.hidden", [3, 5], "[3,5]"),
        ("train.epochs", None, "null"),
        ("data.standardize", True, "true"),
        ("started", "soon", "soon"),
        ("commit", "0123456789abcdef", "0123456789"),
    ],
)
def test_values_are_short(name: str, value: object, expected: str) -> None:
    assert short(name, value) == expected


def test_listing_opens_three_files_of_a_run_that_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        folder = write_run(tmp_path / str(number), seed=number)
        (folder / "checkpoints").mkdir()
    (tmp_path / "0" / "result.json").unlink()
    opened: list[str] = []
    really_open = io.open

    def noting_open(file: object, *arguments: object, **named: object) -> object:
        if str(file).startswith(str(tmp_path)):
            opened.append(Path(str(file)).name)
        return really_open(file, *arguments, **named)  # type: ignore[call-overload]

    # Not an audit hook, which would stay for as long as the process and be asked at each `f_code`, for all later tests.
    with monkeypatch.context() as patch:
        for module in (builtins, io):
            patch.setattr(module, "open", noting_open)
        found = find_runs(tmp_path)
        differing(found)
    assert len(found) == 20
    counts = {name: opened.count(name) for name in set(opened)}
    assert counts == {"config.yaml": 20, "manifest.json": 20, "result.json": 20, "metrics.jsonl": 1}, "one has no result"


def test_looking_loads_nothing_that_runs_need(tree: Path) -> None:
    program = (
        "import sys; from tfexp import runs; runs.main(['.']); runs.main(['compare', 'c', 'd', 'e']);"
        "runs.main(['show', 'c']);"
        "heavy = {'ray', 'jax', 'grpc', 'hydra', 'omegaconf', 'matplotlib', 'sklearn', 'PIL'} & set(sys.modules);"
        "ops = [name for name in sys.modules if name.startswith(('tfexp.ops.nn', 'tfexp.experiment.build'))];"
        "sys.exit(f'{heavy} {ops}' if heavy or ops else 0)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", ["runs . --json", "symbols tf.math"])
def test_a_pipe_that_closes_is_no_error(words: str, tree: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *f"tfexp.{words}".split()]
    done = subprocess.run(command, cwd=tree, env=environment, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
