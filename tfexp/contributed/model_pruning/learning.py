"""`tf.contrib.model_pruning.train`: the loop of slim, with masks that are set after each step. Source: TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfexp.contributed import slim_learning


def train(
    train_op: Any,
    logdir: str | None,
    mask_update_op: Any,
    train_step_fn: Callable[..., tuple[Any, Any]] = slim_learning.train_step,
    **kwargs: Any,
) -> Any:
    """`tf.contrib.slim.learning.train`, which runs `mask_update_op` after each step."""

    def step(session: Any, train_op: Any, global_step: Any, train_step_kwargs: Any) -> tuple[Any, Any]:
        result = train_step_fn(session, train_op, global_step, train_step_kwargs)
        session.run(mask_update_op)
        return result

    return slim_learning.train(train_op, logdir, step, **kwargs)


def _signature() -> inspect.Signature:
    """That of slim's loop, as 1.15 has it here."""
    own, slims = inspect.signature(train), inspect.signature(slim_learning.train)
    later = {"session_wrapper", "ignore_live_threads"}
    rest = [p for name, p in slims.parameters.items() if name not in own.parameters and name not in later]
    return own.replace(parameters=[*list(own.parameters.values())[:-1], *rest])


train.__signature__ = _signature()  # type: ignore[attr-defined]
