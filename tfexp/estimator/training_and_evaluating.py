"""`tf.estimator.train_and_evaluate`: alone, or as the task of a cluster that `TF_CONFIG` says. Source: TF 1.15.

Alone, a process trains and evaluates each checkpoint as it is saved. In a cluster, parameter servers hold the variables, the
chief and the workers train, and an evaluator, which is not of the cluster, evaluates the checkpoints that the chief saves.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core.log import get_logger
from tfexp.distribute.collective import MultiWorkerMirroredStrategy
from tfexp.distributed.server import Server
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.tf_config import CHIEF, EVALUATOR, MASTER, PS, WORKER
from tfexp.estimator.train_specs import EvalSpec, TrainSpec
from tfexp.graph.collections import GraphKeys
from tfexp.runtime.session import Session
from tfexp.train.checkpoint_watching import checkpoints_iterator
from tfexp.train.saving_hooks import CheckpointSaverListener
from tfexp.train.step_timer import SecondOrStepTimer

_log = get_logger()

# Workers begin one after the other, so many seconds apart, and within so many.
_WORKER_DELAY_SECS, _LAST_WORKER_SECS = 5, 60

Results = tuple[dict[str, Any] | None, list[Any] | None]


def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> Results | None:
    """Train up to `train_spec.max_steps`, and evaluate and export as `eval_spec` says.

    Alone: (the last evaluation's metrics, what its exporters gave), (None, None) when there was nothing left to train. As
    a task of a cluster it does that task's part and returns None; a parameter server serves for ever. TypeError for
    arguments of other types, ValueError for a task that is none of chief, worker, ps and evaluator.
    """
    for name, given, kind in (
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
        ("eval_spec", eval_spec, EvalSpec),
    ):
        if not isinstance(given, kind):
            raise TypeError(f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(given)}")
    config = estimator.config
    if config.task_type == EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  Given task id "
            f"{config.task_id}"
        )
    if not config.cluster_spec.jobs and config.task_type != EVALUATOR:
        return _alone(estimator, train_spec, eval_spec)
    part = _PARTS.get(config.task_type)
    if part is None:
        raise ValueError(f"Task type {config.task_type} is not supported. Supported task types are {sorted(_PARTS)}")
    part(estimator, train_spec, eval_spec)
    return None


class _Evaluator:
    """Evaluates checkpoints, each once, and has the exporters export them."""

    def __init__(self, estimator: Estimator, eval_spec: EvalSpec, max_steps: int | None):
        self._estimator, self._spec, self._max_steps = estimator, eval_spec, max_steps
        self._evaluated: str | None = None
        self.results: Results = (None, None)

    def evaluate(self, path: str | None) -> bool:
        """Evaluate a checkpoint; whether that was the last one of the training."""
        if path is None or path == self._evaluated:
            return False
        spec = self._spec
        metrics = self._estimator.evaluate(spec.input_fn, spec.steps, spec.hooks, path, spec.name)
        self._evaluated = path
        final = bool(self._max_steps) and int(metrics[GraphKeys.GLOBAL_STEP]) >= (self._max_steps or 0)
        folder = os.path.join(self._estimator.model_dir, "export")
        exported = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(folder, exporter.name),
                checkpoint_path=path,
                eval_result=metrics,
                is_the_final_export=final,
            )
            for exporter in spec.exporters
        ]
        self.results = metrics, exported
        return final


class _EvaluatesWhatIsSaved(CheckpointSaverListener):
    """Evaluates a checkpoint when it is saved: not the training's first, and not before `throttle_secs` are over.

    The last one is evaluated in any case.
    """

    def __init__(self, evaluator: _Evaluator, latest: Callable[[], str | None], throttle_secs: float):
        self._evaluator, self._latest, self._throttle_secs = evaluator, latest, throttle_secs

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first = True

    def after_save(self, session: Session, global_step_value: int) -> None:
        if self._is_first:
            self._is_first = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            _log.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._throttle_secs)

    def end(self, session: Session, global_step_value: int) -> None:
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self._evaluator.evaluate(self._latest())


def _alone(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> Results:
    config = estimator.config
    _log.info("Running training and evaluation locally (non-distributed).")
    _log.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is determined "
        "based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    evaluator = _Evaluator(estimator, eval_spec, train_spec.max_steps)
    listener = _EvaluatesWhatIsSaved(evaluator, estimator.latest_checkpoint, eval_spec.throttle_secs)
    _train(estimator, train_spec, listener)
    return evaluator.results


def _train(estimator: Estimator, spec: TrainSpec, *more: CheckpointSaverListener) -> None:
    listeners = [*spec.saving_listeners, *more]
    estimator.train(spec.input_fn, spec.hooks, max_steps=spec.max_steps, saving_listeners=listeners)


# --- parts of a cluster -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _served(config: RunConfig) -> Iterator[Server | None]:
    """The task's server, for as long as the task takes; None for a chief that is alone in its cluster."""
    if config.task_type != PS and not config.master:
        yield None
        return
    _log.info("Start Tensorflow server.")
    server = Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=config.session_config,
        protocol=config.protocol,
    )
    try:
        yield server
    finally:
        server.stop()


def _chief(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    with _served(estimator.config):
        _train(estimator, train_spec)


def _master(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    """The chief of a cluster without an evaluator: it evaluates too."""
    with _served(estimator.config):
        _alone(estimator, train_spec, eval_spec)


def _worker(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    config = estimator.config
    with _served(config):
        last = config.experimental_max_worker_delay_secs
        delay = min(_LAST_WORKER_SECS if last is None else last, _WORKER_DELAY_SECS * (config.task_id + 1))
        # In step, the first would only wait for the others.
        if delay > 0 and not isinstance(config.train_distribute, MultiWorkerMirroredStrategy):
            _log.info("Waiting %d secs before starting training.", delay)
            threading.Event().wait(delay)  # it is said in seconds: nobody tells a worker to begin
        _train(estimator, train_spec)


def _parameter_server(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    with _served(estimator.config) as server:
        assert server is not None
        server.join()


def _evaluator(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
    """Evaluates new checkpoints until one has `max_steps`."""
    if eval_spec.start_delay_secs > 0:
        _log.info("Waiting %s secs before starting eval.", eval_spec.start_delay_secs)
        threading.Event().wait(eval_spec.start_delay_secs)  # it is said in seconds
    evaluator = _Evaluator(estimator, eval_spec, train_spec.max_steps)
    for path in checkpoints_iterator(estimator.model_dir, eval_spec.throttle_secs):
        if evaluator.evaluate(path):
            _log.info("Exiting evaluation: the training has come to its last step, %s.", train_spec.max_steps)
            return


_PARTS: dict[str, Callable[[Estimator, TrainSpec, EvalSpec], None]] = {
    CHIEF: _chief,
    MASTER: _master,
    WORKER: _worker,
    PS: _parameter_server,
    EVALUATOR: _evaluator,
}
