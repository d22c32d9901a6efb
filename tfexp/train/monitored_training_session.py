"""`tf.train.MonitoredTrainingSession`: a monitored session that saves checkpoints and summaries. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.train.monitored_session import MonitoredSession
from tfexp.train.saving_hooks import CheckpointSaverHook
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_creators import ChiefSessionCreator, WorkerSessionCreator
from tfexp.train.session_hooks import SessionRunHook
from tfexp.train.watching_hooks import StepCounterHook, SummarySaverHook

_USE_DEFAULT: Any = object()


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = _USE_DEFAULT,
    save_summaries_steps: int | None = _USE_DEFAULT,
    save_summaries_secs: float | None = _USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: int | None = _USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """A session in which the chief restores or initialises the model and the others wait for it.

    The chief writes checkpoints into `checkpoint_dir` (every `save_checkpoint_secs`, 600, or `_steps`), summaries into
    `summary_dir` or else there (every `save_summaries_steps`, 100, or `_secs`), and every `log_step_count_steps` the steps
    per second; None or 0 turns each off. The others wait for the chief's model for `max_wait_secs` at most
    (DeadlineExceededError).
    """
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    scaffold = scaffold or Scaffold()
    summaries = _either(save_summaries_steps, save_summaries_secs, (100, None))
    checkpoints = _either(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    all_hooks: list[SessionRunHook] = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if _any(summaries):
            steps, secs = summaries
            all_hooks.append(SummarySaverHook(steps, secs, output_dir=summary_dir, scaffold=scaffold))
    if checkpoint_dir and _any(checkpoints):
        steps, secs = checkpoints
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_steps=steps, save_secs=secs, scaffold=scaffold))
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _either(steps: Any, secs: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """(steps, seconds): the defaults if neither is given, else what is given."""
    if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
        return default
    return (None if steps is _USE_DEFAULT else steps), (None if secs is _USE_DEFAULT else secs)


def _any(intervals: tuple[Any, Any]) -> bool:
    return any(interval and interval > 0 for interval in intervals)
