"""`python -m tfexp.new` writes an experiment that runs at once, from its own folder, and keeps to the conformance suite."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from run_files import numbers

from tfexp import __main__ as command
from tfexp import new
from tfexp.experiment import cli as runner_cli
from tfexp.experiment import runner


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(runner, "draw", lambda *arguments: None)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "experiments":
            del sys.modules[name]


def test_it_runs_at_once(cli: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new.main(["steep_hills"]) == 0
    said = capsys.readouterr().out
    folder = Path("experiments") / "steep_hills"
    files = ["README.md", "conf/experiment/steep_hills.yaml", "model.py", "test_steep_hills.py"]
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) == files
    assert all(f"wrote {folder / file}" in said for file in files)
    assert "python -m tfexp experiment=steep_hills" in said

    readme = (folder / "README.md").read_text()
    first, *others = [line for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) for line in block.splitlines()]
    ended = cli(*shlex.split(first.removeprefix("python -m tfexp ")), "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["test"]["accuracy"] > 0.95, "as its README says"
    assert "SteepHills on Digits" in ended.out
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert config["model"] == {"target": "experiments.steep_hills.model:SteepHills", "width": 32}

    for line in others:
        if line.startswith("python -m tfexp ") and not {"cluster=2workers", "-m"} & set(line.split()[3:]):
            ended = cli(*shlex.split(line.removeprefix("python -m tfexp ")), "train.steps=3", "train.eval_every=0")
            assert ended.code == 0, f"{line}\n{ended.err}"
    (made,) = (tmp_path / "outputs").glob("*/*-steep_hills*")
    assert made.is_dir(), "the folder of a run is named after the experiment"
    assert "steep_hills" in cli("--help").out
    assert "did you mean 'steep_hills'" in cli("experiment=steep_hils").err
    assert cli("--cfg", "job", "experiment=steep_hills").code == 0


def test_its_model_keeps_to_the_suite(tmp_path: Path) -> None:
    assert new.main(["plain"]) == 0
    spec = importlib.util.spec_from_file_location("test_plain", tmp_path / "experiments" / "plain" / "test_plain.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite = module.TestPlain()
    suite.test_its_settings_reach_other_processes()
    suite.test_its_graph_takes_any_number_of_rows()
    assert suite.settings().model.width == 32


def test_what_is_there_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert new.main(["mine"]) == 0
    path = Path("experiments/mine/model.py")
    path.write_text("mine = True\n")
    capsys.readouterr()
    assert new.main(["mine"]) == 1
    assert capsys.readouterr().err == "tfexp: experiments/mine is there already: choose another name\n"
    assert path.read_text() == "mine = True\n"


@pytest.mark.parametrize("name", ["My", "two words", "a-b", "class", "../up", "1st", ""])
def test_a_name_that_cannot_be_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new.main([name]) == 2
    assert capsys.readouterr().err.startswith(f"tfexp: '{name}' cannot name an experiment")
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_ours_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert new.main(["digits_cnn"]) == 2
    assert "experiment=digits_cnn is there already" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("experiments").write_text("in the way")
    assert new.main(["mine"]) == 1
    assert capsys.readouterr().err.startswith("tfexp: cannot write experiments/mine: ")


def test_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert new.main([]) == 2
    assert "usage: python -m tfexp.new NAME" in capsys.readouterr().err
    assert new.main(["--help"]) == 0
    assert "python -m tfexp experiment=my_experiment" in capsys.readouterr().out
    assert new.main(["one", "two"]) == 2


def test_as_a_command_it_finds_models_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A console script has its own folder first on the path, not the one that it is called in."""
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(tmp_path))])
    monkeypatch.setattr(runner_cli, "main", lambda: 7)
    assert command.main() == 7
    assert sys.path[0] == str(tmp_path)
