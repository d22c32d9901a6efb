"""Hooks that begin, feed and end a training: stop, NaN, waiting, feeds, what to compute at the end. Source: TF 1.15."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.log import get_logger
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.global_step import required_step_read
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_log = get_logger()


class StopAtStepHook(SessionRunHook):
    """Asks for the end at the global step `last_step`, or after `num_steps` more. ValueError unless one is given."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        self._step = required_step_read("StopAtStepHook")

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        # Once: a session made anew goes on towards the same end.
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = int(session.run(self._step)) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        assert self._last_step is not None
        # The step fetched may be from before the update.
        if int(run_values.results) + 1 < self._last_step:
            return
        if int(run_context.session.run(self._step)) >= self._last_step:
            run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends the training when the scalar `loss_tensor` is NaN: with NanLossDuringTrainingError, or by asking for the end."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        if self._fail_on_nan_loss:
            _log.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        _log.warning("Model diverged with loss = NaN.")
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Has this worker wait, before its first step, until the global step has come to `wait_until_step`."""

    # Seconds between two looks at a step that others move.
    poll_secs = 0.5

    def __init__(self, wait_until_step: int):
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._waiting = self._wait_until_step > 0
        self._step = required_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        if not self._waiting:
            return
        _log.info("Waiting for global step %d before starting training.", self._wait_until_step)
        reported: int | None = None
        while True:
            step = int(run_context.session.run(self._step))
            if step >= self._wait_until_step:
                _log.info("Done waiting: the global step is %d.", step)
                self._waiting = False
                return
            if reported is None or step - reported > 1000:
                _log.info("Waiting for global step %d: it is %d.", self._wait_until_step, step)
                reported = step
            threading.Event().wait(self.poll_secs)


class FinalOpsHook(SessionRunHook):
    """Runs `final_ops` (fetches of any structure) at the end, with `final_ops_feed_dict`; see `final_ops_values`."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None):
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """What the final ops gave; None before the end."""
        return self._final_ops_values

    def end(self, session: Session) -> None:
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except Exception as error:
            _log.error("The final ops of FinalOpsHook failed: %s", error)
            raise


class FeedFnHook(SessionRunHook):
    """Feeds what `feed_fn()` gives (a feed dict) to every step."""

    def __init__(self, feed_fn: Callable[[], Any]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
