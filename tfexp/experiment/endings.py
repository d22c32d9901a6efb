"""What a run says that does not come to its end, and what it leaves for going on."""

from __future__ import annotations

import shlex
from pathlib import Path

from tfexp.experiment.errors import Diverged, ExperimentError, Interrupted
from tfexp.experiment.outputs import RunFiles

__all__ = ["diverged", "go_on", "input_failed", "stopped"]


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
