"""What a run says that does not come to its end, and what it leaves for going on."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import tfexp as tf
from tfexp.experiment.errors import FULL, Diverged, ExperimentError, Interrupted
from tfexp.experiment.outputs import RunFiles

__all__ = ["diverged", "go_on", "input_failed", "says_when_full", "stopped"]

F = TypeVar("F", bound=RunFiles)
P = ParamSpec("P")
R = TypeVar("R")


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


def says_when_full(run: Callable[Concatenate[Any, F, P], R]) -> Callable[Concatenate[Any, F, P], R]:
    """For a method whose first argument is a run's files: a full disk ends it in ExperimentError, with what is saved."""

    @functools.wraps(run)
    def told(self: Any, files: F, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return run(self, files, *args, **kwargs)
        except BrokenPipeError as error:  # of `… | head`
            raise _full(str(error.strerror), "standard output", files, "send it elsewhere") from error
        except OSError as error:
            if error.errno not in FULL:
                raise
            what = error.filename or f"a file in {files.path}, or standard output,"
            raise _full(os.strerror(error.errno), what, files) from error
        except tf.errors.OpError as error:  # the runtime's own files: events, checkpoints
            reason = next((os.strerror(code) for code in FULL if error.message.endswith(os.strerror(code))), None)
            if reason is None:
                raise
            raise _full(reason, error.message.removesuffix(reason).rstrip(" ;:"), files) from error

    return told


def _full(reason: str, what: Any, files: RunFiles, remedy: str = "make room") -> ExperimentError:
    checkpoint = tf.train.latest_checkpoint(str(files.checkpoints))
    problem = f"{what} cannot be written: {reason}"
    if files.result.is_file():
        return ExperimentError(f"{problem}\nthe run has ended, its numbers are in {files.result}")
    if checkpoint is None:
        return ExperimentError(f"{problem}\nnothing was saved yet: {remedy}, and run it again")
    return ExperimentError(f"{problem}\nsaved in {checkpoint}; {remedy}, and {go_on(files.path)}")
