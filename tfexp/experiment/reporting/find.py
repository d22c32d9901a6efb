"""The runs of a tree of folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tfexp.experiment.reporting.run import Run, is_run, read_run

__all__ = ["find_runs"]

_INSIDE = {"checkpoints", "logs", "traces"}
"""Folders of a run in which no other run is."""


def find_runs(root: Path) -> list[Run]:
    """The runs in `root` and below it, in the order of their paths; links and hidden folders are not followed.

    Raises OSError if `root` cannot be read; folders below it that cannot are passed over.
    """
    return [read_run(path, "." if path == root else str(path.relative_to(root))) for path in sorted(_folders(root, True))]


def _folders(path: Path, first: bool = False) -> Iterator[Path]:
    try:
        with os.scandir(path) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        if first:
            raise
        return
    here = is_run({name for name, _ in found})
    if here:
        yield path
    for name, is_folder in found:
        if is_folder and not name.startswith(".") and not (here and name in _INSIDE):
            yield from _folders(path / name)
