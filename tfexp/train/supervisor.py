"""`tf.train.Supervisor`: a session that is prepared, and threads that save it and write its summaries. Source: TF 1.15.

The chief prepares the model (restores the newest checkpoint of `logdir`, or initialises) and runs the services; others wait
until it has. What of the graph it uses (`init_op`, `saver`, …) is found in the graph's collections or made.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.event_pb2 import SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary

from tfexp.core.log import get_logger
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.ops.summary import merge_all
from tfexp.ops.uninitialized import report_uninitialized_variables
from tfexp.ops.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    tables_initializer,
)
from tfexp.runtime.session import Session
from tfexp.train.coordinator import Coordinator, LooperThread
from tfexp.train.global_step import get_global_step, global_step
from tfexp.train.graph_io import write_graph
from tfexp.train.meta_graph import export_meta_graph
from tfexp.train.saver import Saver
from tfexp.train.session_manager import SessionManager
from tfexp.train.summary_writer import FileWriter

_log = get_logger()

_USE_DEFAULT = 0
_STEPS_PER_SECOND = "global_step/sec"


class Supervisor:
    """Prepares sessions of a graph and looks after them. `tf.train.Supervisor`.

    `logdir`: where checkpoints, summaries and the graph go; without one nothing is saved. `is_chief`: whether this client
    prepares the model and runs the services. Whatever is USE_DEFAULT is found or made; None stands for none. Checkpoints are
    written every `save_model_secs`, summaries every `save_summaries_secs` seconds (0: never). With services, the graph must
    not change any more. ValueError when variables without a device are to be shared with a chief elsewhere.
    """

    USE_DEFAULT = _USE_DEFAULT

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Any = _USE_DEFAULT,
        ready_for_local_init_op: Any = _USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = _USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = _USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = _USE_DEFAULT,
        saver: Any = _USE_DEFAULT,
        global_step: Any = _USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = _USE_DEFAULT,
        init_fn: Callable[[Session], Any] | None = None,
        local_init_run_options: Any = None,
    ):
        self._graph = get_default_graph() if graph is None else graph
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._recovery_wait_secs, self._stop_grace_secs = recovery_wait_secs, stop_grace_secs
        self._init_feed_dict, self._init_fn = init_feed_dict, init_fn
        self._local_init_run_options = local_init_run_options
        with self._graph.as_default():
            self._ready_op = self._found_or_made(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = self._found_or_made(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op = self._found_or_made(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = self._found_or_made(local_init_op, GraphKeys.LOCAL_INIT_OP, _initialize_locals)
            self._saver = self._found_or_made(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self._summary_op = self._found_or_made(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = self._found_or_made(global_step, GraphKeys.GLOBAL_STEP, get_global_step)
        self._logdir = logdir
        self._save_path = os.path.join(logdir, checkpoint_basename) if logdir and is_chief else None
        self._save_summaries_secs = save_summaries_secs if logdir and is_chief else None
        self._save_model_secs = save_model_secs if logdir and is_chief else None
        self._summary_writer: FileWriter | None = None
        if is_chief and summary_writer is _USE_DEFAULT:
            self._summary_writer = FileWriter(logdir) if logdir else None
        elif is_chief:
            self._summary_writer = summary_writer
        self._graph_added_to_summary = False
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._check_devices()
        self._graph.finalize()

    def _found_or_made(self, given: Any, collection: str, make: Callable[[], Any]) -> Any:
        """What was given, else the collection's first, else a new one, which is put there."""
        if given is not _USE_DEFAULT:
            return given
        found = self._graph.get_collection(collection)
        if found:
            return found[0]
        made = make()
        if made is not None:
            self._graph.add_to_collection(collection, made)
        return made

    def _check_devices(self) -> None:
        """Variables that a chief elsewhere prepares must say where they are."""
        if self._is_chief:
            return
        for variable in global_variables():
            if not variable.device:
                raise ValueError(f"When using replicas, all Variables must have their device set: {variable.op.node_def}")

    # --- what it works with --------------------------------------------------------------------------------------

    @property
    def is_chief(self) -> bool:
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The coordinator of all threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> FileWriter | None:
        """The writer of the chief's summaries; None without a `logdir`, and for others."""
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        return self._global_step

    @property
    def saver(self) -> Any:
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The prefix of the checkpoints."""
        return self._save_path

    # --- sessions ------------------------------------------------------------------------------------------------

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """A session whose model is ready: the chief makes it so, others wait for that. Starts the queue runners."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                _log.info("Starting standard services.")
                self.start_standard_services(session)
        else:
            session = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            _log.info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """A prepared session; at the end of the block everything is stopped, and what threads raised is raised here."""
        try:
            session = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:  # the coordinator raises it again when all threads have ended
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                # Threads that wait at a server are woken by the end of their session.
                with contextlib.suppress(UnboundLocalError):
                    session.close()

    # --- services ------------------------------------------------------------------------------------------------

    def start_standard_services(self, sess: Session) -> list[LooperThread] | None:
        """Start what writes checkpoints, summaries and steps per second; the threads, or None without a `logdir`."""
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors can write events."
            )
        if not self._logdir:
            _log.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        threads: list[LooperThread] = []
        if self._global_step is not None and self._summary_writer:
            step = global_step(sess, self._global_step)
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(_Timer(self._coord, self._save_summaries_secs, self._write_summary, sess))
            if self._global_step is not None:
                threads.append(_Timer(self._coord, self._save_summaries_secs, _StepCounter(self, sess)))
        if self.saver and self._save_model_secs:
            threads.append(_Timer(self._coord, self._save_model_secs, self._save, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(self, sess: Session, queue_runners: Sequence[Any] | None = None) -> list[Any]:
        """Start the graph's queue runners, or these; their threads."""
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return [t for runner in runners for t in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """A thread that calls `target` every so many seconds until everything stops."""
        looper = LooperThread(self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def _write_graph(self) -> None:
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            saver_def = self._saver.saver_def if self._saver else None
            self._summary_writer.add_meta_graph(export_meta_graph(graph=self._graph, saver_def=saver_def))
            self._graph_added_to_summary = True

    def _write_summary(self, sess: Session) -> None:
        assert self._summary_writer is not None
        if self._global_step is not None:
            values, step = sess.run([self._summary_op, self._global_step])
        else:
            values, step = sess.run(self._summary_op), None
        _log.info("Recording summary at step %s.", step)
        self._summary_writer.add_summary(values, step)

    def _save(self, sess: Session) -> None:
        _log.info("Saving checkpoint to path %s", self._save_path)
        self._saver.save(sess, self._save_path, global_step=self._global_step)
        if self._summary_writer and self._global_step is not None:
            step = global_step(sess, self._global_step)
            log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
            self._summary_writer.add_session_log(log, step)

    def summary_computed(self, sess: Session, summary: Any, global_step: Any = None) -> None:
        """Write a summary that was computed; `global_step`: its step, else the graph's. RuntimeError without a writer."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = int(sess.run(self._global_step))
        self._summary_writer.add_summary(summary, global_step)

    # --- the end -------------------------------------------------------------------------------------------------

    def should_stop(self) -> bool:
        """Whether anybody has asked for the end."""
        return self._coord.should_stop()

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to end; `ex` is why, and is raised by `stop`."""
        self._coord.request_stop(ex=ex)

    def wait_for_stop(self) -> None:
        """Wait until somebody asks for the end."""
        self._coord.wait_for_stop()

    def stop_on_exception(self) -> Any:
        """A context in which an exception asks all threads to end."""
        return self._coord.stop_on_exception()

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Ask all threads to end and wait for them; raises what a thread asked with. The writer is closed."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    # The names that they had before.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _initialize_locals() -> Any:
    return group(local_variables_initializer(), tables_initializer())


class _Timer(LooperThread):
    """Calls `action` every so many seconds, and once more at the end, so that nothing of the last while is missing."""

    def __init__(self, coord: Coordinator, interval: float, action: Callable[..., Any], *args: Any):
        super().__init__(coord, interval, target=action, args=args)


class _StepCounter:
    """Writes how many steps were made in a second since it was last called."""

    def __init__(self, supervisor: Supervisor, sess: Session):
        self._supervisor, self._sess = supervisor, sess
        self._time = time.monotonic()
        self._step = global_step(sess, supervisor.global_step)

    def __call__(self) -> None:
        now, step = time.monotonic(), global_step(self._sess, self._supervisor.global_step)
        made, elapsed = step - self._step, now - self._time
        self._time, self._step = now, step
        rate = made / elapsed if elapsed > 0 else float("inf")
        writer = self._supervisor.summary_writer
        assert writer is not None
        writer.add_summary(Summary(value=[Summary.Value(tag=_STEPS_PER_SECOND, simple_value=rate)]), step)
        _log.info("%s: %g", _STEPS_PER_SECOND, rate)
