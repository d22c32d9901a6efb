"""The backend of sessions with a target: a client of a master, of TensorFlow's or of ours."""

from __future__ import annotations

import _thread
import atexit
import contextlib
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import config_pb2

from tfexp.core import log
from tfexp.core.errors import CancelledError, OpError, UnavailableError, UnimplementedError
from tfexp.distributed import messages as m
from tfexp.distributed.transport import Transport
from tfexp.formats.tensor import make_ndarray
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.runtime import waiting
from tfexp.runtime.backend import Shapes
from tfexp.runtime.device_list import DeviceAttributes

# Seconds that closing a session waits for a server which may be gone.
_CLOSE_TIMEOUT = 10.0
_NODE = re.compile(r"\{\{node ([^}]+)\}\}")

_open: weakref.WeakSet[RemoteBackend] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """While there are still threads: gRPC's answer to a call that a module's end makes comes to nobody any more."""
    for backend in list(_open):
        backend.close()


class RemoteBackend:
    """One session at a server. Nothing is sent before the first step."""

    def __init__(self, transport: Transport, target: str, graph: Graph, config: config_pb2.ConfigProto | None):
        self._transport = transport
        self._target = target
        self._graph = graph
        self._config = config or config_pb2.ConfigProto()
        self._lock = threading.Lock()
        self._handle = ""
        self._version = 0
        self._sent = 0  # nodes that the master has
        self._closed = False
        self._hinted = False
        _open.add(self)

    def prepare(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> RemoteStep:
        return RemoteStep(self, fetches, targets, feeds)

    def session(self) -> str:
        """The session's handle at the master, which has the whole graph after this."""
        with self._lock:
            if self._closed:
                raise _closed()
            with self._graph._lock:
                count = len(self._graph._operations)
                if self._handle and count == self._sent:
                    return self._handle
                graph_def = self._graph.as_graph_def(from_version=self._sent)
                graph_def.library.SetInParent()  # TensorFlow's clients send it even when it is empty
            if not self._handle:
                created = self._call(m.CreateSession(graph_def, self._config, self._target))
                self._handle, self._version = created.session, created.graph_version
            else:
                self._version = self._call(m.ExtendSession(self._handle, graph_def, self._version)).graph_version
            self._sent = count
            return self._handle

    def _call(self, request: m.Request, timeout: float | None = None) -> Any:
        if timeout is None and self._config.operation_timeout_in_ms > 0:
            timeout = self._config.operation_timeout_in_ms / 1e3
        try:
            return self._transport.call(request, timeout)
        except OpError as error:
            if self._closed and isinstance(error, UnavailableError):  # that is no server to come back to
                raise _closed() from None
            raise self._with_node(error) from None

    def _with_node(self, error: OpError) -> OpError:
        """The error with the node of this graph that its message names."""
        found = _NODE.search(error.message)
        op = None if found is None else self._graph._by_name.get(found.group(1))
        return error if op is None else type(error)(op.node_def, op, error.message)

    def run(
        self,
        feeds: Sequence[tuple[str, Any]],
        fetches: tuple[str, ...],
        targets: tuple[str, ...],
        options: config_pb2.RunOptions | None,
        run_metadata: config_pb2.RunMetadata | None,
    ) -> list[Any]:
        timeout = options.timeout_in_ms / 1e3 if options is not None and options.timeout_in_ms > 0 else None
        request = m.RunStep(self.session(), tuple(feeds), fetches, targets, options)
        with self._hinting((*fetches, *targets)):
            reply = self._call(request, timeout)
        if run_metadata is not None:
            run_metadata.Clear()
            if reply.metadata is not None:
                run_metadata.CopyFrom(reply.metadata)
        return [_handed_out(value) for value in reply.values]

    @contextlib.contextmanager
    def _hinting(self, wanted: tuple[str, ...]) -> Iterator[None]:
        """While a step is under way that may wait for what nobody brings: say so after a while, once for a session.

        The server knows nothing of queue runners, so it falls to the client to think of them.
        """
        if self._hinted or waiting.advice_for(self._graph) is None:
            yield
            return

        def hint() -> None:
            advice = waiting.advice_for(self._graph)
            if advice is not None and not self._hinted:
                self._hinted = True
                names = ", ".join(wanted[:3])
                log.warn("The step for %s at %s has taken %g s so far. %s", names, self._target, waiting.HINT_AFTER, advice)

        timer = threading.Timer(waiting.HINT_AFTER, hint)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def list_devices(self) -> list[DeviceAttributes]:
        listed = self._call(m.ListDevices(self.session()))
        return [DeviceAttributes(d.name, d.memory_limit, d.incarnation) for d in (*listed.local, *listed.remote)]

    def close(self) -> None:
        # Without the lock: a step that waits for the session to be made must not keep it open.
        if self._closed:
            return
        self._closed = True
        if self._handle:
            # A server that is gone has closed the session already.
            with contextlib.suppress(OpError):
                self._transport.call(m.CloseSession(self._handle), _CLOSE_TIMEOUT)
        self._transport.close()

    def forget(self) -> None:
        _thread.start_new_thread(self.close, ())


class RemoteStep:
    """One (fetches, targets, feeds), by name."""

    def __init__(
        self,
        backend: RemoteBackend,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
    ):
        self.ready: dict[Shapes, Any] = {}
        self._backend = backend
        self._fetches = tuple(t.name for t in fetches)
        self._targets = tuple(op.name for op in targets)
        self._feeds = tuple((t.name, t.dtype) for t in feeds)

    def run(self, values: Sequence[Any], shapes: Shapes, options: Any, run_metadata: Any) -> Sequence[Any]:
        feeds = [(name, m.declared(value, dtype)) for (name, dtype), value in zip(self._feeds, values, strict=True)]
        return self._backend.run(feeds, self._fetches, self._targets, options, run_metadata)

    def explain(self, shapes: Shapes) -> Any:
        raise UnimplementedError(None, None, "How a step at a server runs is known there; explain it in a local session")


def _closed() -> OpError:
    return CancelledError(None, None, "Session has been closed.")


def _handed_out(value: Any) -> Any:
    """A fetched value as `Session.run` gives it: an array of the caller's own, a scalar if it is 0-d."""
    array = make_ndarray(value) if not isinstance(value, np.ndarray | np.generic) else value
    return array[()] if isinstance(array, np.ndarray) and array.shape == () else array
