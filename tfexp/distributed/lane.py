"""A second way to a task: streams beside gRPC, which two tasks of tfexp agree on over gRPC.

Python's gRPC costs several hundred µs per call, of which the kernel needs twenty. So a channel asks its peer, over gRPC
and under whatever protects that, for a lane: a socket that is there for one client, and a secret that is good once. On one
machine it is a Unix-domain socket with a name that is no file's, so that none is left behind by processes that are killed,
and the kernel says that it is the same user at the other end; between machines, a TCP port where the server listens, unless
there is TLS, which a lane has not. Whoever asks writes a request and reads the reply on that
socket, in his own thread; the peer has a thread for it. One request at a time is on a lane; who wants more opens more. A
request is cancelled by closing its lane.

Peers that know no lanes, or whose lanes cannot be reached, are asked over gRPC, and so is what finds no lane free.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tfexp.core.errors import UNIMPLEMENTED, CancelledError, DeadlineExceededError, OpError, UnavailableError
from tfexp.distributed import frames
from tfexp.distributed import messages as m
from tfexp.distributed.channel import GrpcChannel
from tfexp.distributed.inbox import Inbox
from tfexp.distributed.security import Security
from tfexp.distributed.traffic import Traffic
from tfexp.distributed.transport import OnDone

# Lanes that a channel keeps; what is more goes over gRPC.
_MOST = 32
# Seconds that the peer has to answer an offer and to let a client in.
OFFER_TIMEOUT = 5.0
SECRET_BYTES = 32
UNIX, TCP = "unix", "tcp"
# Seconds until a machine that is gone is noticed, by those who wait for it.
_GONE_AFTER, _ASK_EVERY = 10, 2


def available() -> bool:
    """Whether this system has what lanes are made of: Linux."""
    return sys.platform.startswith("linux")


def boot_id() -> str:
    """What tasks of one machine have in common; empty where it is not known."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


class Lane:
    """One connection, and at most one request on it. `sending`: what the peer takes; `traffic`: who counts the bytes."""

    def __init__(self, sock: socket.socket, security: Security, sending: Security, traffic: Traffic):
        self.sock = sock
        self.whole = True  # what was read ended where a message does
        self.turn = 0  # which request of its channel has it, counted
        self._sending = sending
        self._traffic = traffic
        self._frames = frames.Frames(sock, security)
        self._poll = select.poll()
        self._poll.register(sock.fileno(), select.POLLIN)

    @property
    def idle(self) -> bool:
        """Whether nothing came: neither input nor its end, which an idle lane must not have."""
        return not self._poll.poll(0)

    def send(self, request: m.Request) -> None:
        frame = frames.request_frame(request, self._sending)
        try:
            frames.send(self.sock, frame)
            self._traffic.add(sent=frames.size_of(frame))
        except frames.ConnectionLostError:
            if self.idle:
                raise
            # The peer took no more, and has said why.

    def receive(self, request: m.Request) -> m.Reply:
        """The reply. Raises the error that the peer answers with; ConnectionLostError."""
        self.whole = False
        frame = self._frames.read()
        if frame is None:
            raise frames.ConnectionLostError("the connection was closed")
        self.whole = True
        kind, _, body, tensors = frame
        self._traffic.add(received=frames.size_of([body, *tensors]))
        return frames.decoded_reply(kind, body, tensors, request)

    def shut(self) -> None:
        """Whoever reads from it, here and there, sees its end."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.sock.close()


@dataclass(frozen=True)
class Offer:
    """Where a lane is to be had: the name of a socket, or a port of the server's host. `kind` is empty where there is none.

    `limit`: the largest message that the server takes, so that none is sent in vain.
    """

    kind: str = ""
    place: str = ""
    secret: bytes = field(default=b"", repr=False)
    limit: int = 0

    def as_bytes(self) -> bytes:
        said = {"kind": self.kind, "place": self.place, "secret": self.secret.hex(), "limit": self.limit}
        return json.dumps(said).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Offer:
        """ValueError, KeyError or TypeError for what is none."""
        said = json.loads(data)
        return Offer(str(said["kind"]), str(said["place"]), bytes.fromhex(said["secret"]), int(said["limit"]))


def question(kinds: Sequence[str]) -> bytes:
    """What a client asks for an offer with: the kinds of lanes that it can use, and where it is."""
    who = {"version": frames.VERSION, "kinds": list(kinds), "boot": boot_id(), "user": os.getuid()}
    return json.dumps(who).encode()


def prepare_tcp(sock: socket.socket) -> None:
    """Small messages go out at once, and a machine that is gone is noticed."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _ASK_EVERY)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _ASK_EVERY)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _GONE_AFTER // _ASK_EVERY)
    # While sent bytes wait to be acknowledged the kernel does not ask.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _GONE_AFTER * 1000)


def unix_address(name: str) -> str:
    """The address of a Unix-domain socket in the kernel's own space of names, which ends with the last who has it open."""
    return f"\0{name}"


def user_of(sock: socket.socket) -> int:
    """Who has the other end of a Unix-domain socket."""
    credentials = struct.Struct("@iII")
    user: int = credentials.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size))[1]
    return user


def connect(offer: Offer, host: str, security: Security, traffic: Traffic | None = None) -> Lane:
    """The lane that the server at `host` offers. OSError when it cannot be had."""
    if offer.kind == UNIX:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    else:
        sock = socket.create_connection((host.strip("[]"), int(offer.place)), OFFER_TIMEOUT)
    try:
        sock.settimeout(OFFER_TIMEOUT)
        if offer.kind == UNIX:
            sock.connect(unix_address(offer.place))
            if user_of(sock) != os.getuid():
                raise ConnectionRefusedError("the socket is another user's")
        else:
            prepare_tcp(sock)
        secret = offer.secret
        sock.sendall(secret)
        if sock.recv(1) != b"\x01":
            raise ConnectionRefusedError("the secret was not taken")
        sock.settimeout(None)
    except BaseException:
        sock.close()
        raise
    return Lane(sock, security, security.no_more_than(offer.limit), traffic or Traffic())


class _Pending:
    """A request on a lane, started without waiting: a source for the inbox of whoever will read the reply."""

    def __init__(self, channel: LaneChannel, lane: Lane, request: m.Request, done: OnDone):
        self._channel, self._lane, self._request, self._done = channel, lane, request, done
        self._turn = lane.turn
        self._reason: OpError | None = None

    def fileno(self) -> int:
        return self._lane.sock.fileno()

    def ready(self) -> None:
        reply, failure = self._channel._received(self._lane, self._request)
        if failure is not None and self._reason is not None:
            reply, failure = None, self._reason
        self._done(reply, failure)

    def give_up(self, error: OpError) -> None:
        self._reason = error
        self._channel._end(self._lane, self._turn)


class LaneChannel:
    """The task behind a gRPC channel, over lanes where it offers them."""

    def __init__(self, channel: GrpcChannel, security: Security):
        self._channel = channel
        self._security = security
        self._traffic = channel.traffic
        self._lock = threading.Lock()
        self._free: list[Lane] = []
        self._busy: set[Lane] = set()
        # What is left to be tried. A lane knows no TLS; between processes of one user on one machine it needs none.
        self._kinds = [] if not (available() and security.lanes) else [UNIX] if security.authority else [UNIX, TCP]
        self._opening = False
        self._closed = False

    @property
    def lanes(self) -> int:
        """How many there are."""
        return len(self._free) + len(self._busy)

    def call(self, request: m.Request, timeout: float | None = None) -> m.Reply:
        lane = self._take()
        if lane is None and timeout is None:
            lane = self._open()  # which may take longer than a call has
        if lane is None:
            answer = self._channel.call(request, timeout)
            self._open_behind()
            return answer
        if timeout is not None:
            return self._call_in_time(lane, request, timeout)
        failure = self._sent(lane, request)
        reply = None
        if failure is None:
            reply, failure = self._received(lane, request)
        if failure is not None:
            raise failure
        assert reply is not None
        return reply

    def _call_in_time(self, lane: Lane, request: m.Request, timeout: float) -> m.Reply:
        ended = threading.Timer(timeout, self._end, (lane, lane.turn))
        ended.daemon = True
        until = time.monotonic() + timeout
        ended.start()
        try:
            failure = self._sent(lane, request)
            reply = None
            if failure is None:
                reply, failure = self._received(lane, request)
        finally:
            ended.cancel()
        if failure is not None:
            late = isinstance(failure, UnavailableError | CancelledError) and time.monotonic() >= until
            raise DeadlineExceededError(None, None, "Deadline Exceeded") if late else failure
        assert reply is not None
        return reply

    def start(
        self, request: m.Request, done: OnDone, wait: bool = False, inbox: Inbox | None = None
    ) -> Callable[[OpError], None]:
        lane = None if wait else self._take()
        if lane is None:
            return self._channel.start(request, lambda reply, error: self._answered(reply, error, done), wait)
        failure = self._sent(lane, request)
        if failure is not None:
            done(None, failure)
            return lambda _: None
        pending = _Pending(self, lane, request, done)
        if inbox is not None:
            inbox.watch(pending)
        else:
            threading.Thread(target=pending.ready, name="tfexp-lane-reader", daemon=True).start()
        return pending.give_up

    def _answered(self, reply: m.Reply | None, error: OpError | None, done: OnDone) -> None:
        if error is None:
            self._open_behind()
        done(reply, error)

    def _open_behind(self) -> None:
        """A request that had no lane was answered: its peer is up, and may have lanes for the next."""
        if self._kinds and not self._opening and not self._free and self.lanes < _MOST:
            self._opening = True
            threading.Thread(target=self._open_one_more, name="tfexp-lane-opener", daemon=True).start()

    def _open_one_more(self) -> None:
        try:
            lane = self._open()
            if lane is not None:
                self._leave(lane, True)
        finally:
            self._opening = False

    # --- lanes -------------------------------------------------------------------------------------------------------

    def _take(self) -> Lane | None:
        while True:
            with self._lock:
                if not self._free:
                    return None
                lane = self._free.pop()
                lane.turn += 1
                self._busy.add(lane)
            if lane.idle:
                return lane
            self._leave(lane, False)  # the peer is gone, or was restarted

    def _leave(self, lane: Lane, whole: bool) -> None:
        with self._lock:
            self._busy.discard(lane)
            if whole and not self._closed:
                self._free.append(lane)
                return
        lane.close()

    def _end(self, lane: Lane, turn: int) -> None:
        """Give up the request that has the lane in that turn. If it was answered meanwhile, who has the lane now goes on."""
        with self._lock:
            if lane in self._busy and lane.turn == turn:
                lane.shut()

    def _open(self) -> Lane | None:
        """A new lane, or None when there is none to be had now (or, for this peer, ever)."""
        while self._kinds and self.lanes < _MOST and not self._closed:
            kinds = self._kinds
            try:
                offer = Offer.from_bytes(self._channel.ask("/tfexp.Lanes/Open", question(kinds), OFFER_TIMEOUT))
            except OpError as error:
                # The request itself, over gRPC, will say what is wrong with a peer that cannot be reached.
                if error.error_code == UNIMPLEMENTED:
                    self._kinds = []
                return None
            except (ValueError, KeyError, TypeError):
                self._kinds = []
                return None
            if not offer.kind:
                self._kinds = []
                return None
            try:
                lane = connect(offer, self._channel.address.rpartition(":")[0], self._security, self._traffic)
            except (OSError, ValueError):
                # Another container, or a port that is shut: what can be tried next?
                self._kinds = [kind for kind in kinds if kind != offer.kind]
                continue
            with self._lock:
                if not self._closed:
                    self._busy.add(lane)
                    return lane
            lane.close()
        return None

    def _sent(self, lane: Lane, request: m.Request) -> OpError | None:
        try:
            lane.send(request)
        except frames.ConnectionLostError as error:
            self._leave(lane, False)
            return self._lost(error)
        except OpError as error:
            self._leave(lane, True)
            return error
        except BaseException:
            self._leave(lane, False)
            raise
        return None

    def _received(self, lane: Lane, request: m.Request) -> tuple[m.Reply | None, OpError | None]:
        try:
            reply = lane.receive(request)
        except frames.ConnectionLostError as error:
            self._leave(lane, False)
            return None, self._lost(error)
        except OpError as error:
            # The peer's answer is an error, or it is too large to be taken: what is left of it must not be read as the next.
            self._leave(lane, lane.whole)
            return None, error
        except BaseException:
            self._leave(lane, False)
            raise
        self._leave(lane, True)
        return reply, None

    def _lost(self, error: Exception) -> OpError:
        if self._closed:
            return CancelledError(None, None, f"{self._channel.name}: the channel was closed")
        return UnavailableError(None, None, f"{self._channel.name} cannot be reached: {error}")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
            busy = list(self._busy)
        for lane in free:
            lane.close()
        for lane in busy:
            lane.shut()
        self._channel.close()
