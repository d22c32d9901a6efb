"""`tf.train.Server`, sessions with a target, and what people do wrong with them."""

from __future__ import annotations

import ast
import gc
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2

import tfexp as tf
import tfexp.distributed
from tests.distributed import waiting
from tests.distributed.clusters import free_ports, running
from tfexp.distributed import server as server_module
from tfexp.distributed.remote_session import RemoteBackend


@pytest.fixture
def server() -> Iterator[tf.train.Server]:
    server = tf.train.Server.create_local_server()
    yield server
    server.stop()


@pytest.fixture(params=["own process's", "over the wire"])
def target(request: pytest.FixtureRequest, server: tf.train.Server, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "over the wire":
        monkeypatch.setattr(server_module, "_serving", {})
    return server.target


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_a_program_trains_at_a_server(target: str) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [None, 1])
    w = tf.Variable(tf.zeros([3, 1]), name="w")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    xs = np.random.default_rng(5).normal(size=(31, 3)).astype(np.float32)
    goal = np.array([[1.0], [-2.0], [3.0]], np.float32)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: xs, y: xs @ goal})[0] for _ in range(150)]
        assert losses[-1] < 1e-4 * losses[0]
        np.testing.assert_allclose(sess.run(w), goal, atol=0.02)
        later = 2.0 * w  # the graph grows after the session was made
        np.testing.assert_array_equal(sess.run(later), 2 * sess.run(w))


def test_variables_outlive_sessions_and_are_shared_by_name(target: str) -> None:
    v = tf.Variable(7.0, name="v")
    with tf.container("mine"):
        u = tf.Variable(5.0, name="v")
    with tf.Session(target) as sess:
        sess.run([v.initializer, u.initializer])
    with tf.Graph().as_default():
        again = tf.Variable(0.0, name="v")
        with tf.Session(target) as first, tf.Session(target) as second:
            first.run(again.assign_add(4.0))
            assert second.run(again) == 11.0
    tf.Session.reset(target, ["mine"])
    with tf.Session(target) as sess:
        assert sess.run(v) == 11.0
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            sess.run(u)


def test_closing_a_session_while_it_is_made_is_no_loss_of_its_server() -> None:
    """Recovering clients would make it anew."""
    x = tf.constant(1.0)

    class Transport:
        def call(self, request: object, timeout: float | None = None) -> object:
            backend.close()
            raise tf.errors.UnavailableError(None, None, "The channel was closed")

        def close(self) -> None:
            pass

    backend = RemoteBackend(cast("Any", Transport()), "grpc://nowhere", x.graph, None)
    with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
        backend.run((), ("Const:0",), (), None, None)


def test_what_names_no_container_is_in_that_of_the_servers_job(target: str) -> None:
    v, r = tf.Variable(7.0, name="v"), tf.Variable(7.0, name="r", use_resource=True)
    with tf.Session(target) as sess:
        sess.run([v.initializer, r.initializer])
    tf.Session.reset(target, ["localhost"])
    with tf.Session(target) as sess:
        assert sess.run([v, r]) == [7.0, 7.0]
    tf.Session.reset(target, ["local"])
    with tf.Session(target) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            sess.run(v)
        with pytest.raises(tf.errors.FailedPreconditionError, match="r from Container: local"):
            sess.run(r)


@pytest.mark.parametrize(
    ("containers", "kept"),
    [
        (None, [False, True]),
        ([], [False, True]),
        ([""], [True, True]),
        (["mine"], [True, False]),
        (["mine", ""], [True, False]),
    ],
)
def test_reset_drops_the_containers_that_are_named_and_else_the_default_one(
    target: str, containers: list[str] | None, kept: list[bool]
) -> None:
    variables = [tf.Variable(7.0, name="v")]
    with tf.container("mine"):
        variables.append(tf.Variable(7.0, name="v"))
    there = [tf.is_variable_initialized(v) for v in variables]
    with tf.Session(target) as sess:
        sess.run([v.initializer for v in variables])
    tf.Session.reset(target, containers)
    with tf.Session(target) as sess:
        assert sess.run(there) == kept


def test_rows_of_a_variable_that_another_graph_made_smaller(target: str) -> None:
    small = tf.get_variable("v", [2, 3])
    with tf.Session(target) as sess:
        sess.run(small.initializer)
    with tf.Graph().as_default():
        rows = tf.gather(tf.get_variable("v", [5, 3]), [0, 4])
        with tf.Session(target) as sess:
            for _ in range(2):
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 4 is not in \[0, 2\)"):
                    sess.run(rows)


def test_reset_closes_sessions(target: str) -> None:
    v = tf.Variable(7.0, name="v")
    sess = tf.Session(target)
    sess.run(v.initializer)
    tf.Session.reset(target)
    with pytest.raises(tf.errors.AbortedError, match="is not found"):
        sess.run(v)
    sess.close()


def test_random_streams_belong_to_sessions(target: str) -> None:
    tf.set_random_seed(3)
    draw = tf.random_uniform([5])
    with tf.Session(target) as first, tf.Session(target) as second, tf.Session() as local:
        for _ in range(3):
            expected = local.run(draw)
            np.testing.assert_array_equal(first.run(draw), expected)
            np.testing.assert_array_equal(second.run(draw), expected)


def test_errors_name_the_node_of_the_clients_graph(target: str) -> None:
    x = tf.placeholder(tf.float32, name="x")
    with tf.Session(target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(tf.check_numerics(x, "bad", name="check"), {x: np.nan})
        assert caught.value.op.name == "check"
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder"):
            sess.run(x + 1.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="available devices are"), tf.device("/job:ps/task:3"):
            sess.run(tf.random_uniform([2]))


def test_a_fetch_may_be_a_feed_or_come_twice(target: str) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = x * 2.0
    with tf.Session(target) as sess:
        a, b, c, none = sess.run([y, x, y, tf.no_op()], {x: [1.0, 2.0]})
        np.testing.assert_array_equal(a, [2, 4])
        np.testing.assert_array_equal(b, [1, 2])
        np.testing.assert_array_equal(c, a)
        assert none is None


def test_traces_and_partitions_come_back(target: str) -> None:
    y = tf.random_uniform([3], name="draw")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    with tf.Session(target) as sess:
        sess.run(y, options=options, run_metadata=metadata)
    assert [d.device for d in metadata.step_stats.dev_stats] == ["/job:local/replica:0/task:0/device:CPU:0"]
    assert "draw/RandomUniform" in [n.name for g in metadata.partition_graphs for n in g.node]


def test_many_clients_at_once(target: str) -> None:
    total = tf.Variable(0, name="total")
    add = tf.assign_add(total, 1)
    with tf.Session(target) as sess:
        sess.run(total.initializer)
    graph = tf.get_default_graph()
    failures: list[BaseException] = []

    def client() -> None:
        try:
            with tf.Session(target, graph=graph) as sess:
                for _ in range(20):
                    sess.run(add)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=client) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
    with tf.Session(target) as sess:
        assert sess.run(total) == 100


def test_the_time_out_of_the_config(target: str) -> None:
    w = waiting.wait(tf.constant(1.0))
    for seconds in waiting.until_started():
        config = tf.ConfigProto(operation_timeout_in_ms=round(seconds * 1e3))
        with tf.Session(target, config=config) as sess, pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(w)


def test_a_server_that_stops_ends_its_steps() -> None:
    server = tf.train.Server.create_local_server()
    w = waiting.wait(tf.constant(1.0))
    caught: list[BaseException] = []

    def client() -> None:
        with tf.Session(server.target, graph=w.graph) as sess:
            try:
                sess.run(w)
            except tf.errors.OpError as error:
                caught.append(error)

    thread = threading.Thread(target=client)
    thread.start()
    assert waiting.started.acquire(timeout=60)
    joined = threading.Thread(target=server.join)
    joined.start()
    server.stop()
    thread.join(60)
    joined.join(60)
    assert not thread.is_alive()
    assert not joined.is_alive()
    assert isinstance(caught[0], tf.errors.UnavailableError)
    with (
        tf.Session(server.target) as sess,
        pytest.raises(tf.errors.UnavailableError, match=r"localhost:\d+ cannot be reached"),
    ):
        sess.run(tf.constant(1.0))


def test_a_server_that_stops_leaves_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    server = tf.train.Server.create_local_server()
    monkeypatch.setattr(server_module, "_serving", {})  # over the wire
    with tf.Session(server.target) as sess:
        assert sess.run(tf.constant(3.0)) == 3.0
    made = [thread for thread in threading.enumerate() if thread not in before and thread.name == "tfexp-server"]
    assert made
    server.stop()
    for thread in made:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.usefixtures("only_new_garbage")
def test_garbage_collection_that_finds_a_session_waits_for_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may come upon one while the thread has the lock of the session's own server."""
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        one = tf.constant(1.0)
        cycle: list[Any] = [tf.Session(server.target)]
        cycle[0].run(one)
        cycle.append(cycle)
        del cycle
        handle, collected = server._task._master.handle, []

        def handled(event: Any) -> Any:
            if not collected:
                collected.append(gc.collect())
            return handle(event)

        monkeypatch.setattr(server._task._master, "handle", handled)
        ran: list[float] = []

        def run() -> None:
            with tf.Session(server.target, graph=one.graph) as session:
                ran.append(session.run(one))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(60)
        assert ran == [1.0]
        until = time.monotonic() + 60
        while server._task._master._sessions and time.monotonic() < until:
            threading.Event().wait(0.01)
        assert not server._task._master._sessions
    server.stop()


def test_a_program_that_leaves_its_session_open_ends() -> None:
    server = tf.train.Server.create_local_server()
    program = f"import tfexp as tf; session = tf.Session({server.target!r}); session.run(tf.constant(1.0))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert not server._task._master._sessions
    server.stop()


def test_what_cannot_be_served_is_said_with_the_address() -> None:
    (port,) = free_ports(1)
    spec = {"ps": [f"localhost:{port}"]}
    first = tf.train.Server(spec)
    with pytest.raises(tf.errors.UnknownError, match=f"Could not start gRPC server: 127.0.0.1:{port}(.|\n)*in use"):
        tf.train.Server(spec)
    first.stop()
    again = tf.train.Server(spec, start=False)
    assert again.server_def.job_name == "ps"
    again.stop()
    with pytest.raises(tf.errors.UnknownError, match='parse port for local server from "somewhere"'):
        tf.train.Server({"ps": ["somewhere"]})
    with pytest.raises(ValueError, match="No such job"):
        tf.train.Server(spec, "worker", 0)
    with pytest.raises(ValueError, match="No task with index 3"):
        tf.train.Server(spec, "ps", 3)
    with pytest.raises(ValueError, match="job_name has to say which"):
        tf.train.Server({"ps": ["a:1"], "worker": ["b:2"]})
    with pytest.raises(
        tf.errors.NotFoundError, match="No server factory registered for the given ServerDef: protocol 'rdma'"
    ):
        tf.train.Server(spec, "ps", 0, protocol="rdma")


def test_an_unknown_scheme() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session("http://localhost:1")


def test_a_server_listens_on_loopback_alone(server: tf.train.Server) -> None:
    port = int(server.target.rpartition(":")[2])
    # Who listens at every interface has the port everywhere.
    with socket.socket() as elsewhere:
        elsewhere.bind(("127.0.0.2", port))
    with socket.socket() as here, pytest.raises(OSError, match="in use"):
        here.bind(("127.0.0.1", port))


def test_a_config_of_the_server_is_the_sessions_default() -> None:
    server = tf.train.Server.create_local_server(config_pb2.ConfigProto(allow_soft_placement=True))
    with tf.device("/gpu:3"):
        draw = tf.random_uniform([2])
    with tf.Session(server.target) as sess:
        assert sess.run(draw).shape == (2,)
    server.stop()


def test_grpc_has_its_owners_and_is_imported_when_needed() -> None:
    folder = Path(tfexp.distributed.__file__).parent
    for path in folder.parent.rglob("*.py"):
        text = path.read_text()
        if "grpc" not in text:
            continue
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import) and any(name.name.partition(".")[0] == "grpc" for name in node.names):
                assert path.name in ("services.py", "channel.py") and path.parent == folder, path
                assert node not in tree.body, f"{path} imports grpc at its top"


def test_a_process_with_a_server_ends() -> None:
    code = """
import tfexp as tf
server = tf.train.Server.create_local_server()
with tf.Session(server.target) as sess:
    print(sess.run(tf.constant(3.0) * 2.0))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "6.0"


def test_a_session_that_isolates_its_state_shares_no_variables() -> None:
    with running(worker=1) as servers, tf.Graph().as_default():
        v = tf.Variable(1.5)
        target = servers["worker:0"].target
        isolating = tf.ConfigProto(isolate_session_state=True)
        with tf.Session(target) as shared, tf.Session(target, config=isolating) as alone:
            shared.run(v.initializer)
            with pytest.raises(tf.errors.FailedPreconditionError):
                alone.run(v)
            alone.run(v.initializer)
            assert alone.run(tf.assign_add(v, 1.0)) == 2.5
            assert shared.run(v) == 1.5
        with tf.Session(target, config=isolating) as another, pytest.raises(tf.errors.FailedPreconditionError):
            another.run(v)
