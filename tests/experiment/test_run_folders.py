"""Who may write in a run's folder, and that nothing there is ever half a file."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tfexp.experiment.cli import settings_of_run
from tfexp.experiment.compare import numbers_of
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.sweeps.journal import Journal


def want(path: Path) -> RunFolder | str:
    try:
        return RunFolder.create(path, exactly=True)
    except ExperimentError as error:
        return str(error)


def claim(path: str) -> str:
    return str(RunFolder.create(Path(path), exactly=False).path)


def test_runs_that_start_in_the_same_second_get_folders_of_their_own(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        paths = pool.map(claim, [str(tmp_path / "day" / "12-00-00-linreg")] * 50, chunksize=1)
    names = ["12-00-00-linreg", *(f"12-00-00-linreg-{number}" for number in range(2, 51))]
    assert sorted(Path(path).name for path in paths) == sorted(names)


def test_of_those_that_want_one_folder_at_once_one_gets_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(want, [tmp_path / "run"] * 8))
    (folder,) = [path for path in ended if isinstance(path, RunFolder)]
    assert all(
        "already holds a run" in error or "in use by another process" in error for error in ended if error is not folder
    )
    folder.close()


def test_a_named_folder_holds_one_run(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", exactly=True)
    folder.close()
    with pytest.raises(ExperimentError) as raised:
        RunFolder.create(tmp_path / "run", exactly=True)
    assert str(raised.value) == (
        f"{tmp_path / 'run'} already holds a run (config.yaml): choose another hydra.run.dir, or go on with "
        f"resume={tmp_path / 'run'}"
    )


def test_a_sweeps_folder_holds_no_run_of_its_own_and_a_runs_no_sweep(tmp_path: Path) -> None:
    Journal.create(tmp_path).close()
    with pytest.raises(ExperimentError, match=r"already holds a sweep: choose another hydra\.run\.dir"):
        RunFolder.create(tmp_path, exactly=True)
    RunFolder.create(tmp_path / "run", exactly=True).close()
    with pytest.raises(ExperimentError, match=r"already holds a run: choose another hydra\.sweep\.dir"):
        Journal.create(tmp_path / "run")


@pytest.mark.parametrize(
    ("inside", "message"),
    [(None, "is not a run's folder"), ("journal.jsonl", "is a sweep's folder: give the folder of one of its trials")],
)
def test_what_is_no_runs_folder_is_said(inside: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "there"
    if inside is None:
        path.touch()
    else:
        path.mkdir()
        (path / inside).touch()
    for reads in (numbers_of, settings_of_run):
        with pytest.raises(ExperimentError, match=message):
            reads(path)


def test_a_folder_with_other_things_in_it_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    RunFolder.create(tmp_path, exactly=True).close()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_two_runs_never_write_in_one_folder(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", exactly=True)
    with pytest.raises(ExperimentError, match="is in use by another process"):
        RunFolder.open(tmp_path / "run")
    folder.close()
    RunFolder.open(tmp_path / "run").close()


def test_a_text_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder.create(tmp_path / "run", exactly=True)
    folder.write_text(folder.config, "old")

    def torn(*arguments: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr("os.replace", torn)
        with pytest.raises(OSError, match="disk is full"):
            folder.write_text(folder.config, "new")
    assert folder.config.read_text() == "old"
    folder.write_text(folder.config, "new")
    assert folder.config.read_text() == "new"
    folder.close()
