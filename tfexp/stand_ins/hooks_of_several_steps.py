"""Hooks for programs whose run makes several steps; a timer that never triggers. Source: TF 1.15.

`tensorflow.python.training`: `basic_session_run_hooks` and `evaluation`. How many steps the next run makes is in a variable.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.scopes import get_collection
from tfexp.ops.initializers import Ones
from tfexp.ops.variable_scope import get_variable, variable_scope
from tfexp.train.evaluation import StopAfterNEvalsHook
from tfexp.train.session_hooks import SessionRunContext, SessionRunValues
from tfexp.train.stopping_hooks import StopAtStepHook

_STEPS = "steps_per_run"


class NeverTriggerTimer:
    """As `SecondOrStepTimer`, of what is never due."""

    def reset(self) -> None:
        pass

    def should_trigger_for_step(self, step: int) -> bool:
        return False

    def update_last_triggered_step(self, step: int) -> tuple[None, None]:
        return None, None

    def last_triggered_step(self) -> None:
        return None


def get_or_create_steps_per_run_variable() -> Any:
    """The variable with the number of steps that a run makes."""
    there = get_collection(f"hooks-{_STEPS}")
    if there:
        return there[0]
    with variable_scope("hooks", reuse=None):
        return get_variable(
            _STEPS,
            shape=[],
            dtype=dtypes.int32,
            initializer=Ones(),
            trainable=False,
            collections=[f"hooks-{_STEPS}", GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


def _positive(steps_per_run: int) -> int:
    if steps_per_run is None or steps_per_run < 1:
        raise ValueError("steps_per_run should be greater than 0")
    return steps_per_run


class _MultiStepStopAtStepHook(StopAtStepHook):
    """Asks for the end at the global step `last_step`, or after `num_steps` more; the last run makes only what is left."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None, steps_per_run: int = 1):
        super().__init__(num_steps, last_step)
        self._steps_per_run = _positive(steps_per_run)

    def begin(self) -> None:
        super().begin()
        self._steps = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: Any, coord: Any) -> None:
        super().after_create_session(session, coord)
        self._prepare(session, int(session.run(self._step)))

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        done = int(run_context.session.run(self._step))
        if self._last_step is not None and done >= self._last_step:
            run_context.request_stop()
        else:
            self._prepare(run_context.session, done)

    def _prepare(self, session: Any, done: int) -> None:
        assert self._last_step is not None
        self._steps.load(min(self._last_step - done, self._steps_per_run), session=session)


class _MultiStepStopAfterNEvalsHook(StopAfterNEvalsHook):
    """Asks for the end of an evaluation after `num_evals` batches; the last run makes only those that are left."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1):
        super().__init__(num_evals)
        self._steps_per_run = _positive(steps_per_run)

    def begin(self) -> None:
        self._steps = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._prepare(session, 0)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        super().after_run(run_context, run_values)
        self._prepare(run_context.session, int(run_values.results["evals_completed"]))

    def _prepare(self, session: Any, done: int) -> None:
        steps = self._steps_per_run if self._num_evals is None else min(self._num_evals - done, self._steps_per_run)
        self._steps.load(max(steps, 1), session=session)
