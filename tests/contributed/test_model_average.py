"""Workers that take the mean of their variables."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import tfexp as tf

opt = tf.contrib.opt


def worker(index, workers, target, rate, interval=2, steps=6):
    """A worker in a graph of its own, which takes its variable down by `rate` a step; its variable after each step."""
    with tf.Graph().as_default():
        getter = opt.ModelAverageCustomGetter(f"/job:worker/task:{index}")
        with tf.device(tf.train.replica_device_setter(1, worker_device=f"/job:worker/task:{index}")):
            step = tf.train.get_or_create_global_step()
            with tf.variable_scope("", custom_getter=getter):
                x = tf.get_variable("x", initializer=10.0)
            optimizer = opt.ModelAverageOptimizer(
                tf.train.MomentumOptimizer(rate, 0.0), workers, index == 0, getter, interval
            )
            train = optimizer.minimize(x, step)
        hook = optimizer.make_session_run_hook()
        hook.begin()
        made = tf.report_uninitialized_variables(tf.global_variables())
        seen = []
        with tf.Session(target, config=tf.ConfigProto(operation_timeout_in_ms=10000)) as session:
            if index == 0:
                session.run(tf.global_variables_initializer())
            while len(session.run(made)):
                pass
            hook.after_create_session(session, None)
            for _ in range(steps):
                session.run(train)
                seen.append(float(session.run(x)))
            return seen, float(session.run(getter.centre(x))), int(session.run(step))


def test_two_workers_go_on_from_their_mean():
    workers, servers = tf.test.create_local_cluster(2, 1)
    with ThreadPoolExecutor(2) as pool:
        working = [pool.submit(worker, i, 2, workers[i].target, (1.0, 3.0)[i]) for i in range(2)]
        results = [one.result(30) for one in working]
    # Two steps of 1 and of 3: the mean falls by 4 each time.
    assert results[0][0] == [9.0, 6.0, 5.0, 2.0, 1.0, -2.0] and results[1][0] == [7.0, 6.0, 3.0, 2.0, -1.0, -2.0]
    assert [result[1:] for result in results] == [(-2.0, 3)] * 2
    for server in (*workers, *servers):
        server.stop()


def test_slots_are_the_workers_and_a_step_is_needed():
    with tf.Graph().as_default():
        getter = opt.ModelAverageCustomGetter("/cpu:0")
        with tf.variable_scope("", custom_getter=getter):
            x = tf.get_variable("x", initializer=1.0)
        optimizer = opt.ModelAverageOptimizer(tf.train.AdamOptimizer(), 1, True, getter)
        with pytest.raises(ValueError, match="Global step is required"):
            optimizer.minimize(x * x)
        with pytest.raises(ValueError, match="at least one variable"):
            optimizer.apply_gradients([], tf.train.get_or_create_global_step())
        optimizer.minimize(x * x, tf.train.get_or_create_global_step())
        assert {v.op.name for v in tf.global_variables()} == {"global_center_variable/x", "global_step"}
        assert {"x", "local_step", "x/Adam", "x/Adam_1", "beta1_power"} <= {v.op.name for v in tf.local_variables()}
    with tf.Graph().as_default(), pytest.raises(ValueError, match="no trainable variables"):
        optimizer.get_init_op()
