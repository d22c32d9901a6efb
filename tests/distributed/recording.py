"""Conversations over gRPC, byte by byte: a proxy that writes one down, and a server that says its half again."""

from __future__ import annotations

import base64
import contextlib
import json
import lzma
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from tfexp.distributed.wire import METHODS

RECORDINGS = Path(__file__).parents[1] / "golden" / "wire"
BY_PATH = {method.path: method for method in METHODS.values()}


@dataclass
class Call:
    """One request and what came of it: a response, a gRPC status with its text, or (both None) silence."""

    path: str
    request: bytes
    response: bytes | None = None
    code: int | None = None
    details: str = ""


@dataclass
class Recording:
    """A conversation in the order in which its requests came, and what the client's program made of it."""

    calls: list[Call] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)

    def store(self, name: str) -> int:
        """Write it; the size of the file in bytes."""
        lines = [json.dumps(self.seen, sort_keys=True)]
        for call in self.calls:
            fields = {**vars(call), "request": _text(call.request), "response": _text(call.response)}
            lines.append(json.dumps(fields, sort_keys=True))
        path = RECORDINGS / f"{name}.jsonl.xz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
        return path.stat().st_size

    @staticmethod
    def load(name: str) -> Recording:
        first, *lines = lzma.decompress((RECORDINGS / f"{name}.jsonl.xz").read_bytes()).decode().split("\n")
        calls = []
        for line in lines:
            fields = json.loads(line)
            calls.append(Call(**{**fields, "request": _bytes(fields["request"]), "response": _bytes(fields["response"])}))
        return Recording(calls, json.loads(first))


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


class _Handlers(grpc.GenericRpcHandler):
    """Serves every method of TensorFlow's services by `answer(path, request, context)`; knows no other."""

    def __init__(self, answer: Callable[[str, bytes, Any], bytes]):
        self._answer = answer

    def service(self, details: Any) -> Any:
        path = details.method
        if path not in BY_PATH:
            return None
        return grpc.unary_unary_rpc_method_handler(lambda request, context: self._answer(path, request, context))


@contextlib.contextmanager
def _serving(answer: Callable[[str, bytes, Any], bytes]) -> Iterator[str]:
    with futures.ThreadPoolExecutor(8) as pool:
        server = grpc.server(pool, handlers=(_Handlers(answer),), options=(("grpc.so_reuseport", 0),))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            server.stop(None).wait()


def _status(code: int) -> grpc.StatusCode:
    return next(status for status in grpc.StatusCode if status.value[0] == code)


@contextlib.contextmanager
def listening(address: str, recording: Recording) -> Iterator[str]:
    """The address of a proxy that passes all on to the server at `address`, and appends it to the recording."""
    lock = threading.Lock()
    with grpc.insecure_channel(address) as channel:

        def answer(path: str, request: bytes, context: Any) -> bytes:
            call = Call(path, request)
            with lock:
                recording.calls.append(call)
            asked = channel.unary_unary(path).future(request)
            # A client whose time is up has gone, and the server has to hear of that.
            context.add_callback(asked.cancel)
            try:
                call.response = asked.result()
            except grpc.FutureCancelledError:
                context.abort(grpc.StatusCode.CANCELLED, "The client has gone")
            except grpc.RpcError as error:
                call.code, call.details = error.code().value[0], error.details()
                context.abort(error.code(), error.details())
            assert call.response is not None
            return call.response

        with _serving(answer) as proxy:
            yield proxy


@contextlib.contextmanager
def speaking(calls: list[Call], heard: list[Call]) -> Iterator[str]:
    """The address of a server that answers the requests that come, one after the other, as `calls` has it.

    `heard` gets the requests. What comes out of turn, or too late, is refused as FAILED_PRECONDITION with the reason.
    """
    remaining = iter(calls)
    over = threading.Event()

    def answer(path: str, request: bytes, context: Any) -> bytes:
        heard.append(Call(path, request))
        call = next(remaining, None)
        if call is None or call.path != path:
            wanted = "nothing more" if call is None else call.path
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{path} came, the recording has {wanted}")
        assert call is not None
        if call.code is not None:
            context.abort(_status(call.code), call.details)
        if call.response is None:  # silence, for as long as the client waits
            gone = threading.Event()
            context.add_callback(gone.set)
            while not gone.wait(0.1) and not over.is_set():
                pass
            return b""
        return call.response

    with _serving(answer) as address:
        try:
            yield address
        finally:
            over.set()
