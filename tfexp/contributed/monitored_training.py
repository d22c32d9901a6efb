"""`tf.contrib.training.train`: a training loop in a monitored session. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.train.monitored_training_session import MonitoredTrainingSession


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Sequence[Any] | None = None,
    chief_only_hooks: Sequence[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Run `train_op` until a hook asks for the end; the last loss. ValueError for what needs a `logdir`."""
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        loss = None
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
