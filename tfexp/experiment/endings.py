"""What a run says that does not come to its end, what it leaves for going on, and how its folder tells of the end."""

from __future__ import annotations

import contextlib
import datetime
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfexp.experiment.errors import Diverged, ExperimentError, Interrupted
from tfexp.experiment.outputs import RunFiles

__all__ = ["Ending", "diverged", "go_on", "input_failed", "recorded", "stopped"]


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
    manifest = json.loads(files.manifest.read_text(encoding="utf-8"))
    if manifest.get("process") != process:
        return
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    files.write_json(files.manifest, {**manifest, "ending": {"status": status, "at": at, "message": message}})


def go_on(folder: Path) -> str:
    return f"go on with: python -m tfexp resume={shlex.quote(str(folder))}"


def stopped(signal_number: int, step: int, total: int, checkpoint: str, folder: Path) -> Interrupted:
    """A signal asked for the end, and everything up to `step` is saved."""
    return Interrupted(signal_number, f"stopped after step {step} of {total}, saved in {checkpoint}\n{go_on(folder)}")


def diverged(error: Diverged, files: RunFiles, checkpoint: str | None, learning_rate: float) -> Diverged:
    """Record the end, and say what to try."""
    files.write_json(files.result, {"numbers": {"status": "diverged", "step": error.step}})
    kept = f"the last good checkpoint is {checkpoint}" if checkpoint else "nothing was saved"
    return Diverged(error.step, f"{error}; {kept}. A lower optimizer.learning_rate than {learning_rate:g} may help")


def input_failed(problem: ExperimentError, files: RunFiles, checkpoint: str | None) -> ExperimentError:
    """The batches stopped coming: what is wrong, and from where the run can go on once it is put right."""
    return ExperimentError(f"{problem}\nsaved in {checkpoint}\n{go_on(files.path)}" if checkpoint else str(problem))
