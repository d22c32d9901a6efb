"""Runs the command line in this process, in an empty folder of its own."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from thread_hosting import ThreadHosting

from tfexp.distributed import process_host, static_host
from tfexp.experiment import runner
from tfexp.experiment.cli import main
from tfexp.experiment.sweeps import command


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture
def pictures() -> None:
    """Asked for by the tests that look at a picture; the others do without: it takes most of a short run."""


@pytest.fixture
def tasks_are_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """`cluster.hosting=process` without the processes, whose starts take most of a short run's time.

    The tasks' servers, sessions and messages are those of any cluster. For runs that end well: when a task fails, the
    others' processes are killed, but threads may wait for its server.
    """
    for module in (process_host, static_host):
        monkeypatch.setattr(module, "ProcessHosting", lambda logs, targets=None: ThreadHosting(targets))


@pytest.fixture
def cli(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Ended]:
    """`cli("model=linreg", ...)`: what `python -m tfexp model=linreg ...` does, in `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)
    monkeypatch.setattr(logging.root, "handlers", [*logging.root.handlers])  # Hydra's --info sets up logging, to this stdout
    monkeypatch.setattr(logging.root, "level", logging.root.level)
    if "pictures" not in request.fixturenames:
        monkeypatch.setattr(runner, "draw", lambda *arguments: None)
        monkeypatch.setattr(runner, "draw_confusion", lambda *arguments: None)
        monkeypatch.setattr(command, "draw_sweep", lambda *arguments: False)
        monkeypatch.setattr(command, "draw_learning", lambda *arguments: False)

    def run(*words: str) -> Ended:
        capsys.readouterr()
        code = main(list(words))
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="module")
def _folders() -> dict[tuple[str, ...], Path]:
    return {}


@pytest.fixture
def ran(
    cli: Callable[..., Ended],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    _folders: dict[tuple[str, ...], Path],
) -> Callable[..., Path]:
    """`ran("one", "model=linreg", ...)`: the folder `one` with what these words leave; a module runs them once."""

    def run(name: str, *words: str) -> Path:
        folder = tmp_path / name
        if words in _folders:
            shutil.copytree(_folders[words], folder)
        else:
            ended = cli(*words, f"hydra.run.dir={name}")
            assert ended.code == 0, ended.err
            _folders[words] = shutil.copytree(folder, tmp_path_factory.mktemp("ran") / name)
        return folder

    return run
