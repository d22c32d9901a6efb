"""Real TensorFlow as client, master and worker of our servers and sessions, where it is installed."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed import shared_queue
from tests.distributed.clusters import free_ports
from tests.distributed.tensorflow_peer import train
from tests.golden import oracle
from tests.processes import started

pytestmark = pytest.mark.skipif(not oracle.is_installed(), reason="TensorFlow is not installed")

ROOT = Path(__file__).parents[2]
PEER = [sys.executable, "-m", "tests.distributed.tensorflow_peer"]


@contextlib.contextmanager
def _tensorflow_server(cluster: dict[str, list[str]], job: str) -> Iterator[None]:
    command = [*PEER, "server", json.dumps(cluster), job, "0"]
    with started(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdout is not None
        assert peer.stdin is not None
        try:
            assert peer.stdout.readline().startswith("up")
            yield
        finally:
            peer.stdin.close()
            try:
                peer.wait(60)
            except subprocess.TimeoutExpired:
                peer.kill()


@contextlib.contextmanager
def _our_server(cluster: dict[str, list[str]], job: str) -> Iterator[None]:
    server = tf.train.Server(cluster, job, 0)
    try:
        yield
    finally:
        server.stop()


@pytest.mark.parametrize("client", ["ours", "tensorflow"])
@pytest.mark.parametrize("worker", ["ours", "tensorflow"])
@pytest.mark.parametrize("ps", ["ours", "tensorflow"])
def test_a_cluster_of_both_trains(ps: str, worker: str, client: str) -> None:
    if (ps, worker, client) == ("tensorflow",) * 3:
        pytest.skip("TensorFlow alone is not our test")
    ports = free_ports(2)
    cluster = {"ps": [f"127.0.0.1:{ports[0]}"], "worker": [f"127.0.0.1:{ports[1]}"]}
    target = f"grpc://127.0.0.1:{ports[1]}"
    with contextlib.ExitStack() as stack:
        for kind, job in ((ps, "ps"), (worker, "worker")):
            stack.enter_context((_our_server if kind == "ours" else _tensorflow_server)(cluster, job))
        if client == "ours":
            with tf.Graph().as_default():
                seen: dict[str, Any] = train(tf, target, cluster)
        else:
            command = [*PEER, "client", target, json.dumps(cluster)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
            seen = json.loads(done.stdout)
    assert seen["steps"] == 60
    assert seen["loss"] < 0.5
    np.testing.assert_allclose(seen["w"], [[1.0], [2.0], [3.0]], atol=0.7)
    assert [name for name, _ in seen["errors"]] == [
        "InvalidArgumentError",
        "FailedPreconditionError",
        "InvalidArgumentError",
    ]
    assert seen["errors"][2][1] == "CheckNumerics"
    assert seen["large_error"] == 0
    assert seen["words"] == ["a!", "b!"]
    assert seen["devices"] == [f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker")]


@pytest.mark.parametrize(("server", "client"), [("ours", "tensorflow"), ("tensorflow", "ours")])
def test_queues_between_engines(server: str, client: str) -> None:
    """Blocking, time limits and the end of a queue, through the wire."""
    (port,) = free_ports(1)
    cluster, target = {"ps": [f"127.0.0.1:{port}"]}, f"grpc://127.0.0.1:{port}"
    with (_our_server if server == "ours" else _tensorflow_server)(cluster, "ps"):
        seen = _used(shared_queue, client, target)
    expected = dict(shared_queue.EXPECTED)
    if server == "tensorflow":
        # Of a failed dequeue_many, TensorFlow says what was missing and what was there besides.
        assert [name for name, _ in seen.pop("errors")] == [name for name, _ in expected.pop("errors")]
    assert seen == expected


def test_a_large_tensor_goes_straight_from_one_tensorflow_worker_to_another() -> None:
    ports = free_ports(3)
    cluster = {"ps": [f"127.0.0.1:{ports[0]}"], "worker": [f"127.0.0.1:{ports[1]}"], "chief": [f"127.0.0.1:{ports[2]}"]}
    peers = _tensorflow_server(cluster, "ps"), _tensorflow_server(cluster, "worker")
    with peers[0], peers[1], _our_server(cluster, "chief"), tf.Graph().as_default():
        with tf.device("/job:ps"):
            v = tf.Variable(tf.ones([307, 311]))
        with tf.device("/job:worker"):
            doubled = v * 2.0
        with tf.device("/job:ps"):
            back = tf.assign(v, doubled)
        with tf.Session(f"grpc://127.0.0.1:{ports[2]}") as session:
            session.run(v.initializer)
            for _ in range(3):
                session.run(back.op)
            np.testing.assert_array_equal(session.run(v), np.full([307, 311], 8.0))


def test_a_conditional_with_state_on_two_tensorflow_workers() -> None:
    ports = free_ports(3)
    cluster = {"ps": [f"127.0.0.1:{ports[0]}"], "worker": [f"127.0.0.1:{ports[1]}"], "chief": [f"127.0.0.1:{ports[2]}"]}
    peers = _tensorflow_server(cluster, "ps"), _tensorflow_server(cluster, "worker")
    with peers[0], peers[1], _our_server(cluster, "chief"), tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        with tf.device("/job:ps"):
            a = tf.Variable(1.0)
        with tf.device("/job:worker"):
            b = tf.Variable([10.0, 20.0])
        y = tf.cond(x > 1.0, lambda: tf.assign_add(a, x) + tf.assign_add(b, [x, 1.0]), lambda: tf.assign_sub(b, [1.0, x]))
        with tf.Session(f"grpc://127.0.0.1:{ports[2]}") as session:
            session.run([a.initializer, b.initializer])
            assert [session.run(y, {x: value}).tolist() for value in (2.0, 0.5, 4.0)] == [
                [15.0, 24.0],
                [11.0, 20.5],
                [22.0, 28.5],
            ]
            assert session.run(a) == 7.0


def _used(program: Any, client: str, target: str) -> dict[str, Any]:
    """What a client of that kind sees of a program that both engines can run."""
    if client == "ours":
        return dict(program.use(tf, target))
    command = [sys.executable, "-m", program.__name__, target]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
