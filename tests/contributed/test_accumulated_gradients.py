"""Accumulated gradient normalization: what a worker's variables and the centre do; values that TensorFlow 1.15 gives."""

import numpy as np
import pytest

import tfexp as tf

opt = tf.contrib.opt


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def model(optimizer):
    """(what is to be told of: x, y, the centre's x, the step; the optimizer; its op of a step)."""
    getter = opt.AGNCustomGetter("/cpu:0")
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("", custom_getter=getter):
        x, y = tf.get_variable("x", initializer=5.0), tf.get_variable("y", initializer=[1.0, 3.0])
    made = opt.AGNOptimizer(optimizer, 1, getter, communication_period=2)
    return [x, y, getter.centre(x), step], made, made.minimize(x * x + tf.reduce_sum(y**3), step)


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        (
            lambda: tf.train.GradientDescentOptimizer(0.1),
            [[4.0, 0.7, 0.3, 5.0, 0], [4.1, 0.7765, 1.6365, 4.1, 1], [3.28, 0.5956, 0.8331, 4.1, 1]],
        ),
        (
            lambda: tf.train.MomentumOptimizer(0.01, 0.9),
            [[4.9, 0.97, 2.73, 5.0, 0], [4.901, 0.9709, 2.7532, 4.901, 1], [4.6338, 0.8929, 2.1059, 4.901, 1]],
        ),
        (
            lambda: tf.train.AdamOptimizer(0.1),
            [[4.9, 0.9, 2.9, 5.0, 0], [4.9361, 0.9361, 2.9361, 4.9361, 1], [4.8452, 0.8459, 2.8453, 4.9361, 1]],
        ),
    ],
)
def test_the_centre_takes_the_mean_of_a_period(optimizer, expected):
    told, made, train = model(optimizer())
    hook = made.make_session_run_hook(True, 0)
    hook.begin()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        hook.after_create_session(session, None)
        for row in expected:
            session.run(train)
            np.testing.assert_allclose(np.concatenate([np.ravel(v) for v in session.run(told)]), row, atol=1e-4)


def test_where_variables_are():
    model(tf.train.MomentumOptimizer(0.1, 0.9))
    assert {v.op.name for v in tf.global_variables()} == {
        *("global_step", "global_center_variable/x", "global_center_variable/y"),
        *("global_center_variable/x/Momentum", "global_center_variable/y/Momentum"),
    }
    assert {v.op.name for v in tf.local_variables()} == {
        *("x", "y", "grad_variable/x", "grad_variable/y", "local_step", "x/Momentum", "y/Momentum")
    }


def test_what_has_no_variables_cannot_start():
    made = opt.AGNOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, opt.AGNCustomGetter("/cpu:0"))
    with pytest.raises(ValueError, match="no trainable variables"):
        made.get_init_op(0)
