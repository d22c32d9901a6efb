"""The `checkpoint` file: TensorFlow's text, both ways, replaced in one step."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numpy as np
import pytest

from tests.golden import format_cases as cases
from tests.golden import oracle
from tfexp.core import errors
from tfexp.formats.bundle_writer import BundleWriter
from tfexp.formats.checkpoint_state import (
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)


def save(prefix: Path) -> str:
    with BundleWriter(prefix) as bundle:
        bundle.add("x", np.zeros(3))
    return str(prefix)


def text(folder: Path) -> str:
    return (folder / "checkpoint").read_text(encoding="utf-8")


def test_file_is_tensorflows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    update_checkpoint_state("run", "run/模型-3", ["run/模型-1", "/elsewhere/模型-2", "run/模型-3"])
    assert text(tmp_path / "run") == (cases.FORMATS / "checkpoint").read_text(encoding="utf-8")
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["checkpoint"]


def test_reads_tensorflows() -> None:
    state = get_checkpoint_state(cases.FORMATS)
    assert state is not None
    assert state.model_checkpoint_path == str(cases.FORMATS / "模型-3")
    assert list(state.all_model_checkpoint_paths) == [
        str(cases.FORMATS / "模型-1"),
        "/elsewhere/模型-2",
        str(cases.FORMATS / "模型-3"),
    ]


@pytest.fixture(autouse=True)
def _log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of the test's own: TensorFlow, where it is in the process, has taken the real one."""
    monkeypatch.setattr("tfexp.formats.checkpoint_state._log", logging.getLogger("tfexp.test"))


FOLDERS = [".", "sub", "./sub", "ABSOLUTE", "ABSOLUTE/sub"]
MODELS = ["ABSOLUTE/m-1", "m-1", "sub/m-1", "./sub/m-1", "ABSOLUTE/sub/m-1", "../m"]


@pytest.mark.skipif(not oracle.is_installed(), reason="compares with TensorFlow live")
@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("model", MODELS)
def test_paths_are_tensorflows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, model: str) -> None:
    tf = oracle.tensorflow()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    folder, model = (p.replace("ABSOLUTE", str(tmp_path)) for p in (folder, model))
    for older in (None, [model], ["m-0", model], ["m-0"], [f"{tmp_path}/sub/m-0", model]):
        tf.train.update_checkpoint_state(folder, model, older and list(older))
        expected = text(Path(folder))
        update_checkpoint_state(folder, model, older)
        assert text(Path(folder)) == expected


@pytest.mark.parametrize("folder", ["sub", "ABSOLUTE/sub"])
@pytest.mark.parametrize("in_folder", ["sub/m", "ABSOLUTE/sub/m"])
def test_relative_paths_outlive_a_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, in_folder: str) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "sub" / "m-2")
    folder, in_folder = (p.replace("ABSOLUTE", str(tmp_path)) for p in (folder, in_folder))
    if os.path.isabs(folder) and not os.path.isabs(in_folder):
        in_folder = "m"  # a relative path goes with an absolute folder only if it is relative to that
    update_checkpoint_state(folder, f"{in_folder}-2", [f"{in_folder}-1", f"{in_folder}-2"], save_relative_paths=True)
    assert text(Path(folder)) == (
        'model_checkpoint_path: "m-2"\nall_model_checkpoint_paths: "m-1"\nall_model_checkpoint_paths: "m-2"\n'
    )
    (tmp_path / "sub").rename(tmp_path / "moved")
    assert latest_checkpoint("moved") == "moved/m-2"
    assert latest_checkpoint(tmp_path / "moved") == str(tmp_path / "moved" / "m-2")


def test_times() -> None:
    state = generate_checkpoint_state_proto("/d", "/d/m-1", ["/d/m-1"], [1.5], 0.5)
    assert list(state.all_model_checkpoint_timestamps) == [1.5] and state.last_preserved_timestamp == 0.5
    with pytest.raises(
        ValueError, match=r"must match checkpoint paths \(got paths \['/d/m-1'\] and timestamps \[1.5, 2\]\)"
    ):
        generate_checkpoint_state_proto("/d", "/d/m-1", ["/d/m-1"], [1.5, 2])


def test_latest_needs_its_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert latest_checkpoint(tmp_path) is None
    prefix = save(tmp_path / "m-7")
    update_checkpoint_state(tmp_path, prefix, latest_filename="state")
    assert latest_checkpoint(tmp_path) is None
    assert latest_checkpoint(tmp_path, "state") == prefix
    remove_checkpoint(prefix)
    assert latest_checkpoint(tmp_path, "state") is None
    assert f"Couldn't match files for checkpoint {prefix}" in caplog.text


@pytest.mark.parametrize(
    "content", [b"hello {", b"model_checkpoint_path: 3", b'unknown: "x"', b'model_checkpoint_path: "\xff"']
)
def test_a_file_of_another_kind_is_ignored_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    (tmp_path / "checkpoint").write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert get_checkpoint_state(tmp_path) is None
    assert f"{tmp_path}/checkpoint: Checkpoint ignored: " in caplog.text


@pytest.mark.parametrize("content", ["", 'all_model_checkpoint_paths: "x"'])
def test_a_state_without_a_model_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "checkpoint").write_text(content)
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from "):
        get_checkpoint_state(tmp_path)


def test_misuse_and_missing_folders(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        update_checkpoint_state(tmp_path, str(tmp_path / "checkpoint"))
    with pytest.raises(errors.NotFoundError, match="none/checkpoint; No such file or directory"):
        update_checkpoint_state(tmp_path / "none", "m")
    assert not list(tmp_path.iterdir())


def test_a_failed_update_leaves_the_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update_checkpoint_state(tmp_path, str(tmp_path / "m-1"))
    before = text(tmp_path)

    def refused(*_: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refused)
    with pytest.raises(errors.PermissionDeniedError):
        update_checkpoint_state(tmp_path, str(tmp_path / "m-2"))
    assert text(tmp_path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint"]


def test_exists_mtimes_remove(tmp_path: Path) -> None:
    prefix, other = save(tmp_path / "m-1"), save(tmp_path / "m-10")
    Path(f"{prefix}.meta").write_bytes(b"")
    assert checkpoint_exists(prefix) and checkpoint_exists(str(tmp_path / "m*")) and not checkpoint_exists(f"{prefix}2")
    os.utime(f"{prefix}.index", (5, 7))
    assert get_checkpoint_mtimes([prefix, f"{prefix}2"]) == [7.0]
    remove_checkpoint(prefix)
    remove_checkpoint(prefix)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m-10.data-00000-of-00001", "m-10.index"]
    assert checkpoint_exists(other)
