"""A fixed budget of bytes and graphs that make no sense, the same in every run, against a server whose memory has a limit.

Each gets a status with a message, in time; the server lives on, and a session that others opened has what it had.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import numpy as np
import pytest

import tfexp as tf
from tests.distributed import fuzzing
from tests.distributed.fuzz_server import MESSAGE_LIMIT
from tests.distributed.hostile_graphs import ODD, REFUSED
from tests.distributed.recording import BY_PATH
from tests.processes import started
from tfexp.core import errors
from tfexp.formats.protos import master_service as ms

# Seconds of the server's processor time that any answer may take; most take milliseconds.
BOUND = 10.0
# Seconds until somebody who waits gives up, however busy the machine is.
PATIENCE = 120.0
# MiB that the server may come to have; its address space ends some way above.
MOST_MEMORY = 2560
MUTATIONS, GRAPHS = 40, 1200
MASTER = "/tensorflow.MasterService/"
# They end everybody's sessions, as they are to.
RESETS = (f"{MASTER}Reset", "/tensorflow.WorkerService/CleanupAll")
# What a fault of the sender's must not look like: UNKNOWN, INTERNAL, UNAVAILABLE, or no answer in time.
OUR_FAULT = (errors.UNKNOWN, errors.INTERNAL, errors.UNAVAILABLE, errors.DEADLINE_EXCEEDED)


class Serving(NamedTuple):
    """A server in a process of its own."""

    address: str
    pid: int

    def processor_seconds(self) -> float:
        """What it has used so far."""
        times = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


class Client:
    """Sends bytes and has the outcome: code, text, and the response if there is one."""

    def __init__(self, server: Serving):
        self._server = server
        self.channel = grpc.insecure_channel(server.address, options=(("grpc.max_send_message_length", -1),))

    def send(self, path: str, data: bytes, timeout: float = PATIENCE) -> tuple[int, str, Any]:
        before = self._server.processor_seconds()
        try:
            answer = self.channel.unary_unary(path)(data, timeout=timeout)
        except grpc.RpcError as error:
            return error.code().value[0], error.details(), None
        finally:
            assert self._server.processor_seconds() - before < BOUND
        response = BY_PATH[path].response.FromString(answer)
        return getattr(response, "status_code", 0), getattr(response, "status_error_message", ""), response

    def create(self, graph: Any) -> tuple[int, str, Any]:
        return self.send(f"{MASTER}CreateSession", ms.CreateSessionRequest(graph_def=graph).SerializeToString())

    def run(self, session: str, node: str) -> tuple[int, str, Any]:
        request = ms.RunStepRequest(session_handle=session, target=[node], store_errors_in_response_body=True)
        return self.send(f"{MASTER}RunStep", request.SerializeToString())

    def close(self, session: str) -> None:
        code, text, _ = self.send(
            f"{MASTER}CloseSession", ms.CloseSessionRequest(session_handle=session).SerializeToString()
        )
        assert code == 0, text


@contextlib.contextmanager
def _serving() -> Iterator[Serving]:
    """A server, which in the end is still there and has not grown beyond bounds."""
    command = [sys.executable, "-m", "tests.distributed.fuzz_server"]
    with started(
        command, cwd=Path(__file__).parents[2], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield Serving(process.stdout.readline().strip().removeprefix("grpc://"), process.pid)
            assert process.poll() is None
            process.stdin.close()
            memory = int(process.stdout.read())
            assert process.wait(PATIENCE) == 0
            assert memory < MOST_MEMORY
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    with _serving() as serving:
        yield serving


@pytest.fixture(scope="module")
def bystander(server: Serving) -> Iterator[Any]:
    """A session of somebody else, with a variable."""
    with tf.Graph().as_default() as graph:
        kept = tf.Variable(np.arange(7, dtype=np.float32), name="kept")
        with tf.Session(f"grpc://{server.address}", graph=graph) as session:
            session.run(kept.initializer)
            yield lambda: session.run(kept)


@pytest.fixture
def client(server: Serving, bystander: Any) -> Iterator[Client]:
    client = Client(server)
    yield client
    client.channel.close()
    np.testing.assert_array_equal(bystander(), np.arange(7, dtype=np.float32))


def _check(outcome: tuple[int, str, Any], what: str) -> None:
    code, text, _ = outcome
    assert code not in OUR_FAULT, f"{what}: status {code}: {text}"
    assert code == 0 or len(text) > 10, f"{what}: status {code} says {text!r}"
    assert "Traceback" not in text, what


@pytest.mark.parametrize("path", [path for path in BY_PATH if path not in RESETS])
def test_bytes(client: Client, path: str) -> None:
    _send_mutations(client, path)


def test_bytes_that_reset() -> None:
    with _serving() as serving:
        client = Client(serving)
        for path in RESETS:
            _send_mutations(client, path)
        client.channel.close()


def _send_mutations(client: Client, path: str) -> None:
    rng = random.Random(path)
    code, text, created = client.create(fuzzing.recorded_graph())
    assert code == 0, text
    requests = fuzzing.corpus(created.session_handle)
    everything = [data for some in requests.values() for data in some]
    waits = path.endswith(("RecvTensor", "CompleteGroup"))  # for a sender, or other members, that need not come
    for number in range(MUTATIONS):
        data = fuzzing.mutated(rng.choice(requests[path]), rng.choice(everything), rng)
        outcome = client.send(path, data, 0.2 if waits else PATIENCE)
        if not (waits and outcome[0] == errors.DEADLINE_EXCEEDED):
            _check(outcome, f"{path}, mutation {number}")


def test_graphs_at_random(client: Client) -> None:
    ran = 0
    for number, graph in enumerate(fuzzing.random_graphs(GRAPHS, seed=1)):
        what = f"graph {number}, {graph.node[-1].op}"
        outcome = client.create(graph)
        _check(outcome, what)
        if outcome[0] == 0:
            session = outcome[2].session_handle
            _check(client.run(session, graph.node[-1].name), what)
            client.close(session)
            ran += 1
    assert ran > GRAPHS // 3


@pytest.mark.parametrize("what", REFUSED)
def test_graphs_that_cannot_be(client: Client, what: str) -> None:
    code, text, created = client.create(REFUSED[what]())
    if created is not None:
        code, text, _ = client.run(created.session_handle, "run")
        client.close(created.session_handle)
    assert code in (errors.INVALID_ARGUMENT, errors.RESOURCE_EXHAUSTED, errors.NOT_FOUND), f"status {code}: {text}"
    assert len(text) > 10


@pytest.mark.parametrize("what", ODD)
def test_graphs_that_are_only_odd(client: Client, what: str) -> None:
    code, text, created = client.create(ODD[what]())
    assert code == 0, text
    outcome = client.run(created.session_handle, "run")
    assert outcome[0] == 0, outcome[1]
    client.close(created.session_handle)


def test_messages_within_messages(client: Client) -> None:
    """Nested deeper than any reader's stack, which only bytes written by hand can be."""
    inner = b"\x18\x01"  # AttrValue.i = 1
    for _ in range(3000):
        entry = b"\x0a\x01f" + _field(2, inner)
        inner = _field(10, b"\x0a\x01g" + _field(2, entry))
    node = b"\x0a\x01n\x12\x04NoOp" + _field(5, b"\x0a\x02_x" + _field(2, inner))
    code, text, _ = client.send(f"{MASTER}CreateSession", _field(1, _field(1, node)))
    assert code == errors.INVALID_ARGUMENT, text


def _field(number: int, data: bytes) -> bytes:
    size, length = len(data), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + data


def test_messages_that_are_too_large(client: Client) -> None:
    """The server takes no more than it was told to."""
    code, text, _ = client.send(f"{MASTER}CreateSession", bytes(MESSAGE_LIMIT + 1))
    assert code == errors.RESOURCE_EXHAUSTED
    assert str(MESSAGE_LIMIT) in text
