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

__all__ = ["Checkpoints", "last_checkpoint", "one_checkpoint"]


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


def one_checkpoint(files: RunFiles, *, best: bool) -> str:
    """The newest checkpoint, or that of the lowest test loss. Raises ExperimentError if the run has none."""
    found: str | None = tf.train.latest_checkpoint(str(files.best)) if best else last_checkpoint(files)
    if found is None and not best:
        raise ExperimentError(f"{files.checkpoints} holds no checkpoint")
    if found is None:
        raise ExperimentError(f"{files.best} holds no checkpoint: a run keeps its best with train.keep_best=true")
    return found


class Checkpoints:
    """The files `checkpoints/model.ckpt-<step>` of one run, and the best of them, which is kept apart."""

    def __init__(self, files: RunFiles, program: Program) -> None:
        self._files, self._folder = files, files.checkpoints
        self._program = program
        self.last = last_checkpoint(files)
        # the ops of the other saver, but a memory of its own of what there is
        of_best = tf.train.SaverDef()
        of_best.CopyFrom(program.saver.saver_def)
        of_best.max_to_keep = 1
        self._best = tf.train.Saver(saver_def=of_best, save_relative_paths=True)

    def newest(self) -> Checkpoints:
        """The same, as they are now."""
        return Checkpoints(self._files, self._program)

    def save(self, session: tf.Session, step: int) -> None:
        """Save all variables. Raises Diverged, and saves nothing, if one holds a number that is not finite."""
        self._check(session, step)
        self.last = self._program.saver.save(session, str(self._folder / "model.ckpt"), global_step=step)

    def save_best(self, session: tf.Session, step: int) -> None:
        """The same into the folder of the best, in the place of what is there."""
        self._check(session, step)
        self._files.best.mkdir(exist_ok=True)
        before = tf.train.get_checkpoint_state(str(self._files.best))
        self._best.recover_last_checkpoints([] if before is None else before.all_model_checkpoint_paths)
        self._best.save(session, str(self._files.best / "model.ckpt"), global_step=step, write_meta_graph=False)

    def _check(self, session: tf.Session, step: int) -> None:
        for name, value in self.values(session).items():
            if np.issubdtype(value.dtype, np.floating) and not np.isfinite(value).all():
                raise Diverged(step, f"the variable {name} is not finite after step {step}")

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
