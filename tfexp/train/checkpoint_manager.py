"""`tf.train.CheckpointManager`: which checkpoints of a folder to keep. Source: TF 1.15."""

from __future__ import annotations

import os
import time
from typing import Any

from tfexp.core.log import get_logger
from tfexp.formats import checkpoint_state
from tfexp.graph.defaults import get_default_session
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_base import Variable
from tfexp.train.checkpoint import Checkpoint


class CheckpointManager:
    """Saves a `Checkpoint` in a folder; the newest `max_to_keep` stay (None: all), and one every so many hours.

    It goes on with the checkpoints that the folder's state names. ValueError for a `max_to_keep` below 1.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        self._checkpoint, self._directory, self._max_to_keep = checkpoint, os.fspath(directory), max_to_keep
        self._keep_seconds = None if keep_checkpoint_every_n_hours is None else keep_checkpoint_every_n_hours * 3600.0
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._written: dict[str, float] = {}  # those that may be deleted one day: path -> when it was written
        self._latest: str | None = None
        now = time.time()
        self._last_preserved = now
        state = checkpoint_state.get_checkpoint_state(self._directory)
        if state is not None:
            self._latest = state.model_checkpoint_path
            self._last_preserved = min(state.last_preserved_timestamp or now, now)
            paths, times = list(state.all_model_checkpoint_paths), list(state.all_model_checkpoint_timestamps)
            if times and len(times) != len(paths):
                get_logger().warning("%s: not as many times as checkpoints, all count as new", self._directory)
            if len(times) != len(paths):
                times = [now] * len(paths)
            self._written = {path: min(when, now) for path, when in zip(paths, times, strict=True)}

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the newest checkpoint; None before the first."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of those that may be deleted one day, oldest first."""
        return list(self._written)

    def save(self, checkpoint_number: Any = None, session: Any = None) -> str:
        """Write a checkpoint, delete those that are too many; its path. `checkpoint_number`: instead of the counter."""
        os.makedirs(self._directory, exist_ok=True)
        number = None if checkpoint_number is None else _number(checkpoint_number, session)
        path = self._checkpoint._save_numbered(self._prefix, session, number)
        self._written.pop(path, None)
        self._written[path] = time.time()
        self._latest = path
        self._record()
        self._sweep()
        return path

    def _sweep(self) -> None:
        if self._max_to_keep is None:
            return
        while len(self._written) > self._max_to_keep:
            path, when = next(iter(self._written.items()))
            del self._written[path]
            if self._keep_seconds is not None and when - self._keep_seconds >= self._last_preserved:
                self._last_preserved = when
            else:
                checkpoint_state.remove_checkpoint(path)
        self._record()

    def _record(self) -> None:
        assert self._latest is not None
        checkpoint_state.update_checkpoint_state(
            self._directory,
            self._latest,
            list(self._written),
            all_model_checkpoint_timestamps=list(self._written.values()),
            last_preserved_timestamp=self._last_preserved,
            save_relative_paths=True,
        )


def _number(value: Any, session: Any) -> int:
    session = session or get_default_session()
    if not isinstance(value, (Tensor, Variable)) or session is None:
        return int(value)
    return int(session.run(value))
