"""The layers that TensorFlow's MonitoredSession is made of, each a session around a session. Source: TF 1.15.

tfexp's is made of other parts (`train.hooked_session`); suites that test hooks run steps in a `_HookedSession` of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import errors
from tfexp.core.log import get_logger
from tfexp.train.coordinator import Coordinator
from tfexp.train.hooked_session import LOST, StepsWithHooks
from tfexp.train.monitored_session import StepContext
from tfexp.train.session_hooks import SessionRunHook

_PREEMPTION_ERRORS = LOST

_log = get_logger()


class _WrappedSession:
    """A session that passes everything on to another; without one, or closed, it says that it is time to stop."""

    def __init__(self, sess: Any):
        self._sess = sess

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        return self._sess.sess_str

    def should_stop(self) -> bool:
        if self._sess is None or self._check_stop():
            return True
        return isinstance(self._sess, _WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        """Whether this layer wants to stop."""
        return False

    def close(self) -> None:
        session, self._sess = self._sess, None
        if session is not None:
            try:
                session.close()
            except LOST as error:
                _log.info("Closing a session whose task was lost: %s", error)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Callable[..., Any] | None) -> Any:
        """What the function returns, given `raw_session` and how to run with hooks (None: as this session does)."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _HookedSession(_WrappedSession):
    """A session that runs steps with hooks, which may ask it to stop."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]):
        super().__init__(sess)
        self._steps = StepsWithHooks(sess, hooks)

    def _check_stop(self) -> bool:
        return self._steps.should_stop()

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        return self._steps.run(fetches, feed_dict, options, run_metadata)


class _CoordinatedSession(_WrappedSession):
    """A session that stops with its coordinator, and waits for its threads when it is closed."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120):
        super().__init__(sess)
        self._coord = coord
        self._grace = stop_grace_period_secs

    def _check_stop(self) -> bool:
        try:
            self._coord.raise_requested_exception()
        except LOST:
            raise
        except Exception as error:  # `close` raises it, when the threads have ended
            _log.debug("A thread asked to stop: %s", error)
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().run(*args, **kwargs)
        except LOST:
            raise
        except Exception:
            self._coord.raise_requested_exception()  # what a thread failed with came first
            raise


class _RecoverableSession(_WrappedSession):
    """A session that is made anew when a task of its cluster is lost."""

    def __init__(self, sess_creator: Any):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except LOST as error:
                _log.info("A session could not be made, as a task of the cluster was lost; trying again. Error: %s", error)

    def _retried(self, action: Callable[[], Any]) -> Any:
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return action()
            except LOST as error:
                _log.info("A task of the cluster was lost; closing the session and making a new one. Error: %s", error)
                self.close()

    def _check_stop(self) -> bool:
        try:
            return isinstance(self._sess, _WrappedSession) and self._sess._check_stop()
        except errors.OpError as error:
            _log.info("Asking whether to stop: %s", error)
            self.close()
            self._sess = self._create_session()
            return False

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._retried(lambda: self._sess.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Any, run_with_hooks: Callable[..., Any] | None) -> Any:
        return self._retried(lambda: self._sess.run_step_fn(step_fn, raw_session, run_with_hooks))
