"""Sessions that bring their cluster (`ConfigProto.cluster_def`) to servers of which each knows only itself."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import pytest
from tensorboard.compat.proto import cluster_pb2, config_pb2

import tfexp as tf
from tfexp.distributed import messages as m
from tfexp.distributed.cluster import same_address
from tfexp.distributed.master import COLLECTED_AFTER
from tfexp.distributed.session_devices import renamed


@contextlib.contextmanager
def alone(count: int) -> Iterator[list[tf.train.Server]]:
    servers = [tf.train.Server.create_local_server() for _ in range(count)]
    try:
        yield servers
    finally:
        for server in servers:
            server.stop()


def config_of(*servers: tf.train.Server, job: str = "worker", **options: object) -> config_pb2.ConfigProto:
    tasks = {index: server.address for index, server in enumerate(servers)}
    cluster = cluster_pb2.ClusterDef(job=[cluster_pb2.JobDef(name=job, tasks=tasks)])
    return config_pb2.ConfigProto(cluster_def=cluster, **options)


def counter(task: int) -> tuple[tf.Variable, tf.Tensor]:
    with tf.device(f"/job:worker/task:{task}"):
        v = tf.Variable(1.0, name="v")
        return v, v.assign_add(2.0)


def without_guests(server: tf.train.Server) -> bool:
    """Whether they have gone, a moment after their sessions: nobody waits for servers to be told that these ended."""
    until = time.monotonic() + 10
    while server._guests._guests and time.monotonic() < until:
        threading.Event().wait(0.01)
    return not server._guests._guests


def test_steps_go_over_servers_that_know_only_themselves():
    with tf.Graph().as_default(), alone(2) as (first, second):
        v, add = counter(1)
        with tf.device("/job:worker/task:0"):
            doubled = add * 2.0
        for master in (first, second):
            with tf.Session(master.target, config=config_of(first, second)) as session:
                session.run(v.initializer)
                assert session.run([add, doubled])[0] == 3.0 and session.run(doubled) == 10.0
                names = {device.name for device in session.list_devices()}
                assert names == {f"/job:worker/replica:0/task:{task}/device:CPU:0" for task in (0, 1)}
        assert without_guests(first) and without_guests(second)


@pytest.mark.parametrize("task", [0, 1])
def test_each_session_has_variables_of_its_own(task: int):
    with tf.Graph().as_default(), alone(2) as (first, second):
        v, add = counter(task)
        one, other = (tf.Session(first.target, config=config_of(first, second)) for _ in range(2))
        one.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match=f"worker/replica:0/task:{task}"):
            other.run(v)
        other.run(v.initializer)
        assert (one.run(add), one.run(add), other.run(add)) == (3.0, 5.0, 3.0)
        other.close()
        assert one.run(v) == 5.0
        tf.Session.reset(first.target)
        with pytest.raises(tf.errors.AbortedError):
            one.run(v)


@pytest.mark.parametrize("task", [0, 1])
def test_sessions_that_share_have_the_servers_variables(task: int):
    with tf.Graph().as_default(), alone(2) as (first, second):
        v, add = counter(task)
        config = config_of(first, second)
        config.experimental.share_session_state_in_clusterspec_propagation = True
        with tf.Session(first.target, config=config) as one, tf.Session(first.target, config=config) as other:
            one.run(v.initializer)
            assert (one.run(add), other.run(add)) == (3.0, 5.0)
        with tf.Session(first.target, config=config) as later:
            assert later.run(v) == 5.0


def test_a_step_that_takes_too_long_is_cancelled_at_the_guest():
    with tf.Graph().as_default(), alone(2) as (first, second):
        with tf.device("/job:worker/task:1"):
            item = tf.queue.FIFOQueue(1, tf.float32).dequeue()
        with tf.Session(first.target, config=config_of(first, second)) as session:
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(item, options=tf.RunOptions(timeout_in_ms=50))
            assert session.run(tf.constant(1)) == 1


def test_a_guest_goes_when_its_session_was_collected():
    with tf.Graph().as_default(), alone(1) as (server,):
        v, _ = counter(0)
        first, second, later = (tf.Session(server.target, config=config_of(server)) for _ in range(3))
        first.run(v.initializer)
        (gone,) = server._guests._guests.values()
        second.run(v.initializer)
        gone.let_time_elapse(COLLECTED_AFTER + 1)
        later.run(v.initializer)
        assert gone not in server._guests._guests.values() and second.run(v) == later.run(v) == 1.0
        with pytest.raises(tf.errors.AbortedError):
            first.run(v)


def test_clusters_that_a_server_takes_no_session_for():
    with tf.Graph().as_default(), alone(2) as (first, second):
        x = tf.constant(1)
        for config, message in (
            (config_of(second), "is not included in the provided cluster_def"),
            (
                config_of(first, second, job="local"),
                "same names that were provided when the server booted.*Job: local, task ind",
            ),
        ):
            with (
                tf.Session(first.target, config=config) as session,
                pytest.raises(tf.errors.InvalidArgumentError, match=message),
            ):
                session.run(x)
        with tf.Session(first.target) as session:
            assert session.run(x) == 1


def test_a_server_without_devices_is_none():
    with pytest.raises(tf.errors.UnavailableError, match="/job:a/replica:0/task:0 has no devices"):
        renamed("1f", "/job:a/replica:0/task:0", m.Status(()))


def test_this_machine_has_several_names():
    assert same_address("localhost:1", "127.0.0.1:1") and same_address("a:1", "a:1")
    assert not same_address("localhost:1", "localhost:2") and not same_address("a:1", "b:1")
