"""`tf.train.basic_train_loop`: steps in a supervisor's session until it is to stop. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.core import log
from tfexp.core.errors import AbortedError
from tfexp.train.supervisor import Supervisor


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Call `train_step_fn(session, *args, **kwargs)` until the supervisor is to stop.

    An exception of it stops the supervisor and is raised, but OutOfRangeError (the input has ended) is a good end, and after
    an AbortedError (a session is lost) it goes on in a new session.
    """
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except AbortedError:
            log.info("The session was lost; going on in a new one")
