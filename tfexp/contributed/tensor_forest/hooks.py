"""What happens beside the training of forests. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core.log import get_logger
from tfexp.train.global_step import get_global_step
from tfexp.train.session_hooks import SessionRunArgs, SessionRunHook

LOSS_NAME = "rf_training_loss"
_log = get_logger()


class TensorForestLossHook(SessionRunHook):
    """Stops after more than `early_stopping_rounds` steps whose loss is not less than the least one.

    early_stopping_loss_threshold: the part of the least loss by which another has to be less. loss_op: by default the tensor
    `rf_training_loss`.
    """

    def __init__(self, early_stopping_rounds: int, early_stopping_loss_threshold: float | None = None, loss_op: Any = None):
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.loss_op = loss_op
        self.min_loss: Any = None
        self.last_step = -1
        self.steps = 0

    def before_run(self, run_context: Any) -> SessionRunArgs:
        loss = f"{LOSS_NAME}:0" if self.loss_op is None else self.loss_op
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": loss})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step, loss = run_values.results["global_step"], float(run_values.results["current_loss"])
        is_first = self.last_step == -1 or self.last_step > step
        self.last_step = step
        if is_first:
            self.min_loss, self.steps = None, 0
            return
        share = self.early_stopping_loss_threshold or 0
        if self.min_loss is None or loss < self.min_loss - self.min_loss * share:
            self.min_loss, self.steps = loss, 0
        else:
            self.steps += 1
        if self.steps > self.early_stopping_rounds:
            run_context.request_stop()


class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs ops by their names when training ends, one after the other, and logs what they give."""

    def __init__(self, op_dict: Mapping[str, Any]):
        self._ops = op_dict

    def end(self, session: Any) -> None:
        for name, op in self._ops.items():
            _log.info("%s: %s", name, session.run(op))
