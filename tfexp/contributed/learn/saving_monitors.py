"""Monitors that write summaries and checkpoints. Source: `tf.contrib.learn.monitors`, TF 1.15."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.event_pb2 import SessionLog

from tfexp.contributed.learn.monitors import BaseMonitor, EveryN, PrintTensor
from tfexp.core.log import get_logger
from tfexp.train.summary_writer import FileWriter, FileWriterCache

_log = get_logger()


class SummarySaver(EveryN):
    """Writes `summary_op`, serialized, or that of the scaffold: to `summary_writer`, `output_dir` or the model's folder."""

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ):
        super().__init__(save_steps)
        self._summary_op, self._scaffold = summary_op, scaffold
        self._writer = FileWriter(output_dir) if summary_writer is None and output_dir else summary_writer

    def set_estimator(self, estimator: Any) -> None:
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None and self._writer is not None:
            self._writer.add_summary(outputs[self._summary_op.name], step)
        return False

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._writer is not None:
            self._writer.flush()


class CheckpointSaver(BaseMonitor):
    """Saves after the first step, then every `save_secs` seconds or `save_steps` steps, and at the end.

    saver: that of the scaffold by default. ValueError for both save_secs and save_steps, and for neither.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ):
        super().__init__()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._saver, self._scaffold, self._secs, self._steps = saver, scaffold, save_secs, save_steps
        self._writer = FileWriterCache.get(checkpoint_dir)
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)

    def begin(self, max_steps: int | None = None) -> None:
        super().begin(max_steps)
        self._last_step: int | None = None
        self._saved_step: int | None = None
        self._saved_at = 0.0

    def post_step(self, step: int, session: Any) -> None:
        super().post_step(step, session)
        self._last_step = step
        if self._saved_step is None or self._is_due(step - self._saved_step):
            self._save(step, session)

    def _is_due(self, steps: int) -> bool:
        if self._steps is not None:
            return steps >= self._steps
        assert self._secs is not None
        return time.monotonic() >= self._saved_at + self._secs

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._last_step is not None and self._last_step != self._saved_step:
            self._save(self._last_step, session)

    def _save(self, step: int, session: Any) -> None:
        _log.info("Saving checkpoints for %d into %s.", step, self._path)
        self._saved_step, self._saved_at = step, time.monotonic()
        saver = self._scaffold.saver if self._saver is None else self._saver
        saver.save(session, self._path, global_step=step)
        self._writer.add_session_log(SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._path), step)


def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: Any = None,
) -> list[BaseMonitor]:
    """One that logs the loss and one that writes the summaries, of what is given."""
    monitors: list[BaseMonitor] = [] if loss_op is None else [PrintTensor({"loss": loss_op.name})]
    if summary_op is not None:
        monitors.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return monitors
