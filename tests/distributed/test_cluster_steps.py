"""Steps over several tasks: where nodes go, what travels, who shares what, what happens when peers are missing or wrong."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tests.distributed import waiting
from tests.distributed.clusters import cluster_spec, free_ports, running
from tfexp.distributed import messages as m


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=2, worker=2) as servers:
        yield servers


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _device_of(sess: tf.Session, tensor: tf.Tensor) -> str:
    metadata = tf.RunMetadata()
    sess.run(tensor, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    (device,) = [d.device for d in metadata.step_stats.dev_stats if any(n.node_name == tensor.op.name for n in d.node_stats)]
    return device


# As TensorFlow 2.21 was seen to place these: for sessions at ps:0, ps:1, worker:0 and worker:1.
PLACES = {
    "/job:worker": ("worker:0", "worker:0", "worker:0", "worker:1"),
    "/task:1": ("ps:1", "ps:1", "ps:1", "worker:1"),
    "/job:ps": ("ps:0", "ps:1", "ps:0", "ps:0"),
    "": ("ps:0", "ps:1", "worker:0", "worker:1"),
    "/job:ps/task:1/cpu:0": ("ps:1",) * 4,
}


@pytest.mark.parametrize("device", PLACES)
def test_what_a_device_leaves_open(servers: dict[str, tf.train.Server], device: str) -> None:
    with tf.device(device):
        draw = tf.random_uniform([2], name="draw")
    numbers = draw.graph.get_tensor_by_name("draw/RandomUniform:0")
    for master, place in zip(["ps:0", "ps:1", "worker:0", "worker:1"], PLACES[device], strict=True):
        job, task = place.split(":")
        with tf.Session(servers[master].target) as sess:
            assert _device_of(sess, numbers) == f"/job:{job}/replica:0/task:{task}/device:CPU:0"


CLIENT = """
import sys
import tfexp as tf

x = tf.Variable(0.0, name="x")
increment_x = tf.assign(x, x + 1)

with tf.Session(sys.argv[1]) as sess:
    if sys.argv[2:] == ["init"]:
        sess.run(x.initializer)
    sess.run(increment_x)
    print(x.eval())
"""


def test_simple_client_through_two_servers(servers: dict[str, tf.train.Server]) -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", CLIENT, servers[name].target, *words],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout.strip()
        for name, words in (("worker:0", ["init"]), ("worker:1", []))
    ]
    assert printed == ["1.0", "2.0"]
    tf.Session.reset(servers["worker:0"].target)


def _training(spec: tf.train.ClusterSpec) -> tuple[tf.Tensor, ...]:
    with tf.device(tf.train.replica_device_setter(cluster=spec)):
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.placeholder(tf.float32, [None, 1])
        w = tf.Variable(tf.zeros([3, 1]), name="w")
        b = tf.Variable(tf.zeros([1]), name="b")
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
        init = tf.global_variables_initializer()
    return x, y, w, b, step, loss, train, init


def test_between_graph_training_is_what_one_process_computes(servers: dict[str, tf.train.Server]) -> None:
    spec = servers["ps:0"]._cluster
    x, y, w, b, step, loss, train, init = _training(spec)
    rng = np.random.default_rng(11)
    xs = rng.normal(size=(17, 3)).astype(np.float32)
    ys = (xs @ np.array([[1.0], [2.0], [3.0]]) + 0.5).astype(np.float32)
    feed = {x: xs, y: ys}
    config = tf.ConfigProto(allow_soft_placement=True)
    with (
        tf.Session(servers["worker:0"].target) as first,
        tf.Session(servers["worker:1"].target) as second,
    ):
        first.run(init)
        for n in range(60):
            (first, second)[n % 2].run(train, feed)
        there = second.run([w, b, step, loss], feed)
    with tf.Graph().as_default(), tf.Session(config=config) as local:
        with tf.device(""):
            x, y, w, b, step, loss, train, init = _training(tf.train.ClusterSpec({"worker": ["localhost:1"]}))
        for op in tf.get_default_graph().get_operations():
            op._set_device("")
        local.run(init)
        for _ in range(60):
            local.run(train, {x: xs, y: ys})
        here = local.run([w, b, step, loss], {x: xs, y: ys})
    for a, e in zip(there, here, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)


def test_a_training_step_asks_each_parameter_server_twice(servers: dict[str, tf.train.Server]) -> None:
    x, y, w, b, _, loss, _, init = _training(servers["ps:0"]._cluster)
    assert (w.device, b.device) == ("/job:ps/task:0", "/job:ps/task:1")
    with tf.device(tf.train.replica_device_setter(cluster=servers["ps:0"]._cluster)):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    feed = {x: np.ones((2, 3)), y: np.ones((2, 1))}
    counts: dict[str, list[str]] = {}
    with tf.Session(servers["worker:0"].target) as sess:
        sess.run(init)
        sess.run(train, feed)
        for name in ("ps:0", "ps:1", "worker:1"):
            task = servers[name]._task
            counts[name] = []
            handle = task._worker.handle

            def counted(event: object, handle: object = handle, seen: list[str] = counts[name]) -> object:
                request = getattr(event, "request", None)
                if request is not None:
                    seen.append(type(request).__name__)
                return handle(event)  # type: ignore[operator]

            task._worker.handle = counted  # type: ignore[assignment,method-assign]
        sess.run(train, feed)
        for name in counts:
            del servers[name]._task._worker.handle
    assert counts == {"ps:0": ["RunGraph"] * 2, "ps:1": ["RunGraph"] * 2, "worker:1": []}


def test_an_error_elsewhere_names_its_task(servers: dict[str, tf.train.Server]) -> None:
    with tf.device("/job:ps/task:1"):
        bad = tf.check_numerics(tf.placeholder_with_default(np.float32("nan"), []), "bad", name="check")
    with (
        tf.Session(servers["worker:0"].target) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"From /job:ps/replica:0/task:1:\nbad") as caught,
    ):
        sess.run(bad + 1.0)
    assert caught.value.op.name == "check"


def test_a_failing_stage_ends_the_others(servers: dict[str, tf.train.Server]) -> None:
    with tf.device("/job:ps/task:0"):
        waits = waiting.wait(tf.constant(1.0))
    with tf.device("/job:worker/task:1"):
        bad = tf.check_numerics(tf.placeholder(tf.float32, []), "bad")
    x = bad.op.inputs[0]
    with tf.Session(servers["worker:0"].target) as sess, pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        sess.run([waits, bad], {x: np.nan})
    waiting.started.acquire(timeout=60)


def test_device_filters_hide_tasks() -> None:
    spec = cluster_spec(ps=1, worker=2)
    with_ps, lone = tf.train.Server(spec, "ps", 0), tf.train.Server(spec, "worker", 1)
    try:
        with tf.device("/job:ps"):
            v = tf.random_uniform([])
        with tf.device("/job:worker/task:0"):
            hidden = tf.random_uniform([])
        # worker:0 is not up, and nobody waits for it.
        config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:1"])
        with tf.Session(lone.target, config=config) as sess:
            assert 0 <= sess.run(v) < 1
            assert {d.name.split("/device")[0] for d in sess.list_devices()} == {
                "/job:ps/replica:0/task:0",
                "/job:worker/replica:0/task:1",
            }
            with pytest.raises(tf.errors.InvalidArgumentError, match="available devices"):
                sess.run(hidden)
    finally:
        with_ps.stop()
        lone.stop()


def test_a_start_waits_for_its_peers_and_says_for_whom(caplog: pytest.LogCaptureFixture) -> None:
    spec = cluster_spec(ps=1, worker=1)
    worker = tf.train.Server(spec, "worker", 0)
    result: list[object] = []
    y = tf.constant(3.0) * tf.placeholder_with_default(2.0, [])

    def client() -> None:
        with tf.Session(worker.target, graph=y.graph) as sess:
            result.append(sess.run(y))

    said = threading.Event()

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "Still waiting for /job:ps/replica:0/task:0 at" in record.getMessage():
                said.set()

    logger, ear = logging.getLogger("tfexp.distributed"), Ear()
    logger.addHandler(ear)
    thread = threading.Thread(target=client)
    thread.start()
    try:
        assert said.wait(60)
        ps = tf.train.Server(spec, "ps", 0)
        thread.join(60)
        assert result == [6.0]
        ps.stop()
    finally:
        logger.removeHandler(ear)
        worker.stop()
        thread.join(60)


def test_wrong_identities_and_clusters_are_said() -> None:
    ports = free_ports(3)
    truth = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    lie = {"ps": [f"localhost:{ports[1]}"], "worker": [f"localhost:{ports[2]}"]}
    real, liar = tf.train.Server(truth, "worker", 0), tf.train.Server(lie, "worker", 0)
    try:
        with (
            tf.Session(liar.target) as sess,
            pytest.raises(
                tf.errors.InvalidArgumentError,
                match=f"server at localhost:{ports[1]} was to be /job:ps/replica:0/task:0, but says that it is /job:worker",
            ),
        ):
            sess.run(tf.constant(1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="is at elsewhere:1 there and at localhost"):
            real._task.call(m.CreateWorkerSession("s", "worker", 0, {"ps": {0: "elsewhere:1"}}))
        with pytest.raises(tf.errors.InvalidArgumentError, match="takes it for /job:worker/replica:0/task:4"):
            real._task.call(m.CreateWorkerSession("s", "worker", 4, {}))
    finally:
        real.stop()
        liar.stop()


def test_a_peer_that_dies_is_named_and_comes_back() -> None:
    spec = cluster_spec(ps=1, worker=1)
    ps, worker = tf.train.Server(spec, "ps", 0), tf.train.Server(spec, "worker", 0)
    try:
        with tf.device("/job:ps"):
            v = tf.Variable(2.0, name="v")
        with tf.Session(worker.target) as sess:
            sess.run(v.initializer)
            assert sess.run(v) == 2.0
            ps.stop()
            with pytest.raises(
                tf.errors.UnavailableError, match=r"/job:ps/replica:0/task:0 at localhost:\d+ cannot be reached"
            ):
                sess.run(v)
            ps = tf.train.Server(spec, "ps", 0)
            with pytest.raises(tf.errors.AbortedError, match="just restarted"):
                _until_reached(sess, v)
        with tf.Session(worker.target) as sess:
            sess.run(v.initializer)
            assert sess.run(v) == 2.0
    finally:
        ps.stop()
        worker.stop()


def _until_reached(sess: tf.Session, v: tf.Variable) -> None:
    """The channel tries again by and by; each try of ours is an answer at once."""
    for _ in range(200):
        try:
            sess.run(v)
        except tf.errors.UnavailableError:
            threading.Event().wait(0.05)


def test_a_tensor_array_is_used_in_several_stages_of_its_task(servers: dict[str, tf.train.Server]) -> None:
    with tf.device("/job:ps/task:0"):
        written = tf.TensorArray(tf.float32, 2, clear_after_read=False).write(0, [2.0, 3.0])
        first = written.read(0)
    with tf.device("/job:worker/task:1"):
        second = first * 10.0
    with tf.device("/job:ps/task:0"):
        both = written.write(1, second).stack()
    with tf.Session(servers["worker:0"].target) as sess:
        for _ in range(2):
            assert sess.run(both).tolist() == [[2.0, 3.0], [20.0, 30.0]]


def test_large_tensors_and_strings_cross(servers: dict[str, tf.train.Server]) -> None:
    with tf.device("/job:ps/task:0"):
        big = tf.Variable(tf.zeros([1031, 1033]), name="big")
        words = tf.placeholder(tf.string, [None])
        joined = tf.strings.join([words, "!"])
    with tf.device("/job:worker/task:1"):
        more = big + 1.0
        longer = tf.strings.join([joined, "?"])
    with tf.device("/job:ps/task:0"):
        back = tf.assign(big, more)
    with tf.Session(servers["worker:0"].target) as sess:
        sess.run(big.initializer)
        sess.run(back.op)
        np.testing.assert_array_equal(sess.run(big), np.ones((1031, 1033)))
        assert sess.run(longer, {words: ["a", b"\xff"]}).tolist() == [b"a!?", b"\xff!?"]


def test_nothing_is_left_of_steps(servers: dict[str, tf.train.Server]) -> None:
    with tf.device("/job:ps/task:0"):
        a = tf.random_uniform([2])
    with tf.device("/job:ps/task:1"):
        b = a + 1.0
    with tf.device("/job:ps/task:0"):
        c = a * b
    with tf.Session(servers["worker:0"].target) as sess:
        sess.run(c)
    for server in servers.values():
        task = server._task
        assert not task._worker._steps
        assert not (task._states or task._nested)
