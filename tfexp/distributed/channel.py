"""A transport over gRPC: TensorFlow's services as a client sees them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from tfexp.core.errors import UNAVAILABLE, CancelledError, InternalError, OpError, UnavailableError
from tfexp.distributed import messages as m
from tfexp.distributed.status import as_error
from tfexp.distributed.transport import OnDone
from tfexp.distributed.wire import METHODS, Method

_log = logging.getLogger("tfexp.distributed")

# Messages may be as large as protobuf allows; a proxy has no business between tasks; a peer that is back is found soon.
OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
)

# How long a wait for a peer goes on in silence, at first and from then on.
_FIRST_WORD, _EVERY = 1.0, 10.0


class GrpcChannel:
    """The task at `address` (`host:port`). `name`: what to call it in messages."""

    def __init__(self, address: str, name: str = ""):
        import grpc

        self._grpc = grpc
        self._address = address
        self._name = f"{name} at {address}" if name else address
        self._channel = grpc.insecure_channel(address, options=OPTIONS)
        self._stubs: dict[type[Any], Any] = {}
        self._closed = False

    def _stub(self, request: m.Request) -> tuple[Method, Any]:
        method = METHODS[type(request)]
        stub = self._stubs.get(type(request))
        if stub is None:
            if self._closed:
                raise UnavailableError(None, None, f"The channel to {self._name} was closed")
            stub = self._stubs[type(request)] = self._channel.unary_unary(
                method.path,
                request_serializer=method.request.SerializeToString,
                response_deserializer=method.response.FromString,
            )
        return method, stub

    def call(self, request: m.Request, timeout: float | None = None) -> m.Reply:
        method, stub = self._stub(request)
        try:
            response = stub(method.encode(request), timeout=timeout)
        except self._grpc.RpcError as error:
            raise self._error(error) from None
        except ValueError as error:  # gRPC's word for a channel that was closed meanwhile
            raise CancelledError(None, None, f"{self._name}: {error}") from None
        return method.decode_reply(response, request)

    def start(self, request: m.Request, done: OnDone, wait: bool = False) -> Callable[[OpError], None]:
        method, stub = self._stub(request)
        try:
            future = stub.future(method.encode(request), wait_for_ready=wait)
        except ValueError as error:
            raise CancelledError(None, None, f"{self._name}: {error}") from None
        reasons: list[OpError] = []
        if wait:
            self._say_who_is_waited_for(future, _FIRST_WORD)

        def finished(ended: Any) -> None:
            try:
                reply, failure = method.decode_reply(ended.result(), request), None
            except OpError as error:
                reply, failure = None, error
            except self._grpc.FutureCancelledError:
                reply, failure = None, reasons[0] if reasons else CancelledError(None, None, f"{self._name}: cancelled")
            except self._grpc.RpcError as error:
                reply, failure = None, self._error(error)
            except Exception as error:
                reply, failure = None, InternalError(None, None, f"The answer of {self._name} cannot be read: {error}")
            done(reply, failure)

        future.add_done_callback(finished)

        def give_up(reason: OpError) -> None:
            reasons.append(reason)
            future.cancel()

        return give_up

    def _say_who_is_waited_for(self, future: Any, seconds: float) -> None:
        def remind() -> None:
            if not future.done():
                _log.warning("Still waiting for %s: it does not answer yet", self._name)
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
        if code == UNAVAILABLE and self._address not in text:
            text = f"{self._name} cannot be reached: {text}"
        elif code == UNAVAILABLE:
            text = f"{self._name} cannot be reached ({text})"
        return as_error(code, text)

    def close(self) -> None:
        self._closed = True
        self._stubs.clear()
        self._channel.close()
