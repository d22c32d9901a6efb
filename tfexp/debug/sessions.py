"""Sessions whose steps are watched, and sessions that dump them; and hooks that do the same in a monitored session."""

from __future__ import annotations

import abc
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tfexp.core.errors import OpError
from tfexp.debug.watching import watch_graph
from tfexp.formats import debug_dump, file_io
from tfexp.graph import defaults
from tfexp.runtime.session import BaseSession
from tfexp.train.monitored_session import MonitoredSession, SingularMonitoredSession
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_SESSIONS = (BaseSession, MonitoredSession, SingularMonitoredSession)


class WatchOptions:
    """What of a step is dumped: see `watch_graph`. Source: `tf_debug.WatchOptions`."""

    def __init__(
        self,
        debug_ops: Sequence[str] | None = None,
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ):
        """`debug_ops`: DebugIdentity by default."""
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class WatchingSession(abc.ABC):
    """A session around another one, whose steps may be watched (`watch`) and looked at afterwards (`look`).

    Only runs of threads whose names match `thread_name_filter` are watched, if it is given. An OpError of a watched run is
    what the run returns, unless `pass_through_operrors`. TypeError for what is no session.
    """

    def __init__(self, sess: Any, thread_name_filter: str | None = None, pass_through_operrors: bool | None = None):
        if not isinstance(sess, (*_SESSIONS, WatchingSession)):
            raise TypeError(f"Expected type {_SESSIONS}; got type {type(sess)}")
        self._sess: Any = sess
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._block = ExitStack()

    @abc.abstractmethod
    def watch(self, run_options: RunOptions, fetches: Any, feed_dict: Any) -> bool:
        """Whether the run is to be watched; `run_options` say then what of it."""

    def look(self, error: OpError | None) -> None:  # noqa: B027 (some have nothing to do)
        """What is done after a watched run, which may have failed."""

    @property
    def graph(self) -> Any:
        """The graph of the session."""
        return self._sess.graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef."""
        return self._sess.graph_def

    @property
    def sess_str(self) -> Any:
        """The target of the session."""
        return self._sess.sess_str

    @property
    def session(self) -> Any:
        """The session."""
        return self._sess

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
        callable_runner: Callable[..., Any] | None = None,
        callable_runner_args: Sequence[Any] | None = None,
        callable_options: Any = None,
    ) -> Any:
        """As the session's `run`; or the run of a callable of the session (`callable_runner`), without fetches and feeds.

        ValueError for both, NotImplementedError for `callable_options`.
        """
        if callable_options is not None:
            raise NotImplementedError("callable_options: make a callable with make_callable")
        if callable_runner is not None and (fetches or feed_dict):
            raise ValueError("callable_runner and fetches/feed_dict are mutually exclusive, but are used simultaneously.")
        if callable_runner is None:
            return self._watched(
                lambda **how: self._sess.run(fetches, feed_dict=feed_dict, **how), fetches, feed_dict, options, run_metadata
            )
        arguments = callable_runner_args or ()
        return self._watched(lambda **how: callable_runner(*arguments, **how), None, None, options, run_metadata)

    def _watched(
        self,
        run: Callable[..., Any],
        fetches: Any,
        feed_dict: Any,
        options: RunOptions | None,
        run_metadata: RunMetadata | None,
    ) -> Any:
        watched = RunOptions()
        if options is not None:
            watched.CopyFrom(options)
        nothing = isinstance(fetches, (list, tuple, dict)) and not fetches
        if nothing or not self.is_in_watched_thread() or not self.watch(watched, fetches, feed_dict):
            return run(options=options, run_metadata=run_metadata)
        try:
            fetched = run(options=watched, run_metadata=run_metadata)
        except OpError as error:
            if self._pass_through_operrors:
                raise
            self.look(error)
            return error
        self.look(None)
        return fetched

    def go_on_with(self, sess: Any) -> None:
        """Stand around this session from now on: the one before was lost, or has ended."""
        self._sess = sess

    def is_in_watched_thread(self) -> bool:
        """Whether runs of this thread are watched."""
        return self._threads is None or self._threads.match(threading.current_thread().name) is not None

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """As the session's; its runs may be watched too."""
        return self._callable_for(fetches, feed_list, accept_options)

    def _callable_for(
        self, fetches: Any, feed_list: Any, accept_options: bool, checks_shapes: bool = True
    ) -> Callable[..., Any]:
        """As the session's, which Keras asks for."""
        runner = self._sess._callable_for(fetches, feed_list, True, checks_shapes)

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            if not accept_options and (options is not None or run_metadata is not None):
                raise TypeError("make_callable was not asked for a callable that accepts options")
            return self.run(
                None, options=options, run_metadata=run_metadata, callable_runner=runner, callable_runner_args=values
            )

        return call

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """As the monitored session's; its steps are not watched."""
        return self._sess.run_step_fn(step_fn)

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """NotImplementedError: parts of steps are not watched."""
        raise NotImplementedError("partial_run_setup is not implemented for debug-wrapper sessions.")

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """NotImplementedError, too."""
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    def list_devices(self) -> Any:
        """The devices of the session."""
        return self._sess.list_devices()

    def should_stop(self) -> bool:
        """Whether the monitored session should stop."""
        stop: bool = self._sess.should_stop()
        return stop

    def close(self) -> None:
        """Close the session."""
        self._sess.close()

    def as_default(self) -> AbstractContextManager[Any]:
        """A block in which this is the default session."""
        return defaults.session_stack.pushed(self)

    def __enter__(self) -> Any:
        self._block.enter_context(self.as_default())
        return self

    def __exit__(self, *exc: Any) -> None:
        self._block.close()


def new_folder(path: str, what: str) -> str:
    """Make a folder, if need be. ValueError if there is a file, or a folder with something in it."""
    path = os.path.expanduser(path)
    if os.path.isfile(path):
        raise ValueError(f"{what} path points to a file: {path}")
    if os.path.isdir(path) and os.listdir(path):
        raise ValueError(f"{what} path points to a non-empty directory: {path}")
    file_io.make_directories(path)
    return path


class DumpingDebugWrapperSession(WatchingSession):
    """A session that dumps every run to a folder `run_<microseconds>_<number>` in `session_root`, for a DebugDumpDir.

    `watch_fn(fetches, feeds)` gives the WatchOptions of a run; by default all is watched. ValueError if `session_root` is a
    file or not empty; see `WatchingSession`. Source: `tf_debug.DumpingDebugWrapperSession`.
    """

    def __init__(
        self,
        sess: Any,
        session_root: str,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ):
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn
        self._session_root = new_folder(session_root, "session_root")
        self._lock = threading.Lock()
        self._runs = 0

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> str:
        """The URL of a new folder for a run, in which its fetches and feeds are noted."""
        with self._lock:
            number, self._runs = self._runs, self._runs + 1
        folder = os.path.join(self._session_root, f"run_{int(time.time() * 1e6)}_{number}")
        debug_dump.write_message(folder, debug_dump.FETCHES_INFO, repr(fetches))
        debug_dump.write_message(folder, debug_dump.FEED_KEYS_INFO, repr(feed_dict.keys() if feed_dict else feed_dict))
        return f"file://{os.path.abspath(folder)}"

    def watch(self, run_options: RunOptions, fetches: Any, feed_dict: Any) -> bool:
        """Every run is watched."""
        urls = self.prepare_run_debug_urls(fetches, feed_dict)
        options = WatchOptions() if self._watch_fn is None else self._watch_fn(fetches, feed_dict)
        if isinstance(options, tuple):
            options = WatchOptions(*options)
        watch_graph(run_options, self.graph, debug_urls=urls, **vars(options))
        return True


class WatchingHook(SessionRunHook, abc.ABC):
    """A hook that watches steps as the session does that `_wrap` puts around the monitored session's own."""

    def __init__(self) -> None:
        self._session: WatchingSession | None = None
        self._watched = False

    @abc.abstractmethod
    def _wrap(self, session: Any) -> WatchingSession:
        """The session around that one which watches."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        if self._session is None:
            self._session = self._wrap(run_context.session)
        self._session.go_on_with(run_context.session)
        args, options = run_context.original_args, RunOptions()
        self._watched = self._session.is_in_watched_thread() and self._session.watch(options, args.fetches, args.feed_dict)
        return SessionRunArgs(None, None, options) if self._watched else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._watched and self._session is not None:
            self._session.look(None)


class DumpingDebugHook(WatchingHook):
    """A hook that dumps every step of a monitored session: see `DumpingDebugWrapperSession`.

    Source: `tf_debug.DumpingDebugHook`.
    """

    def __init__(
        self,
        session_root: str,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ):
        super().__init__()
        self._arguments = (session_root, watch_fn, thread_name_filter)

    def _wrap(self, session: Any) -> WatchingSession:
        return DumpingDebugWrapperSession(session, *self._arguments)
