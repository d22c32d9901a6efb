"""How a run ended, in its manifest: `ending` has the status, the time, and what was said."""

from __future__ import annotations

import contextlib
import datetime
import json
from collections.abc import Iterator
from typing import Any

from tfexp.experiment.errors import Diverged, Interrupted
from tfexp.experiment.outputs import RunFiles

__all__ = ["Ending", "recorded"]


class Ending:
    """How a run that did not fail ended, once it has: the status of its result."""

    status = "finished"


@contextlib.contextmanager
def recorded(files: RunFiles, process: dict[str, Any]) -> Iterator[Ending]:
    """Within the block a run's stay happens; the manifest says afterwards how it ended (`ending`), if `process` wrote it.

    A stay that never began, because the run had ended before, leaves the manifest as it is.
    """
    ending = Ending()
    try:
        yield ending
    except BaseException as error:
        try:
            _note(files, process, _status(error), str(error) or type(error).__name__)
        except OSError as another:  # the disk is full, perhaps: what the run failed of is worth more
            error.add_note(f"how the run ended could not be written down: {another}")
        raise
    _note(files, process, ending.status, "")


def _status(error: BaseException) -> str:
    if isinstance(error, Diverged):
        return "diverged"
    return "interrupted" if isinstance(error, Interrupted | KeyboardInterrupt | SystemExit) else "failed"


def _note(files: RunFiles, process: dict[str, Any], status: str, message: str) -> None:
    if not files.manifest.exists():
        return
    try:
        manifest = json.loads(files.manifest.read_text(encoding="utf-8"))
    except ValueError:  # which ended the run that was to go on
        return
    if not isinstance(manifest, dict) or manifest.get("process") != process:
        return
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    files.write_json(files.manifest, {**manifest, "ending": {"status": status, "at": at, "message": message}})
