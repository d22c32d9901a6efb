"""`tf.train.MonitoredSession`: a session with hooks that is made anew when a task of its cluster is lost. Source: TF 1.15.

What is lost with a session is made again by its creator: the chief restores the newest checkpoint, the others wait for that.
The step that failed is then run in the new session.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from tfexp.core import errors
from tfexp.core.log import get_logger
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.runtime.session import Session
from tfexp.train.hooked_session import LOST, HookedSession
from tfexp.train.scaffold import Scaffold
from tfexp.train.session_creators import ChiefSessionCreator, SessionCreator
from tfexp.train.session_hooks import SessionRunHook

_log = get_logger()

# Seconds before the next try to reach a cluster whose task is gone: the first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0


class StepContext:
    """What a function of `run_step_fn` works with."""

    def __init__(self, session: Session, run_with_hooks_fn: Callable[..., Any]):
        self._session = session
        self._run_with_hooks = run_with_hooks_fn

    @property
    def session(self) -> Session:
        """The session itself; steps in it call no hooks."""
        return self._session

    def run_with_hooks(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """A step, as `MonitoredSession.run`."""
        return self._run_with_hooks(fetches, feed_dict, options, run_metadata)

    def request_stop(self) -> None:
        """End the training loop: raises StopIteration, which ends the `with` block of the session."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Monitored:
    """What both kinds of monitored sessions do; `_recovers`: whether a lost session is replaced."""

    _recovers = True
    StepContext = StepContext

    def __init__(
        self, session_creator: SessionCreator | None, hooks: Sequence[SessionRunHook] | None, stop_grace_period_secs: float
    ):
        self._graph = get_default_graph()
        self._graph_was_finalized = self._graph.finalized
        self._hooks = list(hooks or ())
        self._grace = stop_grace_period_secs
        self._creator = session_creator or ChiefSessionCreator()
        self._current: HookedSession | None = None
        self._closed = False
        for hook in self._hooks:
            hook.begin()
        self._live()

    @property
    def graph(self) -> Graph:
        """The graph that it runs."""
        return self._graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """One step, as `tf.Session.run`, with the hooks'. RuntimeError when closed or after the end was asked for."""
        return self._retried(lambda current: current.run(fetches, feed_dict, options, run_metadata))

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """What `step_fn(step_context)` returns; it may run several steps, and is called anew if the session is lost.

        ValueError unless its only argument (besides `self`) is called `step_context`.
        """
        arguments = tuple(inspect.signature(step_fn).parameters)
        if arguments != ("step_context",):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if it's an "
                f"instance method. Got {arguments} instead."
            )
        return self._retried(lambda current: step_fn(StepContext(current.session, current.run)))

    def should_stop(self) -> bool:
        """Whether there is nothing more to do: a hook or a thread has asked for the end, or this is closed."""
        return self._closed or bool(self._retried(HookedSession.should_stop))

    def close(self) -> None:
        """Let the hooks end, stop the threads, close the session. RuntimeError if it is closed."""
        self._close(hooks_end=True)

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, exception_type: type[BaseException] | None, exception: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """The end of the input, and StopIteration, are good ends of the block."""
        good = exception_type is None or issubclass(exception_type, errors.OutOfRangeError | StopIteration)
        self._close(hooks_end=good)
        return good

    def _close(self, hooks_end: bool) -> None:
        if self._closed:
            raise RuntimeError("Session is already closed.")
        self._closed = True
        try:
            if hooks_end:
                for hook in self._hooks:
                    hook.end(self._tf_sess())  # type: ignore[arg-type]  # None after a loss, as in TensorFlow
        finally:
            try:
                self._drop()
            finally:
                if not self._graph_was_finalized:
                    self._graph._unsafe_unfinalize()

    def _tf_sess(self) -> Session | None:
        """The session that steps run in; None where there is none. Programs take it from here."""
        return self._current.session if self._current is not None else None

    def _is_closed(self) -> bool:
        return self._closed

    def _drop(self) -> None:
        current, self._current = self._current, None
        if current is not None:
            current.close()

    def _live(self) -> HookedSession:
        """The session to run in; makes one where there is none, as often as it takes while tasks are lost."""
        pause = _FIRST_PAUSE
        while self._current is None:
            try:
                with self._graph.as_default():
                    self._current = HookedSession(self._creator, self._hooks, self._grace)
            except LOST as error:
                if not self._recovers:
                    raise
                _log.info("A session could not be made, as a task of the cluster was lost; trying again. Error: %s", error)
                # Nobody tells a client that a server is back.
                threading.Event().wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        return self._current

    def _retried(self, action: Callable[[HookedSession], Any]) -> Any:
        """What the action gives in the session, or when it is lost, in the next one."""
        while True:
            if self._closed:
                raise RuntimeError("Run called on a closed MonitoredSession.")
            try:
                return action(self._live())
            except LOST as error:
                if not self._recovers:
                    raise
                _log.info("A task of the cluster was lost; closing the session and making a new one. Error: %s", error)
                try:
                    self._drop()
                except LOST as failed:
                    # A thread of the lost session saw the loss too.
                    _log.info("Closing the lost session: %s", failed)


class MonitoredSession(_Monitored):
    """Runs steps with hooks, in a session of `session_creator` (default: the chief's); use it as a context manager.

    On AbortedError and UnavailableError, what the loss of a task gives, the session is made anew and the step repeated. At
    the end threads get `stop_grace_period_secs` seconds to stop.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ):
        super().__init__(session_creator, hooks, stop_grace_period_secs)


class SingularMonitoredSession(_Monitored):
    """As `MonitoredSession`, of a chief, but a lost session is not replaced: the error is raised."""

    _recovers = False

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        """The session itself; None when closed."""
        return self._tf_sess()
