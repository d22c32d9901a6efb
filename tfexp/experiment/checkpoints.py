"""A run's checkpoints: only finite values are saved, and restoring says what is wrong with which file."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator

import numpy as np

import tfexp as tf
from tfexp.experiment.build import Program
from tfexp.experiment.errors import Diverged, ExperimentError
from tfexp.experiment.outputs import RunFiles

__all__ = ["Checkpoints", "last_checkpoint"]


def last_checkpoint(files: RunFiles) -> str | None:
    """The newest checkpoint, None if there is none. Raises ExperimentError if the file that names it is damaged."""
    try:
        found: str | None = tf.train.latest_checkpoint(str(files.checkpoints))
    except ValueError as error:
        written = [path.stem for path in files.checkpoints.glob("*.index")]
        newest = max(written, key=lambda name: int(name.rpartition("-")[2]), default="model.ckpt-<step>")
        raise ExperimentError(
            f"{files.checkpoints / 'checkpoint'} is damaged: it must name the newest checkpoint, "
            f'model_checkpoint_path: "{newest}"'
        ) from error
    return found


class Checkpoints:
    """The files `checkpoints/model.ckpt-<step>` of one run."""

    def __init__(self, files: RunFiles, program: Program) -> None:
        self._files, self._folder = files, files.checkpoints
        self._program = program
        self.last = last_checkpoint(files)

    def newest(self) -> Checkpoints:
        """The same, as they are now."""
        return Checkpoints(self._files, self._program)

    def save(self, session: tf.Session, step: int) -> None:
        """Save all variables. Raises Diverged, and saves nothing, if one holds a number that is not finite."""
        for name, value in self.values(session).items():
            if np.issubdtype(value.dtype, np.floating) and not np.isfinite(value).all():
                raise Diverged(step, f"the variable {name} is not finite after step {step}")
        self.last = self._program.saver.save(session, str(self._folder / "model.ckpt"), global_step=step)

    def step(self) -> int:
        """The step that the last checkpoint is of. Raises ExperimentError as `restore` does."""
        with self.restoring() as path:
            return int(tf.train.load_variable(path, "global_step"))

    def restore(self, session: tf.Session) -> int:
        """Restore the last checkpoint; returns its step. Raises ExperimentError naming the file and the
        tensor.
        """
        with self.restoring() as path:
            self._program.saver.restore(session, path)
        self.adopt()
        return int(session.run(self._program.global_step))

    @contextlib.contextmanager
    def restoring(self) -> Iterator[str]:
        """A block that restores the checkpoint that it gets: its errors end in ExperimentError, unless a task was lost."""
        if self.last is None:
            raise ExperimentError(f"{self._folder} holds no checkpoint to resume from")
        try:
            yield self.last
        except (tf.errors.AbortedError, tf.errors.UnavailableError):
            raise  # a task was lost, which says nothing of the checkpoint
        except (tf.errors.OpError, ValueError) as error:
            message = error.message if isinstance(error, tf.errors.OpError) else str(error)
            # Saver puts advice for programmers before the error itself, the executor its nodes after it
            cause = message.rpartition("Original error:")[2].strip().splitlines()[0]
            raise ExperimentError(f"cannot resume from {self.last}: {cause}") from error

    def adopt(self) -> None:
        """Count the checkpoints that are there to those of which only the last are kept."""
        state = tf.train.get_checkpoint_state(str(self._folder))
        if state is not None:
            self._program.saver.recover_last_checkpoints(state.all_model_checkpoint_paths)

    def values(self, session: tf.Session) -> dict[str, np.ndarray]:
        """Every variable's value, in the order of the names."""
        variables = self._program.variables
        return dict(zip([v.op.name for v in variables], session.run(variables), strict=True))

    def digest(self, session: tf.Session) -> str:
        """SHA-256 of all variables' names, types, shapes and bytes."""
        sha = hashlib.sha256()
        for name, value in self.values(session).items():
            value = np.asarray(value)
            sha.update(f"{name} {value.dtype} {value.shape}\n".encode())
            sha.update(np.ascontiguousarray(value).tobytes())
        return sha.hexdigest()
