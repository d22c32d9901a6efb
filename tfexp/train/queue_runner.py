"""`tf.train.QueueRunner`: threads that keep a queue full. Source: TF 1.15."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import errors, log
from tfexp.formats.protos.queue_runner import QueueRunnerDef
from tfexp.graph.collections import GraphKeys
from tfexp.graph.defaults import get_default_session
from tfexp.graph.operation import Operation
from tfexp.graph.scope_names import is_exported, strip_name_scope
from tfexp.graph.scopes import add_to_collection, executing_eagerly, get_default_graph
from tfexp.runtime.session import BaseSession
from tfexp.runtime.waiting import register_advice
from tfexp.train import meta_graph
from tfexp.train.coordinator import Coordinator


class QueueRunner:
    """One thread for each of `enqueue_ops`, which runs it again and again.

    A thread ends with an exception of `queue_closed_exception_types` (by default OutOfRangeError: its input has ended); the
    last one to end so closes the queue, with `close_op`. When the coordinator stops them, `cancel_op` closes the queue
    and lets nobody wait for room in it. Any other exception stops the coordinator, whose `join` raises it.
    """

    # Whether nothing but the end of the session wakes a thread that waits: then `join` must not wait for it.
    _ends_with_session = False

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        queue_closed_exception_types: tuple[type[BaseException], ...] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ):
        if executing_eagerly():
            raise RuntimeError(
                "QueueRunners are not supported when eager execution is enabled. Instead, please use tf.data to get data "
                "into your model."
            )
        self._lock = threading.Lock()
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._started = False
        self._exceptions_raised: list[BaseException] = []
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
            return
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue: Any = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op: Any = close_op
        self._cancel_op: Any = cancel_op
        types = (errors.OutOfRangeError,) if queue_closed_exception_types is None else queue_closed_exception_types
        valid = isinstance(types, tuple) and types and all(issubclass(t, errors.OpError) for t in types)
        if not valid:
            raise TypeError(
                f"queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: {types}"
            )
        self._types: tuple[type[BaseException], ...] = types
        if self._close_op is None:
            self._close_op = queue.close()
        if self._cancel_op is None:
            self._cancel_op = queue.close(cancel_pending_enqueues=True)

    def _init_from_proto(self, proto: Any, import_scope: str | None) -> None:
        graph = get_default_graph()
        prefix = f"{import_scope}/" if import_scope else ""

        def element(name: str) -> Any:
            return graph.as_graph_element(prefix + name)

        self._queue = element(proto.queue_name)
        self._enqueue_ops = [element(name) for name in proto.enqueue_op_name]
        self._close_op = element(proto.close_op_name)
        self._cancel_op = element(proto.cancel_op_name)
        self._types = tuple(errors.exception_type_from_error_code(code) for code in proto.queue_closed_exception_types)
        if not self._types:
            self._types = (errors.OutOfRangeError,)

    @property
    def queue(self) -> Any:
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[BaseException], ...]:
        return self._types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """What went wrong in threads without a coordinator."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The queue's name."""
        name: str = self._queue.name
        return name

    @property
    def started(self) -> bool:
        """Whether threads have been made."""
        return self._started

    def create_threads(
        self, sess: Any, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """The threads, started if `start`; none when those of this session still run."""
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
            self._started = True
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord is not None:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop, args=(sess, coord), name=f"QueueRunnerThread-{self.name}-close_on_stop"
                )
            )
        for thread in threads:
            if coord is not None and not self._ends_with_session:
                coord.register_thread(thread)
            thread.daemon = thread.daemon or daemon
            if start:
                thread.start()
        return threads

    def _run(self, sess: Any, enqueue_op: Any, coord: Coordinator | None) -> None:
        """Enqueue until the input ends, somebody asks to stop, or something goes wrong."""
        ended = False
        try:
            enqueue = self._enqueuer(sess, enqueue_op)
            while coord is None or not coord.should_stop():
                enqueue()
        except self._types:
            ended = True
        except Exception as error:
            if coord is not None and coord.should_stop() and self._ends_with_session:
                log.debug("Queue %s: its session has ended: %s", self.name, error)
            elif coord is not None:
                coord.request_stop(error)
            else:
                log.error("Exception in QueueRunner: %s", error)
                with self._lock:
                    self._exceptions_raised.append(error)
                raise
        finally:
            with self._lock:
                self._running[sess] -= 1
                last = self._running[sess] == 0
            if ended and last:
                self._close(sess, self._close_op)

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        """What a thread calls again and again."""
        run: Callable[[], Any] = sess.make_callable(enqueue_op)
        return run

    def _close_on_stop(self, sess: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        self._close(sess, self._cancel_op)

    def _close(self, sess: Any, op: Any) -> None:
        """Run a closing node. The queue may be closed already, and so may the session: then there is nothing to close."""
        try:
            sess.run(op)
        except Exception as error:
            log.debug("Closing queue %s: %s", self.name, error)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The runner as a QueueRunnerDef, with names relative to `export_scope`; None when its queue is not in it."""
        if not is_exported(self.name, export_scope):
            return None

        def name(element: Any) -> str:
            relative: str = strip_name_scope(element.name, export_scope)
            return relative

        return QueueRunnerDef(
            queue_name=name(self._queue),
            enqueue_op_name=[name(op) for op in self._enqueue_ops],
            close_op_name=name(self._close_op),
            cancel_op_name=name(self._cancel_op),
            queue_closed_exception_types=[errors.error_code_from_exception_type(t) for t in self._types],  # type: ignore[arg-type]
        )

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The runner that a QueueRunnerDef (or its bytes) describes, in the default graph."""
        proto = QueueRunnerDef.FromString(
            queue_runner_def if isinstance(queue_runner_def, bytes) else queue_runner_def.SerializeToString()
        )
        return QueueRunner(queue_runner_def=proto, import_scope=import_scope)


NO_QUEUES_EAGERLY = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest data "
    "into your model instead."
)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Put a runner into the graph's collection, for `start_queue_runners`. `tf.train.add_queue_runner`."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Start the threads of all runners in the collection. ValueError without a session. `tf.train.start_queue_runners`."""
    if executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with sess.as_default()` or pass an "
                "explicit session to tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, BaseSession):
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []  # they start them themselves
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = sess.graph.get_collection(collection)
    if not runners:
        log.warn(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You can safely remove the call "
            "to this deprecated function."
        )
    with sess.graph.as_default():
        return [t for runner in runners for t in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]


def _forgotten(graph: Any) -> str | None:
    """What to say to somebody who waits in vain for queues that nobody fills."""
    idle = [r.name for r in graph.get_collection(GraphKeys.QUEUE_RUNNERS) if isinstance(r, QueueRunner) and not r.started]
    if not idle:
        return None
    return f"Nothing fills the queues {', '.join(idle)}: was tf.train.start_queue_runners() forgotten?"


register_advice(_forgotten)


meta_graph.register_proto_function(GraphKeys.QUEUE_RUNNERS, QueueRunnerDef, None, QueueRunner.from_proto)
