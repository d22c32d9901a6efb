"""What the sources' programs print where servers are needed; ports are free ones instead of the sources' own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tfexp as tf
from tests.distributed.clusters import free_ports, running

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=2, worker=3) as servers:
        yield servers


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_d_sharding_variables(servers: dict[str, tf.train.Server]) -> None:
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps", worker_device="/job:worker")
    with tf.device(setter):
        variables = [tf.Variable(float(i), name=f"v{i}") for i in range(1, 6)]
        s = variables[0] + variables[1]
        with tf.device("/gpu:0"):
            p1 = 2 * s
            with tf.device("/task:1"):
                p2 = 3 * s
    assert [v.device for v in variables] == [f"/job:ps/task:{i}" for i in (0, 1, 0, 1, 0)]
    assert [t.device for t in (s, p1, p2)] == ["/job:worker", "/job:worker/device:GPU:0", "/job:worker/task:1/device:GPU:0"]
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(servers["ps:0"].target, config=config) as sess:
        sess.run([v.initializer for v in variables])
        assert sess.run([p1, p2]) == [6.0, 9.0]


def test_n_a_job_that_the_cluster_does_not_have() -> None:
    cluster = tf.train.ClusterSpec({"worker": [f"localhost:{free_ports(1)[0]}"]})
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="local"):
        tf.train.Server(cluster, job_name="local", task_index=0)
