"""Batches of another shape, and distributions whose coordinates depend on each other."""

import numpy as np
import pytest

import tfexp as tf

tfd = tf.contrib.distributions
tfb = tfd.bijectors


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.mark.parametrize("shape", [[2, 3], [3, -1], [6]])
def test_batches_have_another_shape(shape):
    means = np.arange(12, dtype=np.float32).reshape(6, 2)
    for base in (tfd.Normal(means[:, 0], 2.0), tfd.MultivariateNormalDiag(means, np.ones([6, 2], np.float32))):
        made = tfd.BatchReshape(base, shape)
        batch = np.zeros(6).reshape(shape).shape
        event = tuple(base.event_shape.as_list())
        assert made.batch_shape.is_compatible_with(batch) and run(made.batch_shape_tensor()).tolist() == list(batch)
        assert made.event_shape == base.event_shape and made.distribution is base
        x = np.random.RandomState(0).randn(5, 6, *event).astype(np.float32)
        asked = [base.log_prob(x), base.prob(x), base.mean(), base.stddev(), base.variance(), base.mode(), base.entropy()]
        y = x.reshape(5, *batch, *event)
        answers = [made.log_prob(y), made.prob(y), made.mean(), made.stddev(), made.variance(), made.mode(), made.entropy()]
        if event:
            asked, answers = [*asked, base.covariance()], [*answers, made.covariance()]
        else:
            asked = [*asked, base.cdf(x), base.log_survival_function(x)]
            answers = [*answers, made.cdf(y), made.log_survival_function(y)]
        wanted, found = run([[*asked, base.sample(5, seed=1)], [*answers, made.sample(5, seed=1)]])
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_allclose(other.ravel(), one.ravel(), rtol=1e-6)
        assert found[0].shape == (5, *batch) and found[-1].shape == y.shape and found[2].shape == (*batch, *event)


def test_a_batch_may_be_known_in_the_run_only():
    shape = tf.placeholder(tf.int32, [2])
    made = tfd.BatchReshape(tfd.Normal(np.zeros(6, np.float32), 1.0), shape)
    assert made.batch_shape.as_list() == [None, None]
    dims, found = run([made.batch_shape_tensor(), made.log_prob(np.zeros([3, 2], np.float32))], {shape: [3, -1]})
    assert dims.tolist() == [3, 2] and found.shape == (3, 2)


def test_what_is_no_shape_of_the_batch_is_refused():
    base = tfd.Normal(np.zeros(6, np.float32), 1.0)
    for shape, told in ((3, "must be a vector"), ([4], "must match"), ([0, 6], "must be >=-1")):
        with pytest.raises(ValueError, match=told):
            tfd.BatchReshape(base, shape)
    made = tfd.BatchReshape(base, [2, 3])
    for value in (1.0, np.zeros([3]), np.zeros([4, 2])):
        with pytest.raises(NotImplementedError, match="Broadcasting is not supported"):
            made.log_prob(value)
    value = tf.placeholder(tf.float32, [None, None])
    checked = tfd.BatchReshape(base, [2, 3], validate_args=True).log_prob(value)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Broadcasting is not supported"):
        run(checked, {value: np.zeros([3, 2])})


def test_coordinates_depend_on_those_before():
    before = np.tril(np.full([3, 3], 0.5, np.float32), -1)

    def given(value=(0.0, 0.0, 0.0)):
        return tfd.Independent(tfd.Normal(tf.tensordot(value, before.T, 1), 1e-4), 1)

    made = tfd.Autoregressive(given, np.zeros(3, np.float32))
    assert (made.num_steps, made.event_shape.as_list(), made.distribution_fn) == (3, [3], given)
    likely, unlikely, drawn = run([made.log_prob([1.0, 0.5, 0.75]), given([1.0, 0.5, 0.75]).log_prob([1.0, 0.5, 0.75]),
                                   made.sample(5, seed=1)])  # fmt: skip
    assert likely == unlikely and drawn.shape == (5, 3)
    np.testing.assert_allclose(drawn[:, 1], drawn[:, 0] / 2, atol=1e-3)
    assert tfd.Autoregressive(given, num_steps=2).sample0 is None
    with pytest.raises(ValueError, match="at least 1"):
        tfd.Autoregressive(given, num_steps=0)


def test_batch_normalisation_is_a_step_of_a_flow():
    with tf.Graph().as_default():
        x = np.random.RandomState(0).randn(8, 3).astype(np.float32) * 3 + 1
        training = tfb.BatchNormalization()
        found, determinant = run([training.inverse(tf.constant(x)), training.inverse_log_det_jacobian(tf.constant(x), 1)])
        np.testing.assert_allclose(found, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(determinant, -0.5 * np.log(x.var(0) + 1e-3).sum(), rtol=1e-4)
        assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2

        layer = tf.layers.BatchNormalization(1, gamma_initializer=tf.constant_initializer(2.0), name="norm")
        fixed = tfb.BatchNormalization(layer, training=False)
        y = tf.constant(x.reshape(2, 3, 4))
        assert np.allclose(run(fixed.forward(tf.identity(fixed.inverse(y)))), run(y), rtol=1e-5)
        forward, back = run([fixed.forward_log_det_jacobian(y, 1), fixed.inverse_log_det_jacobian(y, 1)])
        np.testing.assert_allclose([-forward, back], np.full(2, 3 * np.log(2.0) - 1.5 * np.log(1.001)), rtol=1e-5)
        for given in (3, tf.layers.BatchNormalization(renorm=True), tf.layers.BatchNormalization(virtual_batch_size=2)):
            with pytest.raises(ValueError, match="BatchNorm"):
                tfb.BatchNormalization(given)
        with pytest.raises(ValueError, match="shape known"):
            tfb.BatchNormalization().forward(tf.placeholder(tf.float32, [None, 3]))
