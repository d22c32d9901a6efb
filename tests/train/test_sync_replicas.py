"""`tf.train.SyncReplicasOptimizer`: means of gradients, tokens, stale gradients. Its graphs are compared in tests/golden.

One replica that makes all gradients of a step takes every token in turn, so that nothing depends on who is faster.
"""

import threading
from contextlib import contextmanager

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import running

RATE = 0.5


@contextmanager
def training(aggregate):
    """(session, train op) of a replica that makes `aggregate` gradients a step; the gradient of `w` [3] is fed to `x`."""
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        weights = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(weights * tf.placeholder(tf.float32, [3], name="x"))
        inner = tf.train.GradientDescentOptimizer(RATE)
        optimizer = tf.train.SyncReplicasOptimizer(inner, replicas_to_aggregate=aggregate, total_num_replicas=1)
        train = optimizer.minimize(loss, global_step=step)
        tf.assign(tf.local_variables()[0], 0, name="forget")
        hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=aggregate - 1)
        with tf.train.MonitoredTrainingSession(server.target, hooks=[hook]) as session:
            yield session, train
    server.stop()


def test_gradients_of_a_step_are_averaged():
    gradients = np.random.RandomState(3).randn(5, 2, 3).astype(np.float32)
    with training(2) as (session, train):
        tokens = [int(session.run(train, {"x:0": gradient})) for pair in gradients for gradient in pair]
        # Who hands in the last gradient of a step waits for the update, whose token says the next step.
        assert tokens == [(number + 1) // 2 for number in range(10)]
        step, weights = session.run(["global_step:0", "w:0"])
    assert step == 5
    np.testing.assert_allclose(weights, -RATE * gradients.mean(1).sum(0), rtol=1e-5)


def test_rows_of_gradients_are_averaged_each_by_itself():
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        table = tf.get_variable("table", [6, 2], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(tf.gather(table, tf.placeholder(tf.int32, [None], name="ids")))
        inner = tf.train.GradientDescentOptimizer(RATE)
        optimizer = tf.train.SyncReplicasOptimizer(inner, replicas_to_aggregate=2, total_num_replicas=1)
        train = optimizer.minimize(loss, global_step=step)
        hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=1)
        with tf.train.MonitoredTrainingSession(server.target, hooks=[hook]) as session:
            tokens = [int(session.run(train, {"ids:0": ids})) for ids in ([0, 2], [1, 3], [2], [5])]
            assert tokens == [0, 1, 1, 2]
            rows = session.run("table:0")
    server.stop()
    np.testing.assert_allclose(rows, [[-RATE] * 2, [-RATE] * 2, [-2 * RATE] * 2, [-RATE] * 2, [0, 0], [-RATE] * 2])


def test_stale_gradients_are_dropped():
    ones = {"x:0": [1.0, 1.0, 1.0]}
    with training(2) as (session, train):
        assert [session.run(train, ones) for _ in range(2)] == [0, 1]
        session.run("forget:0")  # what comes now is a gradient of step 0, and it is step 1
        session.run("sync_replicas/ResourceAccumulatorApplyGradient", {"x:0": [1000.0, 1000.0, 1000.0]})
        session.run("Assign")  # the replica catches up
        assert [session.run(train, ones) for _ in range(2)] == [1, 2]
        weights = session.run("w:0")
    np.testing.assert_allclose(weights, [-2 * RATE] * 3)


def test_closing_ends_the_updates():
    before = set(threading.enumerate())
    with training(1) as (session, train):
        session.run(train, {"x:0": [1.0, 1.0, 1.0]})
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("QueueRunnerThread"):
            thread.join(60)
            assert not thread.is_alive()


def test_senseless_use_is_refused():
    with tf.Graph().as_default():
        loss = tf.get_variable("w", []) * 2.0
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(RATE), 3, 2)
        with pytest.raises(ValueError, match="Global step is required to check staleness"):
            optimizer.minimize(loss)
        with pytest.raises(ValueError, match="Must supply at least one variable"):
            optimizer.apply_gradients([])
        with pytest.raises(ValueError, match="should be called before using the hook"):
            optimizer.make_session_run_hook(True).begin()
        assert optimizer.make_session_run_hook(True)._sync_optimizer is optimizer
        optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
        with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: 0 \(given\) vs 1 \(needed\)"):
            optimizer.get_init_tokens_op(0)


def replica(servers, index, aggregate=2):
    """A worker's graph, of two, with its optimizer: the gradient of `w` [3] is fed to `x`."""
    graph = tf.Graph()
    with graph.as_default(), tf.device(tf.train.replica_device_setter(1, worker_device=f"/job:worker/task:{index}")):
        step = tf.train.get_or_create_global_step()
        weights = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(weights * tf.placeholder(tf.float32, [3], name="x"))
        inner = tf.train.GradientDescentOptimizer(RATE)
        optimizer = tf.train.SyncReplicasOptimizer(inner, replicas_to_aggregate=aggregate, total_num_replicas=2)
        train = optimizer.minimize(loss, global_step=step)
    return graph, optimizer, train


def mine(index):
    return tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])


def at_once(work):
    """Call `work(index)` for both workers, each in a thread."""
    errors = []

    def run(index):
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[index]) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not errors, errors


def until_step(session, train, last):
    """Train until the global step; whoever is fast makes more of the gradients, which are all the same."""
    while session.run(train, {"x:0": [1.0, 2.0, 3.0]}) < last:
        pass


def test_two_workers_with_hooks():
    steps, weights = 20, {}
    with running(ps=1, worker=2) as servers:

        def work(index):
            graph, optimizer, train = replica(servers, index)
            with graph.as_default():
                hook = optimizer.make_session_run_hook(is_chief=index == 0, num_tokens=0)
                with tf.train.MonitoredTrainingSession(
                    servers[f"worker:{index}"].target, is_chief=index == 0, hooks=[hook], config=mine(index),
                    max_wait_secs=30,
                ) as session:  # fmt: skip
                    until_step(session, train, steps)
                    weights[index] = session.run("w:0")

        at_once(work)
    np.testing.assert_allclose(weights[0], np.array([1, 2, 3]) * -RATE * steps, rtol=1e-5)
    np.testing.assert_allclose(weights[1], weights[0])


def test_two_workers_with_supervisors():
    steps, weights, done = 20, {}, threading.Barrier(2)
    with running(ps=1, worker=2) as servers:

        def work(index):
            graph, optimizer, train = replica(servers, index)
            chief = index == 0
            with graph.as_default():
                tokens = optimizer.get_init_tokens_op(0)
                supervisor = tf.train.Supervisor(
                    is_chief=chief,
                    local_init_op=optimizer.chief_init_op if chief else optimizer.local_step_init_op,
                    ready_op=tf.report_uninitialized_variables(tf.global_variables()),
                    ready_for_local_init_op=optimizer.ready_for_local_init_op,
                    global_step=tf.train.get_global_step(),
                    summary_op=None,
                    saver=None,
                    recovery_wait_secs=0.05,
                )
            session = supervisor.prepare_or_wait_for_session(servers[f"worker:{index}"].target, config=mine(index))
            if chief:
                session.run(tokens)
                supervisor.start_queue_runners(session, [optimizer.get_chief_queue_runner()])
            until_step(session, train, steps)
            weights[index] = session.run("w:0")
            done.wait(30)
            supervisor.request_stop()  # first: the updates end with the session, which is no error then
            session.close()
            supervisor.stop()

        at_once(work)
    np.testing.assert_allclose(weights[0], np.array([1, 2, 3]) * -RATE * steps, rtol=1e-5)
