"""A run's folder runs itself again, and says number by number whether it came to the same, and what is not as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import numbers

from tfexp import reproduce
from tfexp.experiment.compare import compare, environment_differences, parting_step

LINE = ["data=line", "train.steps=40", "train.eval_every=10", "hydra.run.dir=run"]


@pytest.fixture
def again(cli: Callable, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str]]]:
    """`again("run", …)`: exit code and lines printed by `python -m tfexp.reproduce run …`."""

    def run(*words: str) -> tuple[int, list[str]]:
        capsys.readouterr()
        code = reproduce.main(list(words))
        captured = capsys.readouterr()
        return code, (captured.out + captured.err).splitlines()

    return run


def change(path: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def rows(lines: list[str]) -> dict[str, list[str]]:
    """The cells of the tables' rows by their first."""
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    return {row[0]: row[1:] for row in cells}


def test_numbers_agree_to_the_bit_one_by_one(cli: Callable, again: Callable, tmp_path: Path) -> None:
    assert cli(*LINE).code == 0
    code, lines = again("run", "--out", "run's own")
    assert (code, lines[-1]) == (0, "the numbers agree with run, to the bit")
    assert rows(lines)["variables"][0] == numbers(tmp_path / "run")["variables_sha256"][:12]
    assert {row[-1] for name, row in rows(lines).items() if name.startswith(("train.", "test.", "variables"))} == {
        "the same"
    }
    assert numbers(tmp_path / "run's own") == numbers(tmp_path / "run")
    assert not any("environment" in line for line in lines)


def test_what_differs_is_said_with_the_step_and_the_environment(cli: Callable, again: Callable, tmp_path: Path) -> None:
    assert cli(*LINE).code == 0
    run = tmp_path / "run"
    change(run / "result.json", lambda result: result["numbers"]["test"].update(loss=0.25))
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    records[2]["train"]["loss"] += 1e-9
    (run / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    code, lines = again("run")
    assert (code, lines[-1]) == (1, "the numbers differ from run: 1 of 13")
    assert lines[-2] == "the evaluations are equal up to the one at step 20, which is the first that differs"
    assert lines.count("nothing that the manifests record differs: versions, code, data, machine, threads") == 1
    assert (rows(lines)["test.loss"][0], rows(lines)["test.loss"][-1]) == ("0.25", "differs")

    def older(manifest: dict[str, Any]) -> None:
        manifest["versions"]["numpy"] = "1.26.4"
        manifest["code"]["tfexp"] = "ab" * 32
        manifest["git"] = {"commit": "c" * 40, "patch": {"file": "uncommitted.patch", "sha256": "d" * 64, "bytes": 7}}

    change(run / "manifest.json", older)
    lines = again("run")[1]
    assert rows(lines)["versions.numpy"][0] == "1.26.4"
    assert rows(lines)["code.tfexp"][0] == "ab" * 6
    assert f"the code of then: git checkout {'c' * 40} && git apply {run}/uncommitted.patch" in lines

    (run / "manifest.json").write_text("{")
    code, lines = again("run")
    assert code == 1
    assert any(line.startswith("run/manifest.json cannot be read, so nothing is known of its env") for line in lines)


def test_a_run_that_diverged_diverges_again(cli: Callable, again: Callable) -> None:
    assert cli(*LINE, "optimizer.learning_rate=1000").code == 1
    code, lines = again("run")
    assert code == 0, lines
    assert any(line.startswith("the loss is") or "not finite" in line or " is inf after" in line for line in lines)
    assert rows(lines)["status"] == ["diverged", "", "", "the same"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere"], 1, "tfexp: nowhere is not a run's folder: it has no config.yaml"),
        (["run", "--out", "run"], 1, "tfexp: run already holds a run (config.yaml): choose another hydra.run.dir, or "),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], code: int, message: str, cli: Callable, again: Callable) -> None:
    cli(*LINE)
    found, lines = again(*words)
    assert found == code
    assert lines[-1].startswith(message)


def test_settings_know_whether_they_repeat(cli: Callable, again: Callable, tmp_path: Path) -> None:
    assert cli(*LINE, "input=queue", "input.threads=2").code == 0
    code, lines = again("run", "--spread", "0.5")
    assert (code, lines[-1]) == (0, "the numbers agree with run, within 50%")
    assert "variables" not in rows(lines)
    assert rows(lines)["test.loss"][-1].startswith(("within ", "the same"))

    change(tmp_path / "run" / "result.json", lambda result: result["numbers"]["train"].update(r2=-7))
    code, lines = again("run")
    assert code == 1
    assert rows(lines)["train.r2"][-1].startswith("more than 0.")


def test_the_tolerance_is_a_part_of_the_way_that_a_metric_went() -> None:
    records = [{"test": {"loss": loss}} for loss in (5.0, 2.0, 1.0)]
    before, after = {"step": 3, "test": {"loss": 1.0}}, {"step": 4, "test": {"loss": 1.3}}
    (found,) = compare(before, after, records, 0.1)
    assert (found.name, found.tolerance, found.agrees) == ("test.loss", 0.4, True)
    assert not compare(before, after, records, 0.05)[0].agrees
    assert [one.agrees for one in compare(before, after, records, None)] == [False, False]
    (absent,) = compare({"test": {"loss": 1.0}}, {}, records, 0.1)
    assert not absent.agrees


def test_evaluations_part_where_the_first_differs() -> None:
    before = [{"step": step, "test": {"loss": 1.0}} for step in (0, 10, 20)]
    assert parting_step(before, before[:2]) is None
    assert parting_step(before, [*before[:1], {"step": 10, "test": {"loss": 1.5}}]) == 10


def test_the_environment_is_compared_where_both_know_it() -> None:
    before = {"versions": {"numpy": "1"}, "git": None, "data": {"sha256": "a"}, "started": "then", "start": {"step": 3}}
    after = {"versions": {"numpy": "2"}, "git": {"commit": "c"}, "data": {"sha256": "a"}, "code": {}, "started": "now"}
    after["start"] = {"step": 5}  # the run that it began with went on meanwhile
    assert environment_differences(before, after) == [("versions.numpy", "1", "2"), ("start.step", 3, 5)]
