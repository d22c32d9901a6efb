"""`tf.contrib.learn.monitors`: what watches a training, step by step. Source: TF 1.15.

A monitor is told of every step before it, after it and once more with the session; `RunHookAdapterForMonitors` is the hook
that tells them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tfexp import estimator as core
from tfexp.core.log import get_logger
from tfexp.estimator.arguments import argument_names
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_lists import trainable_variables
from tfexp.train.global_step import required_step_read
from tfexp.train.session_hooks import SessionRunArgs, SessionRunHook

_log = get_logger()
_OF_TRAINABLES = ("x", "y", "batch_size", "metrics")  # what only the estimators of `tf.contrib.learn` are evaluated with


class NanLossDuringTrainingError(RuntimeError):
    """The loss was not a number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class BaseMonitor:
    """Of which each method may be overridden. ValueError for steps that begin and end out of turn."""

    def __init__(self) -> None:
        self._begun = False
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None
        self._current_epoch: int | None = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether tasks other than the chief have it, too."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Of what is trained. ValueError for None."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Once, before the graph is final."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps, self._begun = max_steps, True

    def end(self, session: Any = None) -> None:
        """Once, after the last step."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps, self._begun = None, False

    def epoch_begin(self, epoch: int) -> None:
        """For training loops that have epochs."""
        if self._current_epoch is not None:
            raise ValueError(f"epoch_begin called with epoch {epoch} before the end of {self._current_epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """For training loops that have epochs."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Tensors, or their names, whose values `step_end` is to have."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step} of {self._max_steps}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: Any) -> bool:
        """Whether to stop. output: {name: value} of what `step_begin` asked for."""
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """After all monitors' `step_end`."""


class EveryN(BaseMonitor):
    """Of the first `first_n_steps` steps and then of every `every_n_steps`-th, by methods of its own.

    Steps are global ones: another training goes on where the one before it was.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1):
        super().__init__()
        self._every, self._first = every_n_steps, first_n_steps
        self._last_active = 0
        self._last_step: int | None = None
        self._active = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Tensors, or their names, whose values `every_n_step_end` is to have."""
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        """Whether to stop."""
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """After all monitors' `step_end`; also after the last step of all."""

    def step_begin(self, step: int) -> list[Any]:
        super().step_begin(step)
        due = step >= self._last_active + self._every
        self._active = step <= self._first or due or step == self._max_steps
        return self.every_n_step_begin(step) if self._active else []

    def step_end(self, step: int, output: Any) -> bool:
        super().step_end(step, output)
        return bool(self.every_n_step_end(step, output)) if self._active else False

    def post_step(self, step: int, session: Any) -> None:
        super().post_step(step, session)
        if self._active:
            self.every_n_post_step(step, session)
            self._last_active = step
        self._last_step = step

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._last_step is not None and self._last_step != self._last_active:
            self.every_n_post_step(self._last_step, session)


class StopAtStep(BaseMonitor):
    """Stops after `num_steps` steps, or at step `last_step`. ValueError for both, and for neither."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._stop_at = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def step_begin(self, step: int) -> list[Any]:
        super().step_begin(step)
        if self._stop_at is None:
            self._stop_at = step + (self._num_steps or 0) - 1
        return []

    def step_end(self, step: int, output: Any) -> bool:
        super().step_end(step, output)
        assert self._stop_at is not None
        return step >= self._stop_at


class PrintTensor(EveryN):
    """Logs tensors: their names, or {what to call them: name}."""

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._named = dict(tensor_names) if isinstance(tensor_names, Mapping) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        return list(self._named.values())

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        shown = [f"{called} = {outputs[name]}" for called, name in self._named.items() if name in outputs]
        _log.info("Step %d: %s", step, ", ".join(shown))
        return False


class LoggingTrainable(EveryN):
    """Logs the trainable variables, those below `scope`."""

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        return [variable.name for variable in trainable_variables(self._scope)]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        names = [variable.name for variable in trainable_variables(self._scope)]
        _log.info("Logging Trainable for Step %d: %s", step, {name: outputs[name] for name in names})
        return False


class CaptureVariable(EveryN):
    """Keeps a variable's values: `values` is {step: value}."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1):
        super().__init__(every_n, first_n)
        self._name = var_name
        self._values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        return self._values

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        return [self._name]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        self._values[step] = outputs[self._name]
        return False


class NanLoss(EveryN):
    """Stops when the loss is not a number: with NanLossDuringTrainingError unless told."""

    def __init__(self, loss_tensor: Tensor, every_n_steps: int = 100, fail_on_nan_loss: bool = True):
        super().__init__(every_n_steps)
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        return [self._loss]

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        if not np.isnan(outputs[self._loss.name]):
            return False
        if self._fail:
            raise NanLossDuringTrainingError
        _log.warning("Model diverged with loss = NaN.")
        return True


class ValidationMonitor(EveryN):
    """Evaluates what is trained, when there is a new checkpoint; may stop when that has not become better for long.

    x, y, input_fn, batch_size, eval_steps, metrics, hooks, name: of the evaluation. check_interval_secs: how often it looks
    for a checkpoint at most. early_stopping_rounds: stop that many steps after the best value of early_stopping_metric, the
    smallest or largest. ValueError without input, for a metric that the evaluation has not, and when what is trained is an
    estimator of `tf.estimator` for x, y, batch_size and metrics.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[str, Any] | None = None,
        hooks: Sequence[Any] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ):
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._evaluation = {
            "x": x,
            "y": y,
            "input_fn": input_fn,
            "batch_size": batch_size,
            "steps": eval_steps,
            "metrics": metrics,
            "hooks": hooks,
            "name": name,
        }
        self._rounds, self._metric, self._smallest = (
            early_stopping_rounds,
            early_stopping_metric,
            early_stopping_metric_minimize,
        )
        self._interval, self._looked_at = check_interval_secs, -float("inf")
        self._latest_path: str | None = None
        self._best_value: Any = None
        self._best_value_step: int | None = None
        self._best_metrics: dict[str, Any] | None = None
        self._early_stopped = False

    @property
    def early_stopped(self) -> bool:
        """Whether it has asked for the end."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        return self._best_value_step

    @property
    def best_value(self) -> Any:
        return self._best_value

    @property
    def best_metrics(self) -> dict[str, Any] | None:
        """All that the best evaluation found."""
        return self._best_metrics

    def every_n_step_end(self, step: int, outputs: Mapping[str, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now = time.monotonic()
        if self._interval is not None and now - self._looked_at < self._interval:
            return False
        self._looked_at = now
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            _log.debug("There is no new checkpoint of step %d to evaluate.", step)
            return False
        self._latest_path = path
        found = self._evaluated()
        _log.info("Validation (step %d): %s", step, ", ".join(f"{name} = {value}" for name, value in found.items()))
        return self._rounds is not None and self._stops(step, found)

    def _evaluated(self) -> dict[str, Any]:
        given = self._evaluation
        if isinstance(self._estimator, core.Estimator):
            strange = [name for name in _OF_TRAINABLES if given[name] is not None]
            if strange:
                raise ValueError(
                    "tf.estimator.Estimator does not support following arguments: x, y, batch_size, metrics. Should set as "
                    f"`None` in ValidationMonitor. Given: {', '.join(strange)}"
                )
            given = {name: value for name, value in given.items() if name not in _OF_TRAINABLES}
        found: dict[str, Any] = self._estimator.evaluate(**given)
        return found

    def _stops(self, step: int, found: dict[str, Any]) -> bool:
        if self._metric not in found:
            raise ValueError(f"Metric {self._metric} missing from outputs {sorted(found)}.")
        value = found[self._metric]
        better = self._best_value is None or (value < self._best_value if self._smallest else value > self._best_value)
        if better:
            self._best_value, self._best_metrics, self._best_value_step = value, found, step
        assert self._rounds is not None
        assert self._best_value_step is not None
        if step - self._best_value_step >= self._rounds:
            _log.info("Stopping. Best step: %d with %s = %s.", self._best_value_step, self._metric, self._best_value)
            self._early_stopped = True
        return self._early_stopped


class RunHookAdapterForMonitors(SessionRunHook):
    """The hook that tells monitors of steps, which are numbered by the global step that they reach."""

    def __init__(self, monitors: Sequence[BaseMonitor]):
        self._monitors = list(monitors)
        self._following: int | None = None

    def begin(self) -> None:
        self._following = None
        self._read = required_step_read("monitors")
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        if self._following is None:
            self._following = int(run_context.session.run(self._read)) + 1
        wanted: dict[str, Any] = {}
        for monitor in self._monitors:
            for item in monitor.step_begin(self._following) or []:
                tensor = item if hasattr(item, "name") else get_default_graph().as_graph_element(item)
                wanted[item if isinstance(item, str) else item.name] = tensor
        return SessionRunArgs({"step": self._read, "wanted": wanted})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step, found = self._following, run_values.results
        assert step is not None
        for monitor in self._monitors:
            if monitor.step_end(step, found["wanted"]):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        self._following = int(found["step"]) + 2  # what was read is the step before this one

    def end(self, session: Any) -> None:
        self._following = None
        for monitor in self._monitors:
            if "session" in argument_names(monitor.end):
                monitor.end(session)
            else:
                monitor.end()


def replace_monitors_with_hooks(monitors_or_hooks: Sequence[Any] | None, estimator: Any) -> list[SessionRunHook]:
    """The hooks among them, and one for all monitors, that watch `estimator`. On tasks but the chief not for all of them."""
    given = list(monitors_or_hooks or [])
    monitors = [one for one in given if isinstance(one, BaseMonitor)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    hooks: list[SessionRunHook] = [one for one in given if not isinstance(one, BaseMonitor)]
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
