"""Elastic averaging: what a worker's variables and the centre do to each other."""

import numpy as np
import pytest

import tfexp as tf
from tests.runtime.asleep import soon

opt = tf.contrib.opt


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def model(**options):
    """(the getter, the optimizer, its op of a step); the loss is x + 2 y."""
    getter = opt.ElasticAverageCustomGetter("/cpu:0")
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("", custom_getter=getter):
        x = tf.get_variable("x", initializer=5.0)
        y = tf.get_variable("y", initializer=[1.0, 3.0])
        tf.get_variable("fixed", initializer=7.0, trainable=False)
    given = {"num_worker": 2, "ea_custom_getter": getter, "communication_period": 2, "rho": 0.0, **options}
    optimizer = opt.ElasticAverageOptimizer(tf.train.MomentumOptimizer(0.5, 0.0), **given)
    return getter, optimizer, optimizer.minimize(x + 2.0 * tf.reduce_sum(y), step)


def test_where_variables_are():
    model()
    assert {v.op.name for v in tf.global_variables()} == {
        *("global_step", "fixed", "global_center_variable/x", "global_center_variable/y")
    }
    assert {v.op.name for v in tf.local_variables()} == {
        *("x", "y", "local_center_variable/x", "local_center_variable/y", "local_step", "x/Momentum", "y/Momentum")
    }
    assert [v.op.name for v in tf.trainable_variables()] == ["x", "y"]


def test_worker_and_centre_draw_each_other():
    getter, optimizer, train = model(moving_rate=0.25)
    x = tf.trainable_variables()[0]
    hook = optimizer.make_session_run_hook(True, 0)
    hook.begin()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(getter.centre(x).assign(9.0))
        hook.after_create_session(session, None)
        assert session.run([x, getter.copy(x)]) == [9.0, 9.0]
        session.run(train)
        assert session.run([x, getter.centre(x), tf.train.get_global_step()]) == [8.5, 9.0, 0]
        session.run(train)  # x = 8: a quarter of the way to the centre, and the centre to it
        assert session.run([x, getter.centre(x), getter.copy(x), tf.train.get_global_step()]) == [8.25, 8.75, 9.0, 1]


def test_the_loss_has_the_pull_of_the_centre():
    getter, _, train = model(rho=2.0, moving_rate=0.0)
    x, y = tf.trainable_variables()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([getter.copy(x).assign(4.0), getter.copy(y).assign([1.0, 2.0])])
        session.run(train)
        assert session.run(x) == 5.0 - 0.5 * (1 + 2 * 1) and session.run(y).tolist() == [0.0, 3.0 - 0.5 * (2 + 2 * 1)]


def test_by_default_rates_follow_from_the_period():
    _, optimizer, _ = model(rho=None)
    assert optimizer._moving_rate == pytest.approx(0.9 / 2 / 2) and optimizer._rho == pytest.approx(0.225 / 0.5)


def test_workers_start_together():
    getter, optimizer, _ = model(synchronous=True)
    x = tf.trainable_variables()[0]
    starts = [optimizer.get_init_op(i) for i in range(2)]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(getter.centre(x).assign(3.0))
        with pytest.raises(tf.errors.DeadlineExceededError):
            soon(session, starts[0])
        session.run(starts[1])  # the first worker's token is there
        session.run(starts)
        assert session.run(x) == 3.0


def test_the_centre_is_saved_under_the_variables_names(tmp_path):
    getter, optimizer, _ = model()
    saver = optimizer.swapping_saver()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(getter.centre(tf.trainable_variables()[0]).assign(9.0))
        reader = tf.train.load_checkpoint(saver.save(session, str(tmp_path / "model")))
    assert set(reader.get_variable_to_shape_map()) == {"global_step", "fixed", "x", "y"}
    assert reader.get_tensor("x") == 9.0 and np.array_equal(reader.get_tensor("y"), [1.0, 3.0])


def test_what_is_refused():
    getter, optimizer, _ = model()
    other = tf.Variable(1.0, name="other")
    with pytest.raises(KeyError, match="other:0 was not made with the ElasticAverageCustomGetter"):
        optimizer.compute_gradients(other * 2.0, [other])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="no trainable variables"):
        optimizer.get_init_op(0)
    assert getter is optimizer._getter
