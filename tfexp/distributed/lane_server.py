"""The serving end of lanes (`lane`): sockets that are there for one client each, and the threads that answer on them."""

from __future__ import annotations

import contextlib
import hmac
import json
import logging
import os
import secrets
import select
import socket
import struct
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

from tfexp.core.errors import CancelledError, InternalError, InvalidArgumentError, OpError
from tfexp.distributed import frames
from tfexp.distributed.lane import (
    OFFER_TIMEOUT,
    SECRET_BYTES,
    TCP,
    UNIX,
    Offer,
    available,
    boot_id,
    prepare_tcp,
    unix_address,
    user_of,
)
from tfexp.distributed.security import Security
from tfexp.distributed.transport import Host

_log = logging.getLogger("tfexp.distributed")

# Lanes at once, each with a thread. Who gets none stays with gRPC.
_MOST = 512
# Seconds that a client may let pass in the middle of a message.
_STALLED = 30.0


class LaneServer:
    """Offers lanes to the clients of a task and answers on them, until `stop`. `bind`: the host that it listens at."""

    def __init__(self, host: Host, security: Security, bind: str = "127.0.0.1"):
        self._host = host
        self._bind = bind.strip("[]")
        self._security = security
        self._lock = threading.Lock()
        self._serving: dict[int, _Served] = {}
        self._threads: set[threading.Thread] = set()
        self._offered: set[socket.socket] = set()
        self._watch: Any = None  # the epoll that sees clients go
        self._bell: int = -1
        self._stopped = False

    def offer(self, question: bytes) -> bytes:
        """The `Offer` for a client that asks for a lane.

        InvalidArgumentError for a question that cannot be read.
        """
        try:
            asked = json.loads(question)
            kinds = list(asked["kinds"]) if asked["version"] == frames.VERSION else []
            here = asked["boot"] == boot_id() and asked["user"] == os.getuid()
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidArgumentError(None, None, f"The question for a lane cannot be read: {error!r}") from None
        if not available() or not self._security.lanes:
            return Offer().as_bytes()
        with self._lock:
            if self._stopped or len(self._threads) >= _MOST:
                return Offer().as_bytes()
            found = self._listen([kind for kind in kinds if kind != UNIX or here])
            if found is None:
                return Offer().as_bytes()
            listener, kind, place = found
            if self._watch is None:
                self._start_watching()
            secret = secrets.token_bytes(SECRET_BYTES)
            self._offered.add(listener)
            self._run(self._admit, listener, secret)
        return Offer(kind, place, secret, self._security.max_message_bytes).as_bytes()

    def _listen(self, kinds: Sequence[str]) -> tuple[socket.socket, str, str] | None:
        """A socket for one client, its kind, which is one of `kinds`, and its name or port; None where none can be had."""
        if UNIX in kinds:
            name = f"tfexp-{secrets.token_hex(16)}"
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(unix_address(name))
            listener.listen(1)
            return listener, UNIX, name
        if TCP in kinds and not self._security.certificate:
            family = socket.AF_INET6 if ":" in self._bind else socket.AF_INET
            listener = socket.create_server((self._bind, 0), family=family, backlog=1)
            return listener, TCP, str(listener.getsockname()[1])
        return None

    def _run(self, target: Any, *args: Any) -> None:
        thread = threading.Thread(target=self._and_forget, args=(target, *args), name="tfexp-lane", daemon=True)
        self._threads.add(thread)
        thread.start()

    def _and_forget(self, target: Any, *args: Any) -> None:
        try:
            target(*args)
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _admit(self, listener: socket.socket, secret: bytes) -> None:
        """Let the one client in who knows the secret, and serve it. The socket's name or port is gone by then."""
        sock, brought = self._accepted(listener)
        if sock is None:
            return
        refused = _why_refused(sock, brought, secret)
        if refused:
            _log.warning("%s; it was turned away", refused)
            sock.close()
            return
        _limit(sock, _STALLED)
        if sock.family != socket.AF_UNIX:
            prepare_tcp(sock)
        served = _Served(sock)
        with self._lock:
            if self._stopped:
                sock.close()
                return
            self._serving[sock.fileno()] = served
            self._watch.register(sock.fileno(), select.EPOLLRDHUP | select.EPOLLONESHOT)
        try:
            sock.sendall(b"\x01")
            self._serve(served)
        except (OSError, frames.ConnectionLostError) as error:
            _log.debug("A lane ended: %s", error)
        finally:
            with self._lock:
                self._serving.pop(sock.fileno(), None)
                sock.close()

    def _accepted(self, listener: socket.socket) -> tuple[socket.socket | None, bytes]:
        """The client that comes, and the secret that it brings; None if nobody does in time. Nobody else can come."""
        sock = None
        try:
            _limit(listener, OFFER_TIMEOUT)
            sock, _ = listener.accept()
            _limit(sock, OFFER_TIMEOUT)
            return sock, sock.recv(SECRET_BYTES, socket.MSG_WAITALL)
        except OSError:
            if sock is not None:
                sock.close()
            return None, b""
        finally:
            with self._lock:
                self._offered.discard(listener)
                listener.close()

    def _serve(self, served: _Served) -> None:
        incoming = frames.Frames(served.sock, self._security)
        while True:
            try:
                frame = incoming.read()
            except OpError as error:  # too large: what is left of it is not read
                frames.send(served.sock, frames.error_frame(error))
                return
            if frame is None:
                return
            try:
                answer = self._answer(served, *frame)
            except OpError as error:
                answer = frames.error_frame(error)
            except Exception as error:
                _log.exception("A request on a lane failed")
                answer = frames.error_frame(error)
            frames.send(served.sock, answer)

    def _answer(self, served: _Served, kind: int, number: int, body: bytes, tensors: list[Any]) -> frames.Buffers:
        method, request = frames.decoded_request(kind, number, body, tensors)
        served.call = self._host.begin()
        try:
            # Of what was sent before its sender went, or gave up, nothing is begun: a new session may be at work already.
            if served.gone or served.abandoned():
                self._host.cancel(served.call, _gone())
            reply = self._host.run(served.call, request)
        finally:
            served.call = -1
        try:
            return frames.reply_frame(method, reply, request, self._security)
        except (TypeError, ValueError) as error:
            raise InternalError(None, None, f"The answer to {method.name} cannot be sent: {error}") from None

    # --- clients that go ---------------------------------------------------------------------------------------------

    def _start_watching(self) -> None:
        self._watch = select.epoll()
        self._bell = os.eventfd(0, os.EFD_CLOEXEC)
        self._watch.register(self._bell, select.EPOLLIN)
        self._run(self._watch_clients)

    def _watch_clients(self) -> None:
        """While a client's request is under way nobody reads from its lane; this sees that it closed it."""
        while True:
            for fd, _ in self._watch.poll():
                if fd == self._bell:
                    return
                with self._lock:
                    served = self._serving.get(fd)
                    if served is None or not served.hung_up():
                        continue
                    served.gone = True
                    call = served.call
                if call >= 0:
                    self._host.cancel(call, _gone())

    def stop(self) -> None:
        """No lane is offered any more, and those that there are end. The task has been closed before."""
        with self._lock:
            self._stopped = True
            self._shut(self._offered, socket.SHUT_RDWR)
            # Nothing more is read; but answers that are made, which the end of a step may hang on, are sent.
            self._shut((served.sock for served in self._serving.values()), socket.SHUT_RD)
            threads = list(self._threads)
            if self._watch is not None:
                os.eventfd_write(self._bell, 1)
        until = time.monotonic() + OFFER_TIMEOUT  # a kernel that cannot be interrupted may go on for longer
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        with self._lock:
            self._shut((served.sock for served in self._serving.values()), socket.SHUT_RDWR)
            watch, self._watch = self._watch, None  # who else stops it at this moment must not close what is not ours
        if watch is not None:
            watch.close()
            os.close(self._bell)

    def _shut(self, sockets: Iterable[socket.socket], how: int) -> None:
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(how)


class _Served:
    """A client's lane. `call`: the number under which its request is under way, -1 for none."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.call = -1
        self.gone = False
        self._poll = select.poll()
        self._poll.register(sock.fileno(), select.POLLRDHUP)

    def abandoned(self) -> bool:
        """`hung_up` for the thread that serves: two cannot share a poll."""
        return bool(self._poll.poll(0))

    def hung_up(self) -> bool:
        poll = select.poll()
        poll.register(self.sock.fileno(), select.POLLRDHUP)
        return bool(poll.poll(0))


def _why_refused(sock: socket.socket, brought: bytes, secret: bytes) -> str:
    """What is wrong with a client that brings this in place of the secret; "" if nothing is."""
    if sock.family == socket.AF_UNIX and user_of(sock) != os.getuid():
        return "Another user came to a lane"
    return "" if hmac.compare_digest(brought, secret) else "A client came to a lane without its secret"


def _limit(sock: socket.socket, seconds: float) -> None:
    """Have the kernel end each wait for input after that time.

    Python's own limit costs more, and a shutdown does not end it. There is none for output: a client reads when it has
    done what it is at.
    """
    interval = struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, interval)


def _gone() -> CancelledError:
    return CancelledError(None, None, "The client does not wait for the answer any more")
