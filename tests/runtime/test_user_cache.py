"""The folder of what was compiled stays within its bound."""

from __future__ import annotations

import os
from pathlib import Path

from tfexp.runtime.user_cache import prune


def file(path: Path, size: int, written: int) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(size))
    os.utime(path, (written, written))
    return path


def test_the_oldest_goes_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    old = [file(tmp_path / "a.py", 10, 1), file(tmp_path / "kept" / "a.loop-1.nbc", 300, 20)]
    older = [file(tmp_path / "b.py", 10, 2), file(tmp_path / "kept" / "b.loop-1.nbc", 300, 10)]
    new = [file(tmp_path / "c.py", 10, 30)]
    prune(tmp_path, 630)
    assert all(path.exists() for path in old + older + new)
    prune(tmp_path, 629)
    assert [path.exists() for path in older] == [False, False]
    assert all(path.exists() for path in old + new)
    prune(tmp_path, 0)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    prune(tmp_path / "none", 0)
    assert not list(tmp_path.iterdir())
