"""Which code a run was made with: the commit, what was not committed as a patch, and digests of the sources themselves."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.schema import Settings

__all__ = ["digests", "git_state", "keep_patch"]

_LARGEST_PATCH = 5_000_000
"""Bytes. More than that is no change of code, and every run of a sweep would keep a copy."""
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""What git compares with where nothing is committed yet."""


def git_state() -> dict[str, Any] | None:
    """The commit of the repository that the run was started in, and what is not committed; None where there is none.

    Of the files that git does not know, those count that are Python.
    """
    done = _git("-c", "status.relativePaths=false", "status", "--porcelain=v2", "--branch", "--untracked-files=no")
    if done is None:
        return None
    lines = done.splitlines()
    facts = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# "))
    return {
        "commit": facts.get("branch.oid"),
        "branch": facts.get("branch.head"),
        "changed_files": [line.split(" ", 8)[-1] for line in lines if not line.startswith("# ")],
        "new_files": (_git("ls-files", "-z", "--others", "--exclude-standard", "--full-name", ":/*.py") or "").split("\0")[
            :-1
        ],
    }


def keep_patch(files: RunFiles, facts: dict[str, Any]) -> None:
    """Store what is not committed in the run's folder, and say so in `facts["git"]["patch"]`: "file", "sha256", "bytes".

    "file" is None for a patch that is too large to keep. A run that goes on with other changes keeps those too.
    """
    git = facts["git"]
    if git is None or not (git["changed_files"] or git["new_files"]):
        return
    patch = _patch(git)
    if patch is None:
        return
    digest = hashlib.sha256(patch).hexdigest()
    name = None
    if len(patch) <= _LARGEST_PATCH:
        kept, number = files.patch, 1
        while kept.exists() and kept.read_bytes() != patch:
            number += 1
            kept = files.patch.with_stem(f"{files.patch.stem}-{number}")
        name = kept.name
        kept.write_bytes(patch)
    git["patch"] = {"file": name, "sha256": digest, "bytes": len(patch)}


def digests(settings: Settings) -> dict[str, str]:
    """SHA-256 of the package's sources, and of each module elsewhere that a setting's class is from."""
    found = {"tfexp": _of_package()}
    for section in vars(settings).values():
        name = type(section).__module__
        path = getattr(sys.modules.get(name), "__file__", None)
        if name.partition(".")[0] != "tfexp" and path is not None and os.path.isfile(path):
            found[name] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return found


@functools.cache  # what was imported does not change with the files
def _of_package() -> str:
    root = Path(__file__).resolve().parents[1]
    sha = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        sha.update(f"{path.relative_to(root).as_posix()}\n".encode())
        sha.update(path.read_bytes())
    return sha.hexdigest()


def _patch(git: dict[str, Any]) -> bytes | None:
    """`git diff` against the commit, with the new files; git's own index stays as it is."""
    top = _git("rev-parse", "--show-toplevel")
    index = _git("rev-parse", "--path-format=absolute", "--git-path", "index")
    if top is None or index is None:
        return None
    base = _EMPTY_TREE if git["commit"] == "(initial)" else "HEAD"
    folder = top.rstrip("\n")
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "GIT_INDEX_FILE": f"{scratch}/index"}
        if os.path.exists(index.rstrip("\n")):
            shutil.copyfile(index.rstrip("\n"), f"{scratch}/index")
        if git["new_files"]:
            subprocess.run(
                ["git", "add", "--intent-to-add", "--", *git["new_files"]],
                cwd=folder, env=environment, capture_output=True, check=False,
            )  # fmt: skip
        command = ["git", "-c", "core.quotePath=true", "diff", "--no-ext-diff", "--no-color", "--binary", base]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 and done.stdout else None


def _git(*words: str) -> str | None:
    """What git prints in the working directory; None where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
