"""What happened in a sweep, in order: `journal.jsonl`, one JSON object per line, on the disk before anybody acts on it.

{"kind": "sweep", …}     what the sweep is: command, words, sweep, config_dir; the first line
{"kind": "planned", …}   a trial: number, point, varied, words, folder, config
{"kind": "started", …}   an attempt: trial, attempt, folder
{"kind": "rung", …}      a trial came to a rung of the halving: trial, step, value, and whether it goes on
{"kind": "ended", …}     an attempt: trial, attempt, status, numbers, seconds, message, hopeless
{"kind": "again", …}     a trial that failed is tried again, where the sweep allows for more now: trial
{"kind": "over"}         every trial is over
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.outputs import RunFiles
from tfexp.formats.bundle_files import sync_path

__all__ = ["Event", "Journal", "config_dir_of", "go_on"]

Event = dict[str, Any]
NAME = "journal.jsonl"


class Journal:
    """The journal of the sweep in `folder`, which no other process has meanwhile."""

    def __init__(self, folder: Path, descriptor: int, events: list[Event]) -> None:
        self.path = folder / NAME
        self.events = events
        """Those of earlier stays."""
        self._descriptor = descriptor

    @classmethod
    def create(cls, folder: Path) -> Journal:
        """Raises ExperimentError if the folder holds a sweep or a run already."""
        path = folder / NAME
        if RunFiles(folder).config.exists():
            raise ExperimentError(f"{folder} already holds a run: choose another hydra.sweep.dir")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        except FileExistsError as error:
            raise ExperimentError(
                f"{folder} already holds a sweep: choose another hydra.sweep.dir, or {go_on(folder)}"
            ) from error
        except OSError as error:
            raise ExperimentError(f"cannot write {path}: {error.strerror}") from error
        _lock(descriptor, folder)
        sync_path(str(folder))
        return cls(folder, descriptor, [])

    @classmethod
    def open(cls, folder: Path) -> Journal:
        """What an earlier stay left. A last line that is torn, because its process was killed, is taken away.

        Raises ExperimentError if there is no sweep, if it cannot be read or written, or if another process has it.
        """
        path = folder / NAME
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError as error:
            raise ExperimentError(f"{folder} is not a sweep's folder: it has no {NAME}") from error
        except OSError as error:
            raise ExperimentError(f"cannot write {path}: {error.strerror}") from error
        _lock(descriptor, folder)
        try:
            return cls(folder, descriptor, _whole_lines(path, descriptor))
        except BaseException:
            os.close(descriptor)
            raise

    def add(self, events: Iterable[Event]) -> None:
        """Returns when they are on the disk. Raises ExperimentError if they cannot get there."""
        text = "".join(json.dumps(event, allow_nan=False) + "\n" for event in events).encode()
        try:
            while text:
                text = text[os.write(self._descriptor, text) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise ExperimentError(
                f"cannot write {self.path}: {error.strerror}\nonce that is put right, {go_on(self.path.parent)}"
            ) from error

    def close(self) -> None:
        os.close(self._descriptor)


def _whole_lines(path: Path, descriptor: int) -> list[Event]:
    """The events of the lines that are whole; what is left of one that is not is cut off."""
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    events = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            event = json.loads(line)
        except ValueError as error:
            raise ExperimentError(f"{path}, line {number}: {error}") from error
        if not isinstance(event, dict):
            raise ExperimentError(f"{path}, line {number}: not an event of a sweep: it must have a kind")
        events.append(event)
    if not events or events[0].get("kind") != "sweep":
        raise ExperimentError(f"{path} does not say what the sweep is: it was ended before its first trial; begin again")
    if len(whole) < len(text):  # of a sweep, and of no other file
        os.ftruncate(descriptor, len(whole))
    return events


def config_dir_of(folder: Path) -> str | None:
    """The folder of choices (`--config-dir`) that the sweep in `folder` was begun with, None where none can be told:
    `Journal.open` says what is wrong.
    """
    try:
        with (folder / NAME).open(encoding="utf-8") as file:
            about = json.loads(file.readline())
    except (OSError, ValueError):
        return None
    return about.get("config_dir") if isinstance(about, dict) else None


def go_on(folder: Path) -> str:
    return f"go on with: python -m tfexp -m sweep.resume={shlex.quote(str(folder))}"


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise ExperimentError(f"the sweep in {folder} is in use by another process") from error
