"""What every transport to a task owes its users; gRPC, lanes and their in-process twin pass the same suite."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2, graph_pb2

import tfexp as tf
from tests.distributed import waiting
from tests.distributed.clusters import free_ports
from tfexp.core import errors
from tfexp.distributed import messages as m
from tfexp.distributed.channel import GrpcChannel
from tfexp.distributed.lane import LaneChannel, available
from tfexp.distributed.security import Security
from tfexp.distributed.services import GrpcServices
from tfexp.distributed.task import Task
from tfexp.distributed.transport import InProcess, Transport

OWN = "/job:local/replica:0/task:0"


def _refuse(address: str) -> Transport:
    raise AssertionError(f"no peers here: {address}")


@pytest.fixture
def task() -> Iterator[Task]:
    task = Task(OWN, {OWN: "localhost:0"}, _refuse)
    yield task
    task.close()


DEFAULT = Security()
ON_LINUX = pytest.mark.skipif(not available(), reason="lanes are Linux's")
KINDS = ["grpc", pytest.param("unix", marks=ON_LINUX), pytest.param("tcp", marks=ON_LINUX)]


@contextlib.contextmanager
def opened(kind: str, task: Task, server: Security = DEFAULT, client: Security = DEFAULT) -> Iterator[Transport]:
    """A transport of that kind to the task, and everything that it needs."""
    services = GrpcServices(task, "127.0.0.1:0", server)
    services.start()
    channel = GrpcChannel(f"127.0.0.1:{services.port}", "the task", client)
    transport: Transport = channel
    if kind != "grpc":
        transport = LaneChannel(channel, client)
        transport._kinds = [kind]
        transport.call(m.GetStatus())
        assert transport.lanes == 1
    try:
        yield transport
    finally:
        transport.close()
        task.close()
        services.stop(None).wait()


@pytest.fixture(params=["in-process", *KINDS])
def transport(request: pytest.FixtureRequest, task: Task) -> Iterator[Transport]:
    if request.param == "in-process":
        transport: Transport = InProcess(task)
        yield transport
        transport.close()
        return
    with opened(request.param, task) as transport:
        yield transport


def _graph() -> graph_pb2.GraphDef:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.multiply(x, 2.0, name="y")
        tf.placeholder(tf.string, [], name="s")
        tf.strings.join(["bytes: ", graph.get_tensor_by_name("s:0")], name="t")
        waiting.wait(tf.placeholder(tf.float32, [], name="w"), name="waits")
        tf.check_numerics(tf.placeholder(tf.float32, [], name="n"), "not a number", name="checked")
    return graph.as_graph_def()


def _session(transport: Transport) -> str:
    created = transport.call(m.CreateSession(_graph(), config_pb2.ConfigProto()))
    assert isinstance(created, m.SessionCreated)
    return created.session


def _run(transport: Transport, session: str, fetch: str, **feeds: object) -> object:
    fed = tuple((f"{name}:0", np.asarray(value)) for name, value in feeds.items())
    reply = transport.call(m.RunStep(session, fed, (fetch,), ()))
    assert isinstance(reply, m.StepRun)
    return np.asarray(m.as_array(reply.values[0]))


def test_a_step_comes_back_with_its_values(transport: Transport) -> None:
    session = _session(transport)
    for _ in range(4):  # every tier of the executor
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(_run(transport, session, "y:0", x=x), 2 * x)
    assert _run(transport, session, "t:0", s=np.array(b"\xff\n", object)).item() == b"bytes: \xff\n"


def test_errors_keep_code_and_node(transport: Transport) -> None:
    session = _session(transport)
    with pytest.raises(errors.InvalidArgumentError, match=r"From /job:local(.|\n)*not a number(.|\n)*\{\{node checked\}\}"):
        _run(transport, session, "checked:0", n=np.float32("nan"))
    with pytest.raises(errors.AbortedError, match="Session 0 is not found"):
        transport.call(m.CloseSession("0"))
    with pytest.raises(errors.NotFoundError, match="nothing"):
        _run(transport, session, "nothing:0")
    with pytest.raises(errors.InvalidArgumentError, match="int64, but the graph wants float32"):
        _run(transport, session, "y:0", x=np.zeros((2, 3), np.int64))


def test_a_session_grows_by_versions(transport: Transport) -> None:
    session = _session(transport)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.add(x, 1.0, name="z")
    more = graph.as_graph_def()
    del more.node[0]
    extended = transport.call(m.ExtendSession(session, more, 0))
    assert extended == m.SessionExtended(1)
    np.testing.assert_array_equal(_run(transport, session, "z:0", x=np.zeros((1, 3), np.float32)), np.ones((1, 3)))
    with pytest.raises(errors.AbortedError, match="version 1, not 0"):
        transport.call(m.ExtendSession(session, more, 0))
    with pytest.raises(errors.InvalidArgumentError, match="has already: 'z'"):
        transport.call(m.ExtendSession(session, more, 1))


def test_a_deadline_ends_the_step_at_the_server(transport: Transport) -> None:
    session = _session(transport)
    for seconds in waiting.until_started():
        with pytest.raises(errors.DeadlineExceededError):
            transport.call(m.RunStep(session, (("w:0", np.float32(1)),), ("waits:0",), ()), timeout=seconds)
    for seconds in waiting.until_started():
        options = config_pb2.RunOptions(timeout_in_ms=round(seconds * 1e3))
        with pytest.raises(errors.DeadlineExceededError):
            transport.call(m.RunStep(session, (("w:0", np.float32(1)),), ("waits:0",), (), options))
    np.testing.assert_array_equal(_run(transport, session, "y:0", x=np.ones((1, 3), np.float32)), [[2, 2, 2]])


def test_what_is_started_can_be_given_up(transport: Transport) -> None:
    session = _session(transport)
    done = threading.Event()
    outcome: list[object] = []

    def finished(reply: object, error: object) -> None:
        outcome.extend([reply, error])
        done.set()

    give_up = transport.start(m.RunStep(session, (("w:0", np.float32(1)),), ("waits:0",), ()), finished)
    assert waiting.started.acquire(timeout=60)
    give_up(errors.CancelledError(None, None, "not wanted any more"))
    assert done.wait(60)
    assert outcome[0] is None
    assert isinstance(outcome[1], errors.CancelledError)


def test_closing_a_session_cancels_its_steps(transport: Transport) -> None:
    session = _session(transport)
    done = threading.Event()
    outcome: list[object] = []
    transport.start(
        m.RunStep(session, (("w:0", np.float32(1)),), ("waits:0",), ()),
        lambda reply, error: (outcome.append(error), done.set()),  # type: ignore[func-returns-value]
    )
    assert waiting.started.acquire(timeout=60)
    assert transport.call(m.CloseSession(session)) == m.Done()
    assert done.wait(60)
    assert isinstance(outcome[0], errors.CancelledError)


def test_callables_go_by_position(transport: Transport) -> None:
    session = _session(transport)
    options = config_pb2.CallableOptions(feed=["x:0"], fetch=["y:0"])
    made = transport.call(m.MakeCallable(session, options))
    assert isinstance(made, m.CallableMade)
    reply = transport.call(m.RunCallable(session, made.handle, (np.ones((2, 3), np.float32),)))
    assert isinstance(reply, m.StepRun)
    np.testing.assert_array_equal(m.as_array(reply.values[0]), np.full((2, 3), 2))
    assert transport.call(m.ReleaseCallable(session, made.handle)) == m.Done()
    with pytest.raises(errors.InvalidArgumentError, match="No such callable handle"):
        transport.call(m.RunCallable(session, made.handle, ()))


def test_devices_and_status(transport: Transport) -> None:
    session = _session(transport)
    listed = transport.call(m.ListDevices(session))
    status = transport.call(m.GetStatus())
    assert isinstance(listed, m.DevicesListed)
    assert isinstance(status, m.Status)
    assert listed.local == status.devices
    assert [d.name for d in listed.local] == [f"{OWN}/device:CPU:0"]


def test_a_closed_transport_says_so(transport: Transport) -> None:
    transport.close()
    with pytest.raises(errors.UnavailableError, match="closed"):
        transport.call(m.GetStatus())


def test_nobody_there_is_said_at_once_with_the_address() -> None:
    (port,) = free_ports(1)
    channel = GrpcChannel(f"127.0.0.1:{port}", "/job:ps/replica:0/task:0")
    with pytest.raises(errors.UnavailableError, match=f"/job:ps/replica:0/task:0 at 127.0.0.1:{port} cannot be reached"):
        channel.call(m.GetStatus())
    channel.close()


LARGE = {
    "float32": np.arange(70_001, dtype=np.float32),
    "bfloat16": np.arange(13 * 17 * 181, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(13, -1, 17),
    "bool": np.arange(30_011) % 3 == 0,
    "complex64": np.arange(20_011).astype(np.complex64) * 1j,
    "every second": np.arange(90_001, dtype=np.int64)[::2],
    "transposed": np.arange(301 * 97, dtype=np.float64).reshape(301, 97).T,
    "strings": np.array([b"x" * (n % 7) for n in range(9_001)], object),
    "empty": np.zeros((0, 5), np.float32),
}


def test_large_tensors_come_back_as_they_went(transport: Transport) -> None:
    with tf.Graph().as_default() as graph:
        for number, array in enumerate(LARGE.values()):
            dtype = tf.string if array.dtype == object else tf.as_dtype(array.dtype)
            tf.identity(tf.placeholder(dtype, name=f"x{number}"), name=f"y{number}")
    created = transport.call(m.CreateSession(graph.as_graph_def(), config_pb2.ConfigProto()))
    assert isinstance(created, m.SessionCreated)
    # A small one is in the midst of them: they come back in the order in which they were asked for.
    arrays = [*LARGE.values()]
    feeds = tuple((f"x{number}:0", array) for number, array in enumerate(arrays))
    fetches = tuple(f"y{number}:0" for number in reversed(range(len(arrays))))
    reply = transport.call(m.RunStep(created.session, feeds, fetches, ()))
    assert isinstance(reply, m.StepRun)
    for name, array, value in zip(LARGE, arrays, reversed(reply.values), strict=True):
        got = np.asarray(m.as_array(value))
        assert got.dtype == array.dtype, name
        np.testing.assert_array_equal(got, array, err_msg=name)
    made = transport.call(
        m.MakeCallable(created.session, config_pb2.CallableOptions(feed=["x0:0", "x7:0"], fetch=["y7:0", "y0:0"]))
    )
    assert isinstance(made, m.CallableMade)
    reply = transport.call(m.RunCallable(created.session, made.handle, (LARGE["float32"], LARGE["empty"])))
    assert isinstance(reply, m.StepRun)
    assert [np.asarray(m.as_array(value)).shape for value in reply.values] == [(0, 5), (70_001,)]


SMALL = Security(max_message_bytes=100_000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("server", "client"), [(SMALL, Security()), (Security(), SMALL)], ids=["server", "client"])
def test_what_is_larger_than_allowed_is_refused_both_ways(kind: str, server: Security, client: Security, task: Task) -> None:
    with opened(kind, task, server, client) as transport:
        with tf.Graph().as_default() as graph:
            tf.identity(tf.placeholder(tf.float32, name="x"), name="small")
            tf.fill(tf.placeholder(tf.int32, [1], name="n"), 1.0, name="y")
        created = transport.call(m.CreateSession(graph.as_graph_def(), config_pb2.ConfigProto()))
        assert isinstance(created, m.SessionCreated)
        with pytest.raises(errors.ResourceExhaustedError, match="100000"):
            _run(transport, created.session, "small:0", x=np.ones(1_000_000, np.float32))
        with pytest.raises(errors.ResourceExhaustedError, match="100000"):
            _run(transport, created.session, "y:0", n=np.array([1_000_000], np.int32))
        assert _run(transport, created.session, "small:0", x=np.float32(7)) == 7


def test_steps_of_many_threads_do_not_wait_for_each_other(transport: Transport) -> None:
    session = _session(transport)
    done = threading.Semaphore(0)
    give_ups = [
        transport.start(m.RunStep(session, (("w:0", np.float32(1)),), ("waits:0",), ()), lambda *_: done.release())
        for _ in range(5)
    ]
    for _ in give_ups:
        assert waiting.started.acquire(timeout=60)
    assert _run(transport, session, "y:0", x=np.ones((1, 3), np.float32)) is not None
    for give_up in give_ups:
        give_up(errors.CancelledError(None, None, "over"))
    for _ in give_ups:
        assert done.acquire(timeout=60)
