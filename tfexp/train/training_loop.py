"""`tf.train.basic_train_loop`: steps in a supervisor's session until it is to stop. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.train.supervisor import Supervisor


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Call `train_step_fn(session, *args, **kwargs)` until the supervisor is to stop.

    An exception of it stops the supervisor and is raised, but OutOfRangeError (the input has ended) is a good end.
    """
    with supervisor.managed_session(master) as session:
        while not supervisor.should_stop():
            train_step_fn(session, *(args or ()), **(kwargs or {}))
