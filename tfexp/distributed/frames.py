"""What travels on a lane: a head, TensorFlow's message, and after it the large tensors as they lie in memory.

    kind (1 byte) | method (1) | number of tensors (2) | bytes of the message (4) | bytes of each tensor (8 each)

Nothing of the tensors is copied on the way out; on the way in, the kernel writes into the array that is handed on.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tfexp.core.errors import InvalidArgumentError, OpError, ResourceExhaustedError
from tfexp.distributed import messages as m
from tfexp.distributed.large_tensors import attached, detached
from tfexp.distributed.security import Security
from tfexp.distributed.status import as_error, code_and_text
from tfexp.distributed.wire import METHODS, Method

# Both ends number methods and lay out frames by this; peers that differ stay with gRPC.
VERSION = 1

REQUEST, REPLY, ERROR = 1, 2, 3
_HEAD = struct.Struct("!BBHI")
_SIZE = struct.Struct("!Q")
_CHUNK = 65536

_BY_NUMBER: list[Method] = sorted(METHODS.values(), key=lambda method: method.path)
_NUMBER = {method.path: number for number, method in enumerate(_BY_NUMBER)}

Buffers = list[Any]  # what is written one after the other: bytes, or memory that supports the buffer protocol


class ConnectionLostError(Exception):
    """The other end is gone, or the stream broke off in the middle of a frame."""


# --- out -------------------------------------------------------------------------------------------------------------


def request_frame(request: m.Request, security: Security) -> Buffers:
    """Raises ResourceExhaustedError when it is larger than allowed."""
    method = METHODS[type(request)]
    arrays: list[Any] = []
    message = method.encode(detached(request, arrays))
    return _frame(REQUEST, method, message.SerializeToString(), arrays, security)


def reply_frame(method: Method, reply: m.Reply, request: m.Request, security: Security) -> Buffers:
    arrays: list[Any] = []
    message = method.encode_reply(detached(reply, arrays), request)
    return _frame(REPLY, method, message.SerializeToString(), arrays, security)


def error_frame(error: BaseException) -> Buffers:
    code, text = code_and_text(error)
    body = struct.pack("!I", code) + text.encode("utf-8", "replace")
    return [_HEAD.pack(ERROR, 0, 0, len(body)) + body]


def size_of(buffers: Buffers) -> int:
    """Bytes, of a frame that goes out or of the message and tensors of one that came in."""
    return sum(memoryview(buffer).nbytes for buffer in buffers)


def send(sock: socket.socket, buffers: Buffers) -> None:
    """Write all of it. ConnectionLostError when the other end is gone or takes nothing for as long as the socket allows."""
    try:
        if len(buffers) == 1:
            sock.sendall(buffers[0])
            return
        left = [memoryview(buffer).cast("B") for buffer in buffers]
        while left:
            sent = sock.sendmsg(left)
            while left and sent >= left[0].nbytes:
                sent -= left.pop(0).nbytes
            if sent:
                left[0] = left[0][sent:]
    except TimeoutError:
        raise
    except OSError as error:
        raise ConnectionLostError(str(error)) from None


def _frame(kind: int, method: Method, body: bytes, arrays: list[Any], security: Security) -> Buffers:
    size = len(body)
    head = [_HEAD.pack(kind, _NUMBER[method.path], len(arrays), size)]
    for array in arrays:
        size += array.nbytes
        head.append(_SIZE.pack(array.nbytes))
    security.check_size(size, f"A message of {method.name}")
    return [b"".join((*head, body)), *arrays]


# --- in --------------------------------------------------------------------------------------------------------------


class Frames:
    """The frames that come in at a socket, one after the other: whoever sent one waits for the answer."""

    def __init__(self, sock: socket.socket, security: Security):
        self._sock = sock
        self._security = security

    def read(self) -> tuple[int, int, bytes, list[Any]] | None:
        """(kind, method, message, tensors as bytes); None when the other end closed between two frames.

        ConnectionLostError when it did in the middle of one or stops sending; ResourceExhaustedError, with the rest unread,
        for one that is larger than allowed; TimeoutError as the socket has it.
        """
        data = self._first()
        if data is None:
            return None
        data = self._at_least(data, _HEAD.size)
        kind, method, count, size = _HEAD.unpack_from(data)
        body_at = _HEAD.size + count * _SIZE.size
        self._security.check_size(size, "The message")
        data = self._at_least(data, body_at)
        sizes = [_SIZE.unpack_from(data, _HEAD.size + i * _SIZE.size)[0] for i in range(count)]
        self._security.check_size(size + sum(sizes), "The message")
        data = self._at_least(data, body_at + size)
        body, rest = data[body_at : body_at + size], memoryview(data)[body_at + size :]
        tensors = []
        for nbytes in sizes:
            try:
                tensor = np.empty(nbytes, np.uint8)
            except MemoryError:
                raise ResourceExhaustedError(None, None, f"There is no memory for a tensor of {nbytes} bytes") from None
            here = min(nbytes, len(rest))
            tensor[:here] = rest[:here]
            rest = rest[here:]
            self._fill(tensor.data[here:])
            tensors.append(tensor)
        if rest:
            raise ConnectionLostError("more came than was said")
        return kind, method, body, tensors

    def _first(self) -> bytes | None:
        while True:
            try:
                return self._sock.recv(_CHUNK) or None
            except BlockingIOError:  # the socket's own limit, which is for the middle of a frame
                continue
            except TimeoutError:
                raise
            except OSError as error:
                raise ConnectionLostError(str(error)) from None

    def _at_least(self, data: bytes, size: int) -> bytes:
        if len(data) >= size:
            return data
        whole = bytearray(size)
        whole[: len(data)] = data
        self._fill(memoryview(whole)[len(data) :])
        return bytes(whole)

    def _fill(self, memory: memoryview) -> None:
        while memory:
            try:
                count = self._sock.recv_into(memory, 0, socket.MSG_WAITALL)
            except BlockingIOError:
                raise ConnectionLostError("the other end stopped in the middle of a message") from None
            except TimeoutError:
                raise
            except OSError as error:
                raise ConnectionLostError(str(error)) from None
            if not count:
                raise ConnectionLostError("the other end closed in the middle of a message")
            memory = memory[count:]


def decoded_request(kind: int, number: int, body: bytes, tensors: list[Any]) -> tuple[Method, m.Request]:
    """InvalidArgumentError for what is no request."""
    if kind != REQUEST or number >= len(_BY_NUMBER):
        raise InvalidArgumentError(None, None, f"The frame is no request (kind {kind}, method {number})")
    method = _BY_NUMBER[number]
    try:
        message = method.request.FromString(body)
    except DecodeError:
        raise InvalidArgumentError(
            None, None, f"The request is no {method.request.DESCRIPTOR.name} ({len(body)} bytes)"
        ) from None
    return method, attached(method.decode(message), tensors)


def decoded_reply(kind: int, body: bytes, tensors: list[Any], request: m.Request) -> m.Reply:
    """Raises the error that the frame carries."""
    if kind == ERROR:
        raise _error(body)
    method = METHODS[type(request)]
    reply: m.Reply = attached(method.decode_reply(method.response.FromString(body), request), tensors)
    return reply


def _error(body: bytes) -> OpError:
    (code,) = struct.unpack_from("!I", body)
    return as_error(code, body[4:].decode("utf-8", "replace"))
