"""What a monitored session calls around its steps: `SessionRunHook`, and what goes in and out of it. Source: TF 1.15."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator


class SessionRunArgs(NamedTuple):
    """What a hook adds to a step: `fetches` of any structure, feeds, RunOptions."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a step gave: the values of the hook's own `fetches` (None without), the options and the RunMetadata."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The step that a hook is asked about."""

    def __init__(self, original_args: SessionRunArgs, session: Session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller asked for."""
        return self._original_args

    @property
    def session(self) -> Session:
        """The session itself; steps in it call no hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has asked for the end."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Let this be the last step: `should_stop` of the monitored session says yes from now on."""
        self._stop_requested = True


class SessionRunHook:
    """Extends the steps of a monitored session. Override what is needed; by default nothing happens."""

    def begin(self) -> None:
        """Called once, before any session exists: the last chance to add to the graph."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Called whenever a session has been made, the first one or one after a recovery. The graph is final."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each step; gives what to add to it."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each step that did not fail."""

    def end(self, session: Session) -> None:
        """Called at the end, before the session closes, unless an exception (other than the input's end) ended it."""
