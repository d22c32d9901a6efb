"""`tf.contrib.learn.Experiment` and `learn_runner`: an estimator, its inputs, and what a task does with them.

Source: TF 1.15.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tfexp import estimator as core
from tfexp.contributed.learn.estimators import Trainable
from tfexp.contributed.learn.monitors import ValidationMonitor, replace_monitors_with_hooks
from tfexp.core.log import get_logger
from tfexp.distributed.server import Server
from tfexp.estimator.arguments import argument_names
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.train.session_hooks import SessionRunHook

_log = get_logger()
_DELAY_OF_TASK = 5  # seconds by which workers start one after the other
_LONGEST_DELAY = 60


class _ExportStrategyFields(NamedTuple):
    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None


class ExportStrategy(_ExportStrategyFields):
    """`export_fn(estimator, export_path, …)`, whose exports are below `name`. `tf.contrib.learn.ExportStrategy`."""

    __slots__ = ()

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
    ) -> Any:
        """What `export_fn` gives, which is called with those of `checkpoint_path` and `eval_result` that it takes."""
        more: dict[str, Any] = {"checkpoint_path": checkpoint_path, "eval_result": eval_result}
        if self.strip_default_attrs is not None:
            more["strip_default_attrs"] = self.strip_default_attrs
        names = argument_names(self.export_fn)
        taken = {key: value for key, value in more.items() if key in names}
        return self.export_fn(estimator, export_path, **taken)


class Experiment:
    """An estimator with inputs for training and evaluation. `tf.contrib.learn.Experiment`.

    estimator: of `tf.estimator` or `tf.contrib.learn`. eval_metrics: {name: MetricSpec}, for the latter. train_monitors:
    monitors or hooks. min_eval_frequency: after how many steps of training at least it is evaluated; 0: only at the end.
    eval_delay_secs, continuous_eval_throttle_secs: when a continuous evaluation begins, and how often it happens at most.
    train_steps_per_iteration: between two evaluations of `continuous_train_and_eval`. checkpoint_and_export is not used.
    ValueError for another kind of estimator, and for what its kind does not take.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Mapping[str, Any] | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[SessionRunHook] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ):
        self._is_core = isinstance(estimator, core.Estimator)
        if self._is_core and eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                "`tf.estimator.EstimatorSpec` instead."
            )
        if not self._is_core and not isinstance(estimator, Trainable):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`.")
        if not self._is_core and saving_listeners:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        self._estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics, self._train_steps, self._eval_steps = eval_metrics, train_steps, eval_steps
        self._train_monitors, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        frequency = local_eval_frequency if min_eval_frequency is None else min_eval_frequency
        self._min_eval_frequency = 1 if frequency is None else frequency
        self._eval_delay_secs, self._throttle_secs = eval_delay_secs, continuous_eval_throttle_secs
        self._delay_by_global_step = delay_workers_by_global_step
        self._train_steps_per_iteration = train_steps_per_iteration
        self._saving_listeners, self._check_interval_secs = saving_listeners, check_interval_secs
        self._export_strategies = _strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        return self._estimator

    @property
    def eval_metrics(self) -> Mapping[str, Any] | None:
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        return self._eval_steps

    def reset_export_strategies(self, new_export_strategies: Any = None) -> list[ExportStrategy]:
        """Have these export strategies; those that it had before."""
        before, self._export_strategies = self._export_strategies, _strategies(new_export_strategies)
        return before

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """Have these monitors or hooks besides those that it has."""
        self._train_monitors.extend(additional_hooks)

    # --- what a task does --------------------------------------------------------------------------------------------

    def train(self, delay_secs: float | None = None) -> Any:
        """Train up to the step `train_steps`, with a server when there are several tasks.

        delay_secs: before it begins; by default 5 seconds for each worker before this one.
        """
        config = self._estimator.config
        if config.cluster_spec.jobs and config.master:
            self._start_server()
        delay = min(_LONGEST_DELAY, config.task_id * _DELAY_OF_TASK) if delay_secs is None else delay_secs
        if delay > 0 and not self._delay_by_global_step:
            _log.info("Waiting %d secs before starting training.", delay)
            time.sleep(delay)
        return self._trained(self._train_steps)

    def _trained(self, max_steps: int | None, *more: Any) -> Any:
        hooks = replace_monitors_with_hooks([*self._train_monitors, *more], self._estimator)
        if self._is_core:
            return self._estimator.train(
                self._train_input_fn, hooks=hooks, max_steps=max_steps, saving_listeners=self._saving_listeners
            )
        return self._estimator.fit(input_fn=self._train_input_fn, max_steps=max_steps, monitors=hooks)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> dict[str, Any]:
        """Evaluate the newest checkpoint, by default after `eval_delay_secs` where there are several tasks."""
        if delay_secs is None:
            delay_secs = self._eval_delay_secs if self._estimator.config.cluster_spec.jobs else 0
        if delay_secs:
            _log.info("Waiting %d secs before starting eval.", delay_secs)
            time.sleep(delay_secs)
        return self._evaluated(self._eval_input_fn, name or "one_pass")

    def _evaluated(
        self, input_fn: Callable[..., Any], name: str | None, path: str | None = None, steps: int | None = None
    ) -> dict[str, Any]:
        given: dict[str, Any] = {
            "steps": steps or self._eval_steps,
            "hooks": self._eval_hooks,
            "checkpoint_path": path,
            "name": name,
        }
        if not self._is_core:
            given["metrics"] = self._eval_metrics
        found: dict[str, Any] = self._estimator.evaluate(input_fn=input_fn, **given)
        return found

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous",
    ) -> tuple[Any, list[Any]]:
        """Evaluate checkpoints as they come, until the step `train_steps`, or until the predicate of the last result is
        false (it may take `checkpoint_path`, too). What was found last, and what was exported then.
        """
        return self._continuously(
            self._eval_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous_on_train_data",
    ) -> tuple[Any, list[Any]]:
        """`continuous_eval` with the input of training."""
        return self._continuously(
            self._train_input_fn, name, delay_secs, throttle_delay_secs, True, continuous_eval_predicate_fn
        )

    def _continuously(
        self,
        input_fn: Callable[..., Any],
        name: str,
        delay_secs: float | None,
        throttle_secs: float | None,
        only_once: bool,
        predicate: Callable[..., bool] | None,
    ) -> tuple[Any, list[Any]]:
        time.sleep(self._eval_delay_secs if delay_secs is None else delay_secs)
        throttle = self._throttle_secs if throttle_secs is None else throttle_secs
        found: dict[str, Any] | None = None
        exported: list[Any] = []
        before = None
        while _goes_on(predicate, found, before):
            if found is not None and self._train_steps is not None and found["global_step"] >= self._train_steps:
                break
            began = time.monotonic()
            path = latest_checkpoint(self._estimator.model_dir)
            if path is None or (only_once and path == before):
                _log.info("There is no new checkpoint to evaluate.")
            else:
                found = self._evaluated(input_fn, name, path)
                exported, before = self._exported(found, path), path
            time.sleep(max(0.0, throttle - (time.monotonic() - began)))
        return found, exported

    def train_and_evaluate(self) -> tuple[dict[str, Any], list[Any]]:
        """Train, evaluate at least every `min_eval_frequency` steps where there is a checkpoint, and at the end.

        What the last evaluation found, and what the export strategies gave.
        """
        watch = []
        if self._min_eval_frequency:
            watch.append(
                ValidationMonitor(
                    input_fn=self._eval_input_fn,
                    eval_steps=self._eval_steps,
                    metrics=self._eval_metrics,
                    every_n_steps=self._min_eval_frequency,
                    hooks=self._eval_hooks,
                    check_interval_secs=self._check_interval_secs,
                )
            )
        self._trained(self._train_steps, *watch)
        found = self._evaluated(self._eval_input_fn, None)
        return found, self._exported(found)

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[..., bool] | None = None
    ) -> tuple[Any, list[Any]]:
        """Train `train_steps_per_iteration` steps and evaluate, again and again until `train_steps` are done.

        It ends before that when the predicate of the last result is false, or when a training makes no step.
        """
        each = self._train_steps_per_iteration or self._train_steps or 1000
        found: dict[str, Any] | None = None
        exported: list[Any] = []
        reached = 0
        while self._train_steps is None or reached < self._train_steps:
            if not _goes_on(continuous_eval_predicate_fn, found, None):
                break
            upto = reached + each
            self._trained(upto if self._train_steps is None else min(upto, self._train_steps))
            found = self._evaluated(self._eval_input_fn, None)
            exported = self._exported(found)
            if int(found["global_step"]) == reached:
                break
            reached = int(found["global_step"])
        return found, exported

    local_run = train_and_evaluate

    def test(self) -> tuple[dict[str, Any], list[Any]]:
        """One step of training, one of evaluation, and the exports: whether it all works."""
        self._trained(1)
        found = self._evaluated(self._eval_input_fn, "one_pass", steps=1)
        return found, self._exported(found)

    def run_std_server(self) -> None:
        """Serve other tasks, as a parameter server; does not return."""
        self._start_server().join()

    def _start_server(self) -> Server:
        config = self._estimator.config
        if not config.cluster_spec.jobs or not config.task_type or config.task_id is None:
            raise ValueError("Could not start server; be sure to specify cluster_spec, task_type and task_id in RunConfig.")
        return Server(config.cluster_spec, config.task_type, config.task_id, config=config.session_config)

    def _exported(self, found: Mapping[str, Any], path: str | None = None) -> list[Any]:
        base = os.path.join(self._estimator.model_dir, "export")
        return [
            strategy.export(self._estimator, os.path.join(base, strategy.name), checkpoint_path=path, eval_result=found)
            for strategy in self._export_strategies
        ]


def _goes_on(predicate: Callable[..., bool] | None, found: Any, path: str | None) -> bool:
    if predicate is None:
        return True
    return predicate(found, checkpoint_path=path) if "checkpoint_path" in argument_names(predicate) else predicate(found)


def _strategies(given: Any) -> list[ExportStrategy]:
    if given is None:
        return []
    if isinstance(given, ExportStrategy):
        return [given]
    if not isinstance(given, Iterable):
        raise ValueError(
            f"`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or `None`, found {given}."
        )
    strategies = list(given)
    for one in strategies:
        if not isinstance(one, ExportStrategy):
            raise ValueError(
                f"`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or `None`, found {one}."
            )
    return strategies


# --- learn_runner -------------------------------------------------------------------------------------------------------


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Make an experiment and do what `schedule` names: a method of it, by default by the task. `learn_runner.run`.

    experiment_fn: of `output_dir`, or of `run_config` and `hparams`. ValueError for both, neither, and for an unknown
    schedule; TypeError for what is no function, and gives no Experiment; RuntimeError when the estimator has another config.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None and not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    experiment = (
        experiment_fn(output_dir=output_dir) if run_config is None else experiment_fn(run_config=run_config, hparams=hparams)
    )
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    config = experiment.estimator.config
    if run_config is not None and repr(config) != repr(run_config):
        raise RuntimeError(
            "`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`. expected "
            f"{run_config}, but got {config}"
        )
    name = schedule or _default_schedule(config)
    tasks = [task for task in dir(experiment) if not task.startswith("_") and callable(getattr(experiment, task))]
    if not hasattr(experiment, name):
        raise ValueError(f"Schedule references non-existent task {name}. Valid tasks: {tasks}")
    if name not in tasks:
        raise TypeError(f"Schedule references non-callable member {name}. Valid tasks: {tasks}")
    return getattr(experiment, name)()


def _default_schedule(config: Any) -> str:
    """What a task does: the only one trains and evaluates, parameter servers serve, others train."""
    if not config.cluster_spec.jobs:
        return "train_and_evaluate"
    if config.task_type == "ps":
        return "run_std_server"
    if config.task_type in ("worker", "chief", "master"):
        alone = config.task_type == "master" and config.num_ps_replicas == 0
        return "train_and_evaluate" if alone else "train"
    raise ValueError(f"No default schedule for task type: {config.task_type}. Please specify a schedule.")
