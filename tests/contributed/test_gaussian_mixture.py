"""Mixtures of Gaussians: expectation and maximization, by NumPy, and an estimator of them."""

import numpy as np
import pytest

import tfexp as tf

factorization = tf.contrib.factorization

pytestmark = pytest.mark.usefixtures("quiet")

random = np.random.default_rng(3)
CENTERS = np.float32([[0, 0, 0], [20, 4, -12], [-16, 24, 8]])
POINTS = np.concatenate([random.normal(size=(7, 3)) * [1, 0.5, 2] + center for center in CENTERS]).astype(np.float32)
FIRST = POINTS[[0, 8, 15]]


def log_joint(points, weights, means, covariances):
    difference = points[:, None] - means
    distances = np.einsum("nkd,kde,nke->nk", difference, np.linalg.inv(covariances), difference)
    logarithms = np.log(np.linalg.det(covariances)) + points.shape[1] * np.log(2 * np.pi)
    return np.log(weights) - 0.5 * (distances + logarithms)


def fitted(points, means, steps, is_full=True):
    """(the log-likelihood of each point, the weights, means and covariances) after so many steps."""
    least = 1e-3 * np.eye(points.shape[1])
    keep = 1 if is_full else np.eye(points.shape[1])
    weights = np.full(len(means), 1 / len(means))
    covariances = np.stack([np.cov(points.T) * keep + least] * len(means))

    def joint():
        return log_joint(points, weights, means, covariances + least)

    for _ in range(steps):
        members = np.exp(joint() - np.logaddexp.reduce(joint(), axis=1, keepdims=True))
        sizes = members.sum(0)
        weights, means = sizes / sizes.sum(), members.T @ points / sizes[:, None]
        seconds = np.einsum("nk,nd,ne->kde", members, points, points) / sizes[:, None, None]
        covariances = (seconds - means[:, :, None] * means[:, None]) * keep + least
    return np.logaddexp.reduce(joint(), axis=1, keepdims=True), weights, means, covariances


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_steps_are_those_of_expectation_and_maximization(covariance_type):
    with tf.Graph().as_default(), tf.Session() as session:
        made = factorization.GmmAlgorithm([tf.constant(POINTS)], 3, FIRST, covariance_type=covariance_type)
        session.run(tf.global_variables_initializer())
        assert not session.run(made.is_initialized())
        session.run(made.init_ops())
        assert session.run(made.is_initialized())
        for _ in range(3):
            session.run(made.training_ops())
        session.run(made.init_ops())  # changes nothing by now
        found = session.run([made.scores(), made.alphas(), made.clusters()[:, 0], made.covariances()])
        total = session.run(made.log_likelihood_op())
        assigned = session.run(made.assignments()[0])
    expected = fitted(POINTS, FIRST, 3, covariance_type == "full")
    for one, by_numpy in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(one, by_numpy, rtol=1e-3, atol=1e-3)
    variances = expected[3] if covariance_type == "full" else np.diagonal(expected[3], axis1=1, axis2=2)
    np.testing.assert_allclose(found[3], variances, rtol=1e-3, atol=1e-3)
    assert total == pytest.approx(np.logaddexp.reduce(expected[0], axis=None), rel=1e-4)
    assert assigned.tolist() == [0] * 7 + [1] * 7 + [2] * 7


def test_parts_of_the_data_count_together():
    with tf.Graph().as_default(), tf.Session() as session:
        parts = [tf.constant(POINTS), tf.constant(POINTS[:5])]
        _, scores, [assignments], train, start, _ = factorization.gmm(parts, FIRST, 3, 0, params="wm")
        clusters = tf.global_variables()[0]
        session.run(tf.global_variables_initializer())
        session.run(start)
        session.run(train)
        joint = log_joint(
            np.concatenate([POINTS, POINTS[:5]]), 1 / 3, FIRST, np.stack([np.cov(POINTS.T) + 2e-3 * np.eye(3)] * 3)
        )
        members = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
        means = members.T @ np.concatenate([POINTS, POINTS[:5]]) / members.sum(0)[:, None]
        np.testing.assert_allclose(session.run(clusters)[:, 0], means, rtol=1e-3, atol=1e-4)
        assert session.run(scores).shape == (26, 1)
        assert [len(one) for one in session.run(assignments)] == [21, 5]


def test_first_clusters_are_points():
    with tf.Graph().as_default(), tf.Session() as session:
        made = factorization.GmmAlgorithm([tf.constant(POINTS)], 4, random_seed=5)
        session.run(tf.global_variables_initializer())
        session.run(made.init_ops())
        means = session.run(made.clusters())
        assert means.shape == (4, 1, 3)
        assert all((mean == POINTS).all(1).any() for mean in means)
        with pytest.raises(ValueError, match="Invalid covariance type: round"):
            factorization.GmmAlgorithm([tf.constant(POINTS)], 2, covariance_type="round")


def test_an_estimator_finds_clusters(tmp_path):
    def data():
        return {"a": tf.constant(POINTS[:, :1]), "b": tf.constant(POINTS[:, 1:])}, None

    model = factorization.GMM(3, str(tmp_path), initial_clusters=FIRST)
    model.fit(input_fn=data, steps=3)
    scores, weights, means, covariances = fitted(POINTS, FIRST, 3)
    np.testing.assert_allclose(model.weights(), weights, rtol=1e-3)
    np.testing.assert_allclose(model.clusters(), means, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(model.covariances(), covariances, rtol=1e-3, atol=1e-3)
    assert model.score(data, steps=1) == pytest.approx(np.logaddexp.reduce(scores, axis=None), rel=1e-4)
    found = model.predict_assignments(data)
    assert [next(found) for _ in range(21)] == [0] * 7 + [1] * 7 + [2] * 7


def test_clusters_are_found_without_labels(tmp_path):
    with pytest.raises(ValueError, match="without labels"):
        factorization.GMM(2, str(tmp_path)).fit(POINTS, np.zeros(21), steps=1)
