"""A transport over gRPC: TensorFlow's services as a client sees them.

TensorFlow's protocol has each request and each answer be one message, with its tensors in it: none is larger than
`Security.max_message_bytes`, at most protobuf's 2 GiB, and what is larger is refused with that number before it is sent.
gRPC's Python interface takes and gives a message as one `bytes`. So a large tensor is copied into the message and out of
it (`large_tensors`; protobuf never sees it), and once more by gRPC on either side, while gRPC itself sends it in frames.
Lanes (`lane`) have no such copies. They are what two tasks of tfexp use, unless TLS has to protect what goes from one
machine to another, TFEXP_LANES is off, or one of the two does not run on Linux.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from tfexp.core.errors import CANCELLED, UNAVAILABLE, CancelledError, InternalError, OpError, UnavailableError
from tfexp.distributed import messages as m
from tfexp.distributed.inbox import Inbox
from tfexp.distributed.security import Security
from tfexp.distributed.status import as_error
from tfexp.distributed.traffic import Traffic
from tfexp.distributed.transport import OnDone
from tfexp.distributed.wire import METHODS, Method

_log = logging.getLogger("tfexp.distributed")

# A proxy has no business between tasks. A peer that is back is found soon; but one that is busy, or far away, has five
# seconds to take a connection: `min_reconnect_backoff_ms` is how long gRPC lets an attempt go on.
_OPTIONS = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5000),
    ("grpc.max_reconnect_backoff_ms", 2000),
)

# How long a wait for a peer goes on in silence, at first and from then on.
_FIRST_WORD, _EVERY = 1.0, 10.0


def size_options(security: Security) -> tuple[tuple[str, int], ...]:
    limit = security.max_message_bytes
    return (("grpc.max_send_message_length", limit), ("grpc.max_receive_message_length", limit))


class GrpcChannel:
    """The task at `address` (`host:port`). `name`: what to call it in messages; `traffic`: who counts the bytes."""

    def __init__(self, address: str, name: str = "", security: Security | None = None, traffic: Traffic | None = None):
        import grpc

        security = security or Security()

        self._grpc = grpc
        self.traffic = traffic or Traffic()
        self.address = address
        self.name = f"{name} at {address}" if name else address
        self._metadata = security.metadata or None
        options = (*_OPTIONS, *size_options(security))
        credentials = security.client_credentials(grpc)
        if credentials is None:
            self._channel = grpc.insecure_channel(address, options=options)
        else:
            self._channel = grpc.secure_channel(address, credentials, options=options)
        self._stubs: dict[type[Any], Any] = {}
        self._closed = False

    def _stub(self, request: m.Request) -> tuple[Method, Any]:
        method = METHODS[type(request)]
        stub = self._stubs.get(type(request))
        if stub is None:
            if self._closed:
                raise UnavailableError(None, None, f"The channel to {self.name} was closed")
            stub = self._stubs[type(request)] = self._channel.unary_unary(method.path)
        return method, stub

    def call(self, request: m.Request, timeout: float | None = None) -> m.Reply:
        method, stub = self._stub(request)
        try:
            data = method.request_bytes(request)
            response = stub(data, timeout=timeout, metadata=self._metadata)
        except self._grpc.RpcError as error:
            raise self._error(error) from None
        except ValueError as error:  # gRPC's word for a channel that was closed meanwhile
            raise CancelledError(None, None, f"{self.name}: {error}") from None
        self.traffic.add(sent=len(data), received=len(response))
        return method.read_reply(response, request)

    def ask(self, path: str, question: bytes, timeout: float) -> bytes:
        """The answer of a method that is none of TensorFlow's."""
        if self._closed:
            raise UnavailableError(None, None, f"The channel to {self.name} was closed")
        try:
            answer: bytes = self._channel.unary_unary(path)(question, timeout=timeout, metadata=self._metadata)
        except self._grpc.RpcError as error:
            raise self._error(error) from None
        except ValueError as error:
            raise CancelledError(None, None, f"{self.name}: {error}") from None
        return answer

    def start(
        self, request: m.Request, done: OnDone, wait: bool = False, inbox: Inbox | None = None
    ) -> Callable[[OpError], None]:
        method, stub = self._stub(request)
        try:
            data = method.request_bytes(request)
            future = stub.future(data, wait_for_ready=wait, metadata=self._metadata)
        except ValueError as error:
            raise CancelledError(None, None, f"{self.name}: {error}") from None
        reasons: list[OpError] = []
        if wait:
            self._say_who_is_waited_for(future, _FIRST_WORD)

        def finished(ended: Any) -> None:
            try:
                response = ended.result()
                self.traffic.add(sent=len(data), received=len(response))
                reply, failure = method.read_reply(response, request), None
            except OpError as error:
                reply, failure = None, error
            except self._grpc.FutureCancelledError:
                reply, failure = None, reasons[0] if reasons else CancelledError(None, None, f"{self.name}: cancelled")
            except self._grpc.RpcError as error:
                reply, failure = None, self._error(error)
            except Exception as error:
                reply, failure = None, InternalError(None, None, f"The answer of {self.name} cannot be read: {error}")
            done(reply, failure)

        future.add_done_callback(finished)

        def give_up(reason: OpError) -> None:
            reasons.append(reason)
            future.cancel()

        return give_up

    def _say_who_is_waited_for(self, future: Any, seconds: float) -> None:
        def remind() -> None:
            if not future.done():
                _log.warning("Still waiting for %s: it does not answer yet", self.name)
                self._say_who_is_waited_for(future, _EVERY)

        timer = threading.Timer(seconds, remind)
        timer.daemon = True
        timer.start()
        future.add_done_callback(lambda _: timer.cancel())

    def watch(self, lost: Callable[[], None]) -> Callable[[], None]:
        """Call `lost`, on a thread of gRPC's, when the task has gone: its connection is no more, and it does not answer.

        Returns what ends the watch.
        """
        there, gone = self._grpc.ChannelConnectivity.READY, self._grpc.ChannelConnectivity.SHUTDOWN
        was_there = False

        def changed(state: Any) -> None:
            nonlocal was_there
            if state is there:
                was_there = True
            elif was_there and state is not gone:
                # A connection may also end because it was not used for long.
                was_there = False
                self.start(m.GetStatus(), lambda _, error: None if error is None else lost())

        self._channel.subscribe(changed, try_to_connect=True)
        return lambda: self._channel.unsubscribe(changed)

    def _error(self, error: Any) -> OpError:
        code, text = error.code().value[0], error.details() or ""
        if (code, text) == (CANCELLED, "CANCELLED"):
            # Nobody here gave the call up, and no server says it so: one that stops has reset the stream.
            code, text = UNAVAILABLE, "it has cut the call off"
        if code == UNAVAILABLE and self.address not in text:
            text = f"{self.name} cannot be reached: {text}"
        elif code == UNAVAILABLE:
            text = f"{self.name} cannot be reached ({text})"
        return as_error(code, text)

    def close(self) -> None:
        self._closed = True
        self._stubs.clear()
        self._channel.close()
