"""`tf.train.SyncReplicasOptimizer`: means of gradients, tokens, stale gradients. Its graphs are compared in tests/golden.

One replica that makes all gradients of a step takes every token in turn, so that nothing depends on who is faster.
"""

import threading
from contextlib import contextmanager

import numpy as np
import pytest

import tfexp as tf

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
            thread.join(10)
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
        optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
        with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: 0 \(given\) vs 1 \(needed\)"):
            optimizer.get_init_tokens_op(0)
