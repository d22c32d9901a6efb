"""What a run's folder keeps of the code: the commit, and what was not committed as a patch that brings it back."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tfexp.experiment import code_state

RUN = ["data=line", "train.steps=3"]


@pytest.fixture
def repository(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The working directory is a repository with one commit; `repository("status")` runs git in it."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    def git(*words: str, folder: Path = tmp_path) -> str:
        who = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True).stdout

    git("init", "-q")
    (tmp_path / ".gitignore").write_text("run*\n")
    (tmp_path / "net.py").write_text("width = 1\n")
    git("add", ".")
    git("commit", "-qm", "one")
    return git


def manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text()))


def test_a_clean_tree_has_a_commit_and_no_patch(repository: Callable, cli: Callable, tmp_path: Path) -> None:
    assert cli(*RUN, "hydra.run.dir=run").code == 0
    git = manifest(tmp_path / "run")["git"]
    assert git["commit"] == repository("rev-parse", "HEAD").strip()
    assert (git["changed_files"], git["new_files"], "patch" in git) == ([], [], False)
    assert not (tmp_path / "run" / "uncommitted.patch").exists()


def test_what_runs_leave_in_outputs_is_no_change_of_the_code(repository: Callable, cli: Callable, tmp_path: Path) -> None:
    """The tree has a folder `outputs` whose own .gitignore keeps out what is written there."""
    kept = Path(__file__).parents[2] / "outputs" / ".gitignore"
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / ".gitignore").write_text(kept.read_text())
    repository("add", "outputs")
    assert repository("diff", "--cached", "--name-only").split() == ["outputs/.gitignore"]
    repository("commit", "-qm", "two")
    (tmp_path / "outputs" / "mine.py").write_text("written = True\n")
    assert cli(*RUN, "hydra.run.dir=outputs/one").code == 0
    assert cli(*RUN, "hydra.run.dir=outputs/two").code == 0
    git = manifest(tmp_path / "outputs" / "two")["git"]
    assert (git["changed_files"], git["new_files"], "patch" in git) == ([], [], False)
    assert repository("status", "--porcelain") == ""


def test_the_patch_brings_the_working_tree_back(repository: Callable, cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("width = 2  # größer\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "neu é.py").write_text("depth = 3\n")
    (tmp_path / "table.csv").write_text("not code")
    index = (tmp_path / ".git" / "index").read_bytes()
    os.chdir(tmp_path / "pack")  # not at the top
    assert cli(*RUN, f"hydra.run.dir={tmp_path}/run").code == 0

    git = manifest(tmp_path / "run")["git"]
    assert (git["changed_files"], git["new_files"]) == (["net.py"], ["pack/neu é.py"])
    patch = tmp_path / "run" / "uncommitted.patch"
    kept = patch.read_bytes()
    assert git["patch"] == {"file": patch.name, "sha256": hashlib.sha256(kept).hexdigest(), "bytes": len(kept)}
    assert (tmp_path / ".git" / "index").read_bytes() == index, "git's own index is not touched"
    repository("worktree", "add", "-q", "run-copy", git["commit"])
    repository("apply", str(patch), folder=tmp_path / "run-copy")
    assert (tmp_path / "run-copy" / "net.py").read_text() == "width = 2  # größer\n"
    assert (tmp_path / "run-copy" / "pack" / "neu é.py").read_text() == "depth = 3\n"


def test_a_stay_with_other_changes_keeps_those_too(repository: Callable, cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("width = 2\n")
    assert cli(*RUN, "hydra.run.dir=run").code == 0
    assert cli("resume=run", "train.steps=4").code == 0
    (tmp_path / "net.py").write_text("width = 3\n")
    assert cli("resume=run", "train.steps=5").code == 0
    found = manifest(tmp_path / "run")
    patches = [stay["git"]["patch"]["file"] for stay in (found, *found["resumed"])]
    assert patches == ["uncommitted.patch", "uncommitted.patch", "uncommitted-2.patch"]
    assert "+width = 3" in (tmp_path / "run" / "uncommitted-2.patch").read_text()


def test_before_the_first_commit_everything_is_in_the_patch(
    cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    subprocess.run(["git", "init", "-q"], check=True)
    (tmp_path / "net.py").write_text("width = 1\n")
    assert cli(*RUN, "hydra.run.dir=run").code == 0
    assert manifest(tmp_path / "run")["git"]["commit"] == "(initial)"
    assert "+width = 1" in (tmp_path / "run" / "uncommitted.patch").read_text()


def test_a_patch_that_is_too_large_is_named_and_not_kept(
    repository: Callable, cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_state, "_LARGEST_PATCH", 10)
    (tmp_path / "net.py").write_text("width = 2\n")
    assert cli(*RUN, "hydra.run.dir=run").code == 0
    patch = manifest(tmp_path / "run")["git"]["patch"]
    assert patch["file"] is None
    assert patch["bytes"] > 10
    assert not (tmp_path / "run" / "uncommitted.patch").exists()


def test_sources_have_digests_those_of_ones_own_too(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = "from tfexp.experiment.models.linreg import Linreg\nclass Mine(Linreg):\n    pass\n"
    (tmp_path / "minenets.py").write_text(own)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cli(*RUN, "model=own", "model.target=minenets:Mine", "model.l2=0", "hydra.run.dir=run").code == 0
    code = manifest(tmp_path / "run")["code"]
    assert code["minenets"] == hashlib.sha256(own.encode()).hexdigest()
    assert len(code["tfexp"]) == 64
