"""`SecondOrStepTimer`: every so many steps, or every so many seconds. Source: `tf.train.SecondOrStepTimer`, TF 1.15."""

from __future__ import annotations

import time


class SecondOrStepTimer:
    """Says at which steps something is due: `every_secs` or `every_steps` after the last time, and the first time at once.

    ValueError unless exactly one of the two is given.
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self._clock = time.monotonic
        self.reset()

    def reset(self) -> None:
        """Forget when it last happened."""
        self._last_step: int | None = None
        self._last_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is due at this step; never twice at the same one."""
        if self._last_step is None or self._last_time is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return self._clock() >= self._last_time + self._every_secs
        assert self._every_steps is not None
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it happened now. (seconds, steps) since the time before; (None, None) the first time."""
        now = self._clock()
        since: tuple[float | None, int | None] = (None, None)
        if self._last_step is not None and self._last_time is not None:
            since = now - self._last_time, step - self._last_step
        self._last_step, self._last_time = step, now
        return since

    def last_triggered_step(self) -> int | None:
        return self._last_step
