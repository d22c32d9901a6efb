"""Lanes: who gets one, what ends one, and that nothing is left of them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2

import tfexp as tf
from tests.distributed.clusters import free_ports, running
from tests.processes import started
from tfexp.core import errors
from tfexp.core.errors import OpError
from tfexp.distributed import frames, lane_server
from tfexp.distributed import lane as lane_module
from tfexp.distributed import messages as m
from tfexp.distributed import server as server_module
from tfexp.distributed.channel import GrpcChannel
from tfexp.distributed.lane import TCP, UNIX, Lane, LaneChannel, Offer, available, connect, question
from tfexp.distributed.lane_server import LaneServer
from tfexp.distributed.security import Security

pytestmark = pytest.mark.skipif(not available(), reason="lanes are Linux's")

PLAIN = Security()


class Waits:
    """A host whose GetStatus is answered at once, and everything else when it is cancelled."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.cancelled: list[OpError] = []
        self._ended = threading.Event()

    def call(self, request: m.Request, timeout: float | None = None) -> m.Reply:
        raise AssertionError("lanes say begin and run")

    def begin(self) -> int:
        return 7

    def run(self, number: int, request: m.Request, timeout: float | None = None) -> m.Reply:
        self.asked.release()
        if isinstance(request, m.GetStatus):
            return m.Status(())
        self._ended.wait()
        raise self.cancelled[0]

    def cancel(self, number: int, error: OpError) -> None:
        self.cancelled.append(error)
        self._ended.set()


def _is_there(name: str) -> bool:
    """Whether the kernel knows a socket by that name."""
    return any(line.endswith(f"@{name}") for line in Path("/proc/net/unix").read_text().splitlines())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def lanes() -> Iterator[LaneServer]:
    before = set(threading.enumerate())
    server = LaneServer(Waits(), PLAIN)
    yield server
    server._host.cancel(7, errors.UnavailableError(None, None, "stopped"))
    server.stop()
    assert set(threading.enumerate()) <= before


def _offered(lanes: LaneServer, kinds: Sequence[str] = (UNIX,), **changes: Any) -> Offer:
    asked = {**json.loads(question(kinds)), **changes}
    return Offer.from_bytes(lanes.offer(json.dumps(asked).encode()))


def _connected(lanes: LaneServer) -> Lane:
    return connect(_offered(lanes), "localhost", PLAIN)


def test_no_other_user_is_let_in(
    lanes: LaneServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    offer = _offered(lanes)
    assert offer.kind == UNIX
    monkeypatch.setattr(lane_server, "user_of", lambda sock: -1)
    with pytest.raises(OSError):
        connect(offer, "localhost", PLAIN)
    assert "Another user came to a lane" in caplog.text
    monkeypatch.setattr(lane_module, "user_of", lambda sock: -1)
    with pytest.raises(ConnectionRefusedError, match="another user's"):
        connect(_offered(lanes), "localhost", PLAIN)


@pytest.mark.parametrize("kind", [UNIX, TCP])
def test_an_offer_is_for_one_client(lanes: LaneServer, kind: str) -> None:
    offer = _offered(lanes, [kind])
    assert offer.kind == kind
    lane = connect(offer, "localhost", PLAIN)
    with pytest.raises(OSError):
        connect(offer, "localhost", PLAIN)
    lane.send(m.GetStatus())
    assert lane.receive(m.GetStatus()) == m.Status(())
    lane.close()


@pytest.mark.parametrize("kind", [UNIX, TCP])
def test_a_wrong_secret_is_turned_away(lanes: LaneServer, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    offer = _offered(lanes, [kind])
    with pytest.raises(OSError):
        connect(replace(offer, secret=bytes(len(offer.secret))), "localhost", PLAIN)
    assert "without its secret" in caplog.text
    assert offer.secret.hex() not in caplog.text + repr(offer)
    with pytest.raises(OSError):
        connect(offer, "localhost", PLAIN)  # nor is there a second try


def test_an_offer_that_nobody_takes_is_gone_when_the_server_stops() -> None:
    lanes = LaneServer(Waits(), PLAIN)
    name = _offered(lanes).place
    assert _is_there(name)
    assert _offered(lanes, [TCP]).kind == TCP
    lanes.stop()
    assert not _is_there(name)
    assert _offered(lanes) == Offer()


def test_who_gets_which_lane(lanes: LaneServer) -> None:
    assert _offered(lanes, [UNIX, TCP]).kind == UNIX
    for elsewhere in ({"boot": "elsewhere"}, {"user": -1}):
        assert _offered(lanes, [UNIX, TCP], **elsewhere).kind == TCP
        assert _offered(lanes, [UNIX], **elsewhere) == Offer()
    assert _offered(lanes, [UNIX, TCP], version=0) == Offer()
    assert _offered(lanes, ["carrier pigeon"]) == Offer()


def test_tls_has_no_lanes_on_the_network() -> None:
    lanes = LaneServer(Waits(), Security(certificate="c", key="k"))
    assert _offered(lanes, [TCP]) == Offer()
    lanes.stop()


@pytest.mark.parametrize("asked", [b"", b"\xff", b"[]", b"{}", b"[" * 100_000])
def test_a_question_that_makes_no_sense_is_refused(lanes: LaneServer, asked: bytes) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="cannot be read"):
        lanes.offer(asked)


def _frame(request: m.Request) -> bytes:
    return b"".join(frames.request_frame(request, PLAIN))


LARGE = _frame(m.RunGraph("s", "g", 1, {"k": np.ones(50_000, np.float32)}))
BROKEN = {
    "half a head": LARGE[:3],
    "half a message": LARGE[:30],
    "half a tensor": LARGE[:100_000],
    "nothing": b"",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_stream_that_breaks_off_ends_its_lane_alone(lanes: LaneServer, data: bytes) -> None:
    other = _connected(lanes)
    broken = _connected(lanes)
    broken.sock.sendall(data)
    broken.close()
    other.send(m.GetStatus())
    assert other.receive(m.GetStatus()) == m.Status(())
    assert lanes._host.cancelled == []  # type: ignore[attr-defined]
    other.close()


def test_a_peer_that_stops_in_the_middle_is_not_waited_for(lanes: LaneServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_server, "_STALLED", 0.05)
    slow = _connected(lanes)
    idle = _connected(lanes)
    slow.sock.sendall(LARGE[:100_000])
    with pytest.raises(frames.ConnectionLostError):
        slow.receive(m.GetStatus())
    slow.close()
    idle.send(m.GetStatus())  # between messages there is no hurry
    assert idle.receive(m.GetStatus()) == m.Status(())
    idle.close()


HOSTILE = {
    "no request": b"\x09\x00\x00\x00\x00\x00\x00\x00",
    "no method": b"\x01\xff\x00\x00\x00\x00\x00\x00",
    "no message": b"\x01\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff",
    "a message of 4 GB": b"\x01\x00\x00\x00\xff\xff\xff\xff",
    "a tensor of 16 exabytes": b"\x01\x00\x00\x01\x00\x00\x00\x00" + b"\xff" * 8,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_makes_no_sense_gets_an_error(lanes: LaneServer, data: bytes) -> None:
    lane = _connected(lanes)
    lane.sock.sendall(data)
    with pytest.raises((errors.InvalidArgumentError, errors.ResourceExhaustedError)):
        lane.receive(m.GetStatus())
    lane.close()


def test_a_tensor_whose_bytes_and_shape_differ_is_refused() -> None:
    left, right = socket.socketpair()
    with left, right:
        body, array = frames.request_frame(m.RunGraph("s", "g", 1, {"k": np.ones(50_000, np.float32)}), PLAIN)
        frames.send(left, [body, array])
        frame = frames.Frames(right, PLAIN).read()
        assert frame is not None
        kind, number, message, tensors = frame
        for wrong in ([tensors[0][:-4]], [tensors[0][:-1]], [np.zeros(0, np.uint8)]):
            with pytest.raises(errors.InvalidArgumentError, match=r"shape \[50000\] cannot be read"):
                frames.decoded_request(kind, number, message, wrong)


def test_a_client_that_dies_has_its_request_cancelled(lanes: LaneServer) -> None:
    lane = _connected(lanes)
    host: Any = lanes._host
    lane.send(m.CloseSession("s"))
    assert host.asked.acquire(timeout=60)
    lane.close()
    assert host._ended.wait(60)
    assert isinstance(host.cancelled[0], errors.CancelledError)


# --- channels --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _channel(address: str) -> Iterator[LaneChannel]:
    channel = LaneChannel(GrpcChannel(address), PLAIN)
    try:
        yield channel
    finally:
        channel.close()


def test_tasks_that_share_no_names_take_tcp(monkeypatch: pytest.MonkeyPatch) -> None:
    server = tf.train.Server.create_local_server()
    original, tried = lane_module.connect, []

    def connect_elsewhere(offer: Offer, host: str, *others: Any) -> Lane:
        tried.append(offer.kind)
        return original(replace(offer, place="no such name") if offer.kind == UNIX else offer, host, *others)

    monkeypatch.setattr(lane_module, "connect", connect_elsewhere)
    with _channel(server.target.removeprefix("grpc://")) as channel:
        for _ in range(2):
            assert isinstance(channel.call(m.GetStatus()), m.Status)
        assert channel.lanes == 1
    assert tried == [UNIX, TCP]
    server.stop()


def test_a_call_with_a_time_limit_leaves_it_to_others_to_open_a_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    server = tf.train.Server.create_local_server()
    asking, asked = [], threading.Event()
    original = GrpcChannel.ask

    def ask(channel: GrpcChannel, *question: Any) -> bytes:
        asking.append(threading.current_thread().name)
        asked.set()
        return original(channel, *question)

    monkeypatch.setattr(GrpcChannel, "ask", ask)
    with _channel(server.target.removeprefix("grpc://")) as channel:
        assert isinstance(channel.call(m.GetStatus(), timeout=60.0), m.Status)
        assert asked.wait(60)
    assert asking == ["tfexp-lane-opener"]
    server.stop()


def test_a_server_without_lanes_is_asked_over_grpc() -> None:
    server = tf.train.Server({"local": ["localhost:0"]}, security=Security(lanes=False))
    with _channel(server.target.removeprefix("grpc://")) as channel:
        assert isinstance(channel.call(m.GetStatus()), m.Status)
        assert channel.lanes == 0
    server.stop()


def test_a_restarted_server_is_found_again() -> None:
    (port,) = free_ports(1)
    spec = {"local": [f"localhost:{port}"]}
    server = tf.train.Server(spec)
    with _channel(f"localhost:{port}") as channel:
        first = channel.call(m.GetStatus())
        assert channel.lanes == 1
        server.stop()
        with pytest.raises(errors.UnavailableError, match=f"localhost:{port}"):
            channel.call(m.GetStatus())
        server = tf.train.Server(spec)
        answered = threading.Event()
        channel.start(m.GetStatus(), lambda reply, error: answered.set(), wait=True)
        assert answered.wait(60)
        assert channel.call(m.GetStatus()) != first
        server.stop()


def test_a_server_that_two_stop_closes_nothing_twice(lanes: LaneServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may be another file's by then."""
    lanes.offer(question([UNIX]))
    bell, closed, close = lanes._bell, [], os.close

    class Watch:
        def __init__(self, watch: Any):
            self._watch = watch

        def close(self) -> None:
            """Somebody else stops the server just then."""
            lanes.stop()
            self._watch.close()

    monkeypatch.setattr(os, "close", lambda fd: (closed.append(fd), close(fd)))
    lanes._watch = Watch(lanes._watch)
    lanes.stop()
    assert closed.count(bell) == 1


class Unread:
    """An inbox that reads when it is told to."""

    def watch(self, source: Any) -> None:
        self.source = source


@pytest.mark.parametrize("how", ["its time", "its asker"])
def test_what_ends_a_request_too_late_ends_no_other(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request was answered while it was being given up: the next one on its lane goes on."""
    late: list[Any] = []

    class Timer(threading.Timer):
        def start(self) -> None:
            late.append(lambda: self.function(*self.args))

    server = tf.train.Server.create_local_server()
    with _channel(server.target.removeprefix("grpc://")) as channel:
        channel.call(m.GetStatus())
        (lane,) = channel._free
        if how == "its time":
            monkeypatch.setattr(threading, "Timer", Timer)
            channel.call(m.GetStatus(), timeout=60.0)
        else:
            first: Any = Unread()
            give_up = channel.start(m.GetStatus(), lambda reply, error: None, inbox=first)
            first.source.ready()
            late.append(lambda: give_up(errors.CancelledError(None, None, "too late")))
        answers: list[Any] = []
        second: Any = Unread()
        channel.start(m.GetStatus(), lambda reply, error: answers.append((reply, error)), inbox=second)
        assert not channel._free
        (end,) = late
        end()
        second.source.ready()
        end()
        ((reply, error),) = answers
        assert isinstance(reply, m.Status) and error is None
        assert channel._free == [lane] and lane.idle
    server.stop()


def test_a_cluster_takes_lanes_and_leaves_nothing(folder: Path) -> None:
    before = set(threading.enumerate())
    with running(ps=2, worker=1) as servers, tf.Graph().as_default():
        parts = []
        for task in range(2):
            with tf.device(f"/job:ps/task:{task}"):
                parts.append(tf.Variable(tf.ones([101, 103]) * (task + 1)))
        with tf.device("/job:worker/task:0"):
            total = tf.add_n([part.assign_add(tf.ones([101, 103])) for part in parts])
        with tf.Session(servers["worker:0"].target) as sess:
            sess.run(tf.global_variables_initializer())
            for turn in range(1, 6):
                assert (sess.run(total) == 3 + 2 * turn).all()
        transports = servers["worker:0"]._task._transports
        assert set(transports) == {"/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1"}
        assert not list(folder.iterdir())
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("tfexp-lane"):
            thread.join(60)
            assert not thread.is_alive(), thread.name


SERVER = """
import sys, tfexp as tf
server = tf.train.Server.create_local_server()
print(server.target, flush=True)
sys.stdin.read()
"""


def test_a_server_that_is_killed_leaves_nothing_and_is_missed_at_once(folder: Path) -> None:
    with started(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(folder)},
    ) as process:
        assert process.stdout is not None
        target = process.stdout.readline().strip()
        with tf.Graph().as_default(), tf.Session(target) as sess:
            x = tf.placeholder(tf.float32, [None])
            y = x * 2.0
            for size in (3, 100_003):
                assert (sess.run(y, {x: np.ones(size)}) == 2).all()
            assert sess._backend._transport.lanes == 1
            process.kill()
            with pytest.raises(tf.errors.UnavailableError, match="localhost"):
                sess.run(y, {x: [1.0]})
    assert not list(folder.iterdir())


def test_a_session_at_a_server_of_its_own_process_needs_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    server = tf.train.Server.create_local_server()

    def forbidden(*_: Any) -> Any:
        raise AssertionError("a socket was wanted")

    monkeypatch.setattr(server_module, "_channel", forbidden)
    for target in (server.target, server.target.replace("localhost", "127.0.0.1")):
        with tf.Graph().as_default(), tf.Session(target, config=config_pb2.ConfigProto()) as sess:
            assert sess.run(tf.constant(2.0) * 3.0) == 6.0
    server.stop()
