"""Steps scaled by the covariance of the last gradients: by NumPy, with the root of the whole matrix."""

import numpy as np
import pytest

import tfexp as tf

WEIGHTS = np.float64([[1, 2], [3, -4], [0.5, 1]])
BIAS = np.float64([0.5, -1])
X = np.float64([[1, 2, 3], [0, 1, -1], [2, 2, 0.5], [1, -3, 1]])


def slopes(values):
    bias, weights = values[:2], values[2:].reshape(3, 2)
    slope = 2 * (X @ weights + bias - 1)
    return np.concatenate([slope.sum(0), (X.T @ slope).ravel()])


def by_numpy(steps, rate, beta, window, eps):
    values, moment = np.concatenate([BIAS, WEIGHTS.ravel()]).astype(float), np.zeros(8)
    buffer = np.zeros([window, 8])
    for step in range(steps):
        moment = beta * moment + (1 - beta) * slopes(values)
        buffer[step % window] = moment
        moments = buffer.T / np.sqrt(min(step + 1, window))
        squares, vectors = np.linalg.eigh(moments.T @ moments + 1e-6 * np.eye(window))
        seen, roots = vectors.T @ moments.T @ moment, np.sqrt(squares)
        move = moments @ vectors @ (seen / (roots + 1e-2) ** 3)
        if roots.min() > eps:
            move += (moment - moments @ vectors @ (seen / squares)) / roots.min()
        values = values - rate * move
    return values, moment


@pytest.mark.parametrize("behind_handles", [False, True])
@pytest.mark.parametrize(("window", "eps"), [(4, 10.0), (2, 1e-2)])
def test_steps_are_by_the_root_of_the_moments_covariance(window, eps, behind_handles):
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.get_variable("w", initializer=WEIGHTS, use_resource=behind_handles)
        bias = tf.get_variable("b", initializer=BIAS, use_resource=behind_handles)
        loss = tf.reduce_sum(tf.square(tf.matmul(X, weights) + bias - 1))
        optimizer = tf.contrib.opt.GGTOptimizer(0.01, 0.5, window=window, eps=eps)
        train = optimizer.minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(train)
        kept = {v.op.name: session.run(v) for v in optimizer.variables()}
        found = np.concatenate([session.run(bias), session.run(weights).ravel()])
    expected, moment = by_numpy(4, 0.01, 0.5, window, eps)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(kept["moment1"], moment, rtol=1e-5)
    assert kept["global_step"] == 4
    assert {name: value.shape for name, value in kept.items()} == {
        "flat_grad": (8,),
        "global_step": (),
        "grad_buffer": (window, 8),
        "moment1": (8,),
    }


def test_sparse_gradients_are_refused():
    with tf.Graph().as_default():
        loss = tf.reduce_sum(tf.gather(tf.get_variable("v", [3, 2]), [0]))
        with pytest.raises(NotImplementedError, match="Sparse gradient updates are not supported"):
            tf.contrib.opt.GGTOptimizer().minimize(loss)
