"""How an Estimator trains: hooks, checkpoints, summaries, the loop. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core.log import get_logger
from tfexp.estimator import replicas
from tfexp.estimator.model import Input, Model
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.estimator.warm_starting import WarmStartSettings, begin_with
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import add_to_collection, get_collection
from tfexp.ops.summary import scalar
from tfexp.train.device_setter import replica_device_setter
from tfexp.train.global_step import get_global_step
from tfexp.train.monitored_session import MonitoredSession
from tfexp.train.monitored_training_session import MonitoredTrainingSession
from tfexp.train.saver import Saver
from tfexp.train.saving_hooks import CheckpointSaverHook, CheckpointSaverListener
from tfexp.train.session_hooks import SessionRunHook
from tfexp.train.stopping_hooks import NanTensorHook
from tfexp.train.watching_hooks import LoggingTensorHook

_log = get_logger()


def default_device_fn(config: RunConfig) -> Callable[[Any], str] | None:
    """Variables to the parameter servers in turn, all else to the task; None without parameter servers."""
    if config.device_fn is not None:
        return config.device_fn
    if config.num_ps_replicas == 0:
        return None
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}",
        cluster=config.cluster_spec,
    )


def train(
    model: Model,
    input_fn: Callable[..., Any],
    hooks: Sequence[SessionRunHook],
    saving_listeners: Sequence[CheckpointSaverListener],
    warm_start: WarmStartSettings | None,
) -> Any:
    """Steps until a hook or the end of the input stops them; the last one's loss, None where there was none."""
    config = model.config
    strategy = config.train_distribute
    with model.graph(default_device_fn(config) if strategy is None else None, replicas.scope(strategy)):
        if strategy is None:
            given = model.input(input_fn, ModeKeys.TRAIN)
            spec = model.spec(given.features, given.labels, ModeKeys.TRAIN)
        else:
            given, spec = replicas.training(model, strategy, input_fn)
        if warm_start is not None:
            begin_with(warm_start)
        loss = None
        with _session(config, spec, given, hooks, saving_listeners) as session:
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
    if loss is None:
        _log.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
    else:
        _log.info("Loss for final step: %s.", loss)
    return loss


@contextlib.contextmanager
def _session(
    config: RunConfig,
    spec: EstimatorSpec,
    given: Input,
    hooks: Sequence[SessionRunHook],
    listeners: Sequence[CheckpointSaverListener],
) -> Iterator[MonitoredSession]:
    """The session, with what belongs to the model watched and saved as the settings say."""
    if not any(summary.op.name == "loss" for summary in get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    add_to_collection(GraphKeys.LOSSES, spec.loss)
    all_hooks: list[SessionRunHook] = [*given.hooks, *hooks, NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        watched = {"loss": spec.loss, "step": get_global_step()}
        all_hooks.append(LoggingTensorHook(watched, every_n_iter=config.log_step_count_steps))
    all_hooks += spec.training_hooks
    if spec.scaffold.saver is None and not get_collection(GraphKeys.SAVERS):
        add_to_collection(GraphKeys.SAVERS, _saver(config))
    chief_hooks = list(spec.training_chief_hooks)
    if config.is_chief:
        chief_hooks += _saving(config, spec, [*all_hooks, *chief_hooks], listeners)
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=all_hooks,
        chief_only_hooks=chief_hooks,
        save_checkpoint_secs=0,  # the hook above does that
        save_summaries_steps=config.save_summary_steps,
        config=config.session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=config.log_step_count_steps,
    ) as session:
        yield session


def _saver(config: RunConfig) -> Saver:
    return Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )


def _saving(
    config: RunConfig,
    spec: EstimatorSpec,
    hooks: Sequence[SessionRunHook],
    listeners: Sequence[CheckpointSaverListener],
) -> list[SessionRunHook]:
    """The hook that saves as the settings say, unless `hooks` save; whichever does, tells `listeners`.

    ValueError for listeners where nothing is saved.
    """
    savers = [hook for hook in hooks if isinstance(hook, CheckpointSaverHook)]
    added: list[SessionRunHook] = []
    if not savers and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        saver = CheckpointSaverHook(
            config.model_dir or "",
            save_secs=config.save_checkpoints_secs or None,
            save_steps=config.save_checkpoints_steps or None,
            scaffold=spec.scaffold,
        )
        savers.append(saver)
        added.append(saver)
    if listeners:
        if not savers:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )
        savers[0].add_listeners(listeners)
    return added
