"""tf.contrib.mixed_precision: how loss scales move, and what a step does then."""

import numpy as np
import pytest

import tfexp as tf

mixed = tf.contrib.mixed_precision


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_scale_that_follows_the_gradients():
    manager = mixed.ExponentialUpdateLossScaleManager(8, 2)
    x = tf.get_variable("x", initializer=2.0)
    factor = tf.placeholder(tf.float32, [])
    optimizer = mixed.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    step = optimizer.minimize(x * x * factor, global_step=tf.train.create_global_step())
    assert [v.op.name for v in tf.global_variables()][:3] == ["loss_scale", "good_steps", "bad_steps"]
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (1, 1, 1, np.inf, 1, np.inf, np.nan, 1):
            session.run(step, {factor: value})
            seen.append([float(v) for v in session.run([manager.get_loss_scale(), x, tf.train.get_global_step()])])
    scales, values, steps = zip(*seen, strict=True)
    np.testing.assert_allclose(scales, [8, 16, 16, 16, 16, 12.8, 12.8, 12.8], rtol=1e-6)
    np.testing.assert_allclose(values, [2 * 0.8**n for n in (1, 2, 3, 3, 4, 4, 4, 5)], rtol=1e-5)
    assert steps == (1, 2, 3, 3, 4, 4, 4, 5)


def test_gradients_are_those_of_the_loss_itself():
    table = tf.get_variable("table", initializer=tf.constant([[1.0], [2.0]]))
    unused = tf.get_variable("unused", initializer=1.0)
    optimizer = mixed.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), mixed.FixedLossScaleManager(64))
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1]) ** 2)
    (slices, _), (none, _) = optimizer.compute_gradients(loss, [table, unused])
    assert isinstance(slices, tf.IndexedSlices) and none is None
    update = optimizer.apply_gradients([(slices, table)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(slices.values), [[4.0], [4.0]])
        session.run(update)
        np.testing.assert_allclose(session.run(table), [[1.0], [-6.0]])


def test_what_is_refused():
    with pytest.raises(ValueError, match="loss scale must be at least 1"):
        mixed.FixedLossScaleManager(0.5)
    with pytest.raises(ValueError, match="must be an instance of Optimizer"):
        mixed.LossScaleOptimizer("Adam", mixed.FixedLossScaleManager(2))
