"""Hooks that end a training for all its workers: `tf.estimator.experimental.stop_if_no_decrease_hook` and its kin.

The chief asks a function, and says by a variable of the graph that it is over; the others look at that. Source: TF 1.15.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.core.log import get_logger
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.eval_metrics import metrics_of_folder
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.graph.collections import GraphKeys
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.state import assign
from tfexp.ops.variable_scope import AUTO_REUSE, get_variable, variable_scope
from tfexp.train.checkpoint_utils import load_variable
from tfexp.train.global_step import required_step_read
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tfexp.train.step_timer import SecondOrStepTimer
from tfexp.train.stopping_hooks import StopAtStepHook

_log = get_logger()


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends the training once `should_stop_fn()`, asked every so many seconds or steps, is true.

    TypeError for what is no function (of the chief's); ValueError unless one of the intervals is given.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return CheckForStoppingHook()


def _over() -> Any:
    """The variable, the same for all hooks of a graph."""
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        return get_variable(
            "STOP",
            shape=[],
            dtype=dtypes.bool,
            initializer=zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )


class StopOnPredicateHook(SessionRunHook):
    """The chief's: asks `should_stop_fn`. Libraries derive hooks of their own from it. TypeError for what is no function."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ):
        if not callable(should_stop_fn):
            raise TypeError(f"`should_stop_fn` must be callable. Given: {should_stop_fn!r}")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        self._step = required_step_read("make_early_stopping_hook")
        self._end = assign(_over(), True).op

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        # The step fetched is from before the update.
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._step))
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            _log.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._end)
            run_context.request_stop()


class CheckForStoppingHook(SessionRunHook):
    """The other workers'."""

    def begin(self) -> None:
        self._over = _over()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._over)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results:
            _log.info("Early stopping requested, suspending run.")
            run_context.request_stop()


# --- by the metrics of evaluations --------------------------------------------------------------------------------------


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends the training when an evaluation (in `eval_dir`, by default the estimator's) of a step of `min_steps` or later has
    a metric above `threshold`."""
    crossed = _crossed(estimator, metric_name, threshold, eval_dir, min_steps, operator.gt, "greater than")
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """The same for a metric below `threshold`."""
    crossed = _crossed(estimator, metric_name, threshold, eval_dir, min_steps, operator.lt, "less than")
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends the training when evaluations have not had a larger value of the metric for so many steps."""
    stuck = _stuck(estimator, metric_name, max_steps_without_increase, eval_dir, min_steps, operator.gt, "increase")
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """The same for a smaller value."""
    stuck = _stuck(estimator, metric_name, max_steps_without_decrease, eval_dir, min_steps, operator.lt, "decrease")
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def _values(eval_dir: str, metric_name: str, min_steps: int) -> list[tuple[int, float]]:
    """(step, value) of the evaluations so far. ValueError for a metric that they do not have."""
    found = []
    for step, metrics in metrics_of_folder(eval_dir).items():
        if metric_name not in metrics:
            raise ValueError(
                f"The evaluations in {eval_dir} have no metric {metric_name!r}, but {', '.join(sorted(metrics))}"
            )
        if step >= min_steps:
            found.append((step, metrics[metric_name]))
    return found


def _crossed(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None,
    min_steps: int,
    compare: Callable[[float, float], bool],
    how: str,
) -> Callable[[], bool]:
    folder = eval_dir or estimator.eval_dir()

    def crossed() -> bool:
        for step, value in _values(folder, metric_name, min_steps):
            if compare(value, threshold):
                _log.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for early stopping.',
                    *(step, metric_name, value, how, threshold),
                )
                return True
        return False

    return crossed


def _stuck(
    estimator: Estimator,
    metric_name: str,
    max_steps: int,
    eval_dir: str | None,
    min_steps: int,
    better: Callable[[float, float], bool],
    what: str,
) -> Callable[[], bool]:
    folder = eval_dir or estimator.eval_dir()

    def stuck() -> bool:
        best: tuple[int, float] | None = None
        for step, value in _values(folder, metric_name, min_steps):
            if best is None or better(value, best[1]):
                best = step, value
            elif step - best[0] >= max_steps:
                _log.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured for '
                    "early stopping.",
                    *(what, metric_name, step - best[0], max_steps),
                )
                return True
        return False

    return stuck


# --- by checkpoints -----------------------------------------------------------------------------------------------------


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """A hook that ends the training at the global step `last_step`; workers wait until the chief has saved it."""
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopWhenSaved(estimator.model_dir, last_step, wait_after_file_check_secs)


class _StopWhenSaved(SessionRunHook):
    def __init__(self, model_dir: str, last_step: int, poll_secs: float):
        self._model_dir, self._last_step, self._poll_secs = model_dir, last_step, poll_secs

    def begin(self) -> None:
        self._step = required_step_read("make_stop_at_checkpoint_step_hook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if int(run_values.results) + 1 < self._last_step:
            return
        if int(run_context.session.run(self._step)) < self._last_step:
            return
        # Nobody tells a worker that the chief has written a file.
        while self._saved_step() < self._last_step:
            threading.Event().wait(self._poll_secs)
        run_context.request_stop()

    def _saved_step(self) -> int:
        path = latest_checkpoint(self._model_dir)
        return -1 if path is None else int(load_variable(path, GraphKeys.GLOBAL_STEP))
