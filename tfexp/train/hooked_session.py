"""One session with its hooks and its coordinator, from when it was made until it is lost or closed. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tfexp.core import errors
from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graph import Graph
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.queue_runner import start_queue_runners
from tfexp.train.session_creators import SessionCreator
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_log = get_logger()

# What a lost task of a cluster makes of a step: the session is of no use any more, a new one may be.
LOST = (errors.AbortedError, errors.UnavailableError)


class StepsWithHooks:
    """The steps of a session, to which hooks add fetches and feeds."""

    def __init__(self, sess: Session, hooks: Sequence[SessionRunHook]):
        self._session = sess
        self._hooks = hooks
        self._stop_requested = False

    @property
    def graph(self) -> Graph:
        return self._session.graph

    def should_stop(self) -> bool:
        """Whether a hook has asked for the end."""
        return self._stop_requested

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """One step with the hooks' fetches and feeds added. RuntimeError after a hook has asked for the end."""
        if self._stop_requested:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._session)
        asked = [hook.before_run(context) for hook in self._hooks]
        given = [args for args in asked if args is not None]
        feeds = _joined_feeds((args.feed_dict for args in given if args.feed_dict), feed_dict)
        merged = _joined_options((args.options for args in given if args.options is not None), options)
        extra = [args.fetches for args in given if args.fetches is not None]
        metadata = RunMetadata() if run_metadata is None else run_metadata
        # Without options a step leaves no metadata, and takes the session's fast way.
        plain = merged == _NO_OPTIONS and run_metadata is None
        settings = {} if plain else {"options": merged, "run_metadata": metadata}
        value, results = self._session.run([fetches, extra], feeds or None, **settings)
        remaining = iter(results)
        for hook, args in zip(self._hooks, asked, strict=True):
            result = next(remaining) if args is not None and args.fetches is not None else None
            hook.after_run(context, SessionRunValues(result, merged, metadata))
        self._stop_requested = self._stop_requested or context.stop_requested
        return value


class HookedSession:
    """A session of `creator`, with the graph's queue runners running and the hooks told about it."""

    def __init__(self, creator: SessionCreator, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float):
        self.session: Session = creator.create_session()
        self._steps = StepsWithHooks(self.session, hooks)
        self._grace = stop_grace_period_secs
        # The end of the input is for the caller to see, hence no exception is a clean stop.
        self.coord = Coordinator(clean_stop_exception_types=())
        try:
            if self.session.graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(sess=self.session, coord=self.coord)
            for hook in hooks:
                hook.after_create_session(self.session, self.coord)
        except BaseException:
            # Nobody gets it: its threads and its server's part must not go on. What went wrong is what counts.
            with contextlib.suppress(Exception):
                self.close()
            raise

    def should_stop(self) -> bool:
        """Whether a hook or a thread has asked for the end. Raises what tells a thread that a task was lost."""
        try:
            self.coord.raise_requested_exception()
        except LOST:
            raise
        except Exception as error:  # `close` raises it, when the threads have ended
            _log.debug("A thread asked to stop: %s", error)
        return self._steps.should_stop() or self.coord.should_stop()

    def run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        """One step with its hooks.

        When it fails after a thread of the coordinator has, the thread's exception is the one to raise: it came first.
        """
        try:
            return self._steps.run(fetches, feed_dict, options, run_metadata)
        except LOST:
            raise
        except Exception:
            self.coord.raise_requested_exception()
            raise

    def close(self) -> None:
        """Stop the threads and close the session; raises what a thread failed with."""
        self.coord.request_stop()
        try:
            self.coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            try:
                self.session.close()
            except errors.OpError as error:
                _log.info("Closing the session: %s", error)


_NO_OPTIONS = RunOptions()


def _joined_feeds(of_hooks: Iterable[Any], of_caller: Any) -> dict[Any, Any]:
    """All feeds. RuntimeError where two feed the same."""
    joined: dict[Any, Any] = {}
    for feeds in of_hooks:
        _refuse_twice(joined, feeds, "two hooks")
        joined.update(feeds)
    if of_caller:
        _refuse_twice(joined, of_caller, "a SessionRunHook and user")
        joined.update(of_caller)
    return joined


def _refuse_twice(fed: Any, feeds: Any, by: str) -> None:
    twice = [key for key in feeds if key in fed]
    if twice:
        raise RuntimeError(f"Same tensor is fed by {by}. Conflict(s): {twice}")


def _joined_options(of_hooks: Iterable[Any], of_caller: Any) -> RunOptions:
    """The options that satisfy everybody: the most of everything that somebody asks for."""
    joined = RunOptions()
    for index, options in enumerate([*([of_caller] if of_caller is not None else []), *of_hooks]):
        if index == 0:
            joined.CopyFrom(options)
            continue
        joined.trace_level = max(joined.trace_level, options.trace_level)
        joined.timeout_in_ms = max(joined.timeout_in_ms, options.timeout_in_ms)
        joined.inter_op_thread_pool = max(joined.inter_op_thread_pool, options.inter_op_thread_pool)
        joined.output_partition_graphs |= options.output_partition_graphs
        joined.report_tensor_allocations_upon_oom |= options.report_tensor_allocations_upon_oom
    return joined
