"""A run's folder: what stands where, who may write there, and how files get there whole.

config.yaml     the composed configuration: enough to run it again
overrides.yaml  what the command line said
manifest.json   versions, git state, seeds, host, threads, data, command, process; how the run ended
uncommitted.patch   what the working tree had beyond the commit, where it had something
metrics.jsonl   one line per evaluation; no wall-clock, so equal runs have equal files
events.*        for TensorBoard
checkpoints/    `tf.train.Saver`'s files; with train.keep_best, those of the lowest test loss in checkpoints/best/
graph.pbtxt     the graph
step_stats.pb   with device.placement=dynamic: what a step's nodes took, for the next run's device.costs
result.json     the final numbers, and apart from them how long it took
loss.png        the curves
confusion.csv   where classes are chosen: what the test rows of each class were taken for
confusion.png   the picture of it
tasks.json      where each task of a cluster was
logs/           what each task of a cluster printed
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from tfexp.experiment.errors import ExperimentError

__all__ = ["RunFiles", "RunFolder", "is_sweep", "make_unique", "require_run"]


class RunFiles:
    """The files of the run in the folder `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.yaml"
        self.overrides = path / "overrides.yaml"
        self.manifest = path / "manifest.json"
        self.patch = path / "uncommitted.patch"
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.best = path / "checkpoints" / "best"
        self.result = path / "result.json"
        self.plot = path / "loss.png"
        self.confusion = path / "confusion.csv"
        self.confusion_plot = path / "confusion.png"
        self.tasks = path / "tasks.json"
        self.logs = path / "logs"
        self.traces = path / "traces"
        self.step_stats = path / "step_stats.pb"

    def write_text(self, path: Path, text: str) -> None:
        """Replace the file as a whole: whoever reads it, whenever, sees the old text or the new one."""
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)

    def write_bytes(self, path: Path, content: bytes) -> None:
        """The same for bytes."""
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_bytes(content)
        os.replace(temporary, path)

    def write_json(self, path: Path, content: Any) -> None:
        self.write_text(path, json.dumps(content, indent=2, allow_nan=False, default=str) + "\n")


class RunFolder(RunFiles):
    """One run's folder, locked by this process until `close` (or the process's end).

    Two processes never write in one folder, and a new run never begins in a folder that holds one; the process that holds
    the lock may let one other, a task of its own, write.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._lock = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise ExperimentError(f"{path} is in use by another process") from error

    @classmethod
    def create(cls, path: Path, *, exactly: bool) -> RunFolder:
        """A folder for a new run: `path`, or unless it must be `exactly` that, the first free `path-2`,
        `path-3`…

        Raises ExperimentError if it cannot be written or, when `exactly`, already holds a run or a sweep.
        """
        if exactly and is_sweep(path):
            raise ExperimentError(f"{path} already holds a sweep: choose another hydra.run.dir")
        try:
            if exactly:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path = make_unique(path)
            folder = cls(path)
            try:
                folder.config.open("x").close()  # of processes that race for the folder, one gets past here
                folder.checkpoints.mkdir()
            except BaseException:
                folder.close()
                raise
        except FileExistsError as error:
            if not path.is_dir():
                raise ExperimentError(f"{path} is in the way of the run's folder: it is not a folder") from error
            raise ExperimentError(
                f"{path} already holds a run ({Path(error.filename).name}): choose another hydra.run.dir, or go on "
                f"with resume={path}"
            ) from error
        except OSError as error:
            raise ExperimentError(f"cannot make the run's folder {path}: {error.strerror}") from error
        return folder

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """The folder of an earlier run. Raises ExperimentError if there is none at `path` or it cannot be
        written.
        """
        require_run(path, f"go on with python -m tfexp -m sweep.resume={path}")
        if not os.access(path, os.W_OK):
            raise ExperimentError(f"{path} cannot be written: {os.strerror(13)}")
        return cls(path)

    def close(self) -> None:
        os.close(self._lock)


def is_sweep(path: Path) -> bool:
    return (path / "journal.jsonl").is_file()


def require_run(path: Path, of_sweeps: str = "give the folder of one of its trials") -> None:
    """Raise ExperimentError unless `path` is a run's folder; `of_sweeps` says what to do with a sweep's."""
    if RunFiles(path).config.is_file():
        return
    if is_sweep(path):
        raise ExperimentError(f"{path} is a sweep's folder: {of_sweeps}")
    raise ExperimentError(f"{path} is not a run's folder: it has no config.yaml")


def make_unique(path: Path) -> Path:
    """Make the folder `path`, or the first of `path-2`, `path-3`… that is not there yet; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, candidate = 1, path
    while True:
        try:
            candidate.mkdir()
            return candidate
        except FileExistsError:
            number += 1
            candidate = path.with_name(f"{path.name}-{number}")
