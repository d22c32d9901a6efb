"""One session with its hooks and its coordinator, from when it was made until it is lost or closed. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from tfexp.core import errors
from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator
from tfexp.train.queue_runner import start_queue_runners
from tfexp.train.session_creators import SessionCreator
from tfexp.train.session_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_log = get_logger()

# What a lost task of a cluster makes of a step: the session is of no use any more, a new one may be.
LOST = (errors.AbortedError, errors.UnavailableError)


class HookedSession:
    """A session of `creator`, with the graph's queue runners running and the hooks told about it."""

    def __init__(self, creator: SessionCreator, hooks: Sequence[SessionRunHook], stop_grace_period_secs: float):
        self.session: Session = creator.create_session()
        self._hooks = hooks
        self._grace = stop_grace_period_secs
        # The end of the input is for the caller to see, hence no exception is a clean stop.
        self.coord = Coordinator(clean_stop_exception_types=())
        self._hook_stopped = False
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
        return self._hook_stopped or self.coord.should_stop()

    def run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        """One step with the hooks' fetches and feeds added. RuntimeError after a hook has asked for the end.

        When it fails after a thread of the coordinator has, the thread's exception is the one to raise: it came first.
        """
        try:
            return self._run(fetches, feed_dict, options, run_metadata)
        except LOST:
            raise
        except Exception:
            self.coord.raise_requested_exception()
            raise

    def _run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        if self._hook_stopped:
            raise RuntimeError("Run called even after should_stop requested.")
        value, stop = run_with_hooks(self.session, self._hooks, fetches, feed_dict, options, run_metadata)
        self._hook_stopped = self._hook_stopped or stop
        return value

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


def run_with_hooks(
    session: Any, hooks: Sequence[SessionRunHook], fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
) -> tuple[Any, bool]:
    """One step with the hooks' fetches and feeds added: what `fetches` give, and whether a hook asks for the end."""
    context = SessionRunContext(SessionRunArgs(fetches, feed_dict), session)
    asked = [hook.before_run(context) for hook in hooks]
    given = [args for args in asked if args is not None]
    feeds = _joined_feeds((args.feed_dict for args in given if args.feed_dict), feed_dict)
    merged = _joined_options((args.options for args in given if args.options is not None), options)
    extra = [args.fetches for args in given if args.fetches is not None]
    metadata = RunMetadata() if run_metadata is None else run_metadata
    # Without options a step leaves no metadata, and takes the session's fast way.
    plain = merged == _NO_OPTIONS and run_metadata is None
    settings = {} if plain else {"options": merged, "run_metadata": metadata}
    value, results = session.run([fetches, extra], feeds or None, **settings)
    remaining = iter(results)
    for hook, args in zip(hooks, asked, strict=True):
        result = next(remaining) if args is not None and args.fetches is not None else None
        hook.after_run(context, SessionRunValues(result, merged, metadata))
    return value, context.stop_requested


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
        joined.debug_options.debug_tensor_watch_opts.extend(options.debug_options.debug_tensor_watch_opts)
        joined.debug_options.reset_disk_byte_usage |= options.debug_options.reset_disk_byte_usage
    return joined
