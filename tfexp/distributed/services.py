"""TensorFlow's services over gRPC: requests are decoded, handed to the task, and its answers encoded. Nothing else."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from concurrent import futures
from typing import Any

from google.protobuf.message import EncodeError

from tfexp.core import errors
from tfexp.core.errors import CancelledError, OpError
from tfexp.distributed import messages as m
from tfexp.distributed.channel import size_options
from tfexp.distributed.lane_server import LaneServer
from tfexp.distributed.security import Security
from tfexp.distributed.status import code_and_text
from tfexp.distributed.transport import Host
from tfexp.distributed.wire import MASTER, METHODS, WORKER, Method
from tfexp.formats.protos import worker_service as ws

_log = logging.getLogger("tfexp.distributed")

# Requests that may be under way at once: each that waits (a dequeue, a tensor that is not there yet) holds a thread.
MAX_REQUESTS = 1024
NO_TOKEN = "This server serves only those who bring its token (TFEXP_TOKEN); the call brought none, or another"
# What fits into the trailer of a gRPC status; the body of a response has no such bound.
_MAX_DETAILS = 4000


class GrpcServices:
    """The two services of a task, listening at `address` (`host:port`, port 0: any). `port` is where they are."""

    def __init__(self, host: Host, address: str, security: Security | None = None):
        import grpc

        security = security or Security()

        self._grpc = grpc
        self._host = host
        self._pool = _DaemonThreads()
        self._server = grpc.server(
            self._pool,
            interceptors=(_doorkeeper(grpc, security),) if security.token else None,
            options=(*size_options(security), ("grpc.so_reuseport", 0)),
            maximum_concurrent_rpcs=MAX_REQUESTS,
        )
        self._lanes = LaneServer(host, security, address.rpartition(":")[0])
        by_service: dict[str, dict[str, Any]] = {MASTER: {}, WORKER: {}}
        for method in METHODS.values():
            by_service[method.service][method.name] = self._handler(method)
        for name, request, response in (
            ("Logging", ws.LoggingRequest, ws.LoggingResponse),
            ("Tracing", ws.TracingRequest, ws.TracingResponse),
            ("MarkRecvFinished", ws.MarkRecvFinishedRequest, ws.MarkRecvFinishedResponse),
        ):
            by_service[WORKER][name] = self._empty(request, response)
        by_service["tfexp.Lanes"] = {"Open": grpc.unary_unary_rpc_method_handler(self._offer_lane)}
        for service, handlers in by_service.items():
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        try:
            credentials = security.server_credentials(grpc)
            self.port: int = (
                self._server.add_insecure_port(address)
                if credentials is None
                else self._server.add_secure_port(address, credentials)
            )
        except RuntimeError as error:
            raise errors.UnknownError(None, None, _cannot_bind(address, error)) from None
        if self.port == 0:
            raise errors.UnknownError(None, None, _cannot_bind(address, None))

    def start(self) -> None:
        self._server.start()

    def stop(self, grace: float | None = None) -> threading.Event:
        """Take no more requests; those under way have `grace` seconds. The event is set when all is over."""
        self.stop_lanes()
        stopped: threading.Event = self._server.stop(grace)
        self._pool.shutdown()  # gRPC leaves it to its owner
        return stopped

    def stop_lanes(self) -> None:
        """Send the answers that are made to those who have lanes, and take no more from them."""
        self._lanes.stop()

    def _handler(self, method: Method) -> Any:
        # Bytes are decoded in the handler: what cannot be read gets a status that says so.
        return self._grpc.unary_unary_rpc_method_handler(lambda data, context: self._serve(method, data, context))

    def _empty(self, request: Any, response: Any) -> Any:
        return self._grpc.unary_unary_rpc_method_handler(
            lambda _, __: response(), request.FromString, response.SerializeToString
        )

    def _offer_lane(self, question: bytes, context: Any) -> bytes:
        try:
            return self._lanes.offer(question)
        except (OpError, OSError) as error:  # there may be no room for a socket or its directory
            code, text = code_and_text(error)
            context.abort(self._status(code), text)
            raise AssertionError("abort raises") from None

    def _serve(self, method: Method, data: bytes, context: Any) -> bytes:
        in_body = False
        try:
            request, in_body = method.read_request(data)
            return self._answer(method, request, context)
        except OpError as error:
            code, text = code_and_text(error)
        except (EncodeError, TypeError, ValueError) as error:
            code, text = errors.INTERNAL, f"The answer to {method.name} cannot be sent: {error}"
        except Exception as error:
            _log.exception("%s failed", method.path)
            code, text = code_and_text(error)
        if in_body:
            response: bytes = method.response(status_code=code, status_error_message=text).SerializeToString()
            return response
        context.abort(self._status(code), text[:_MAX_DETAILS])
        raise AssertionError("abort raises")

    def _answer(self, method: Method, request: m.Request, context: Any) -> bytes:
        number = self._host.begin()
        gone = CancelledError(None, None, "The client does not wait for the answer any more")
        if not context.add_callback(lambda: self._host.cancel(number, gone)):
            self._host.cancel(number, gone)
        reply = self._host.run(number, request)
        return method.reply_bytes(reply, request)

    def _status(self, code: int) -> Any:
        return next((s for s in self._grpc.StatusCode if s.value[0] == code), self._grpc.StatusCode.UNKNOWN)


def _doorkeeper(grpc: Any, security: Security) -> Any:
    """Turns away whoever does not bring the token, whatever he calls."""

    def refuse(_: Any, context: Any) -> None:
        context.abort(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)

    refusal = grpc.unary_unary_rpc_method_handler(refuse)

    class Doorkeeper(grpc.ServerInterceptor):
        def intercept_service(self, continuation: Any, details: Any) -> Any:
            return continuation(details) if security.admits(details.invocation_metadata) else refusal

    return Doorkeeper()


def _cannot_bind(address: str, error: Exception | None) -> str:
    return (
        f"Could not start gRPC server: {address} cannot be listened at. Is the port in use by another server or process, or "
        f"the host not this one?{'' if error is None else f' ({error})'}"
    )


class _DaemonThreads(futures.Executor):
    """As many threads as there is work at once, kept for the next; none of them keeps the process alive.

    When it is shut down its threads end as they become idle. Nobody waits for them; what still comes gets a new one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shut_down = False
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        # gRPC asks a pool how many there may be.
        self._max_workers = MAX_REQUESTS + 16

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        future: futures.Future[Any] = futures.Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        with self._lock:
            if self._shut_down:
                target: Callable[[], None] | None = run
            else:
                self._work.put(run)
                target = None if self._idle.acquire(blocking=False) else self._serve
        if target is not None:
            threading.Thread(target=target, name="tfexp-server", daemon=True).start()
        return future

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            self._idle.release()
        self._work.put(None)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._shut_down = True
        self._work.put(None)
