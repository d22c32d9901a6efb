"""K-means: how centers are chosen, and how they move."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.api.contrib import factorization

POINTS = np.random.default_rng(2).uniform(0, 10, (14, 3)).astype(np.float32)


class Running:
    """The graph of k-means in a session, with its centers chosen."""

    def __init__(self, session: tf.Session, *args, **settings):
        self.run = session.run
        self.all, self.nearest, self.distances, started, start, self.train = factorization.KMeans(
            *args, **settings
        ).training_graph()
        self.variables = {variable.op.name: variable for variable in tf.global_variables()}
        session.run(tf.global_variables_initializer())
        self.starts = 0
        while not session.run(started):
            session.run(start)
            self.starts += 1

    def centers(self) -> np.ndarray:
        return self.run(self.variables["clusters"])


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def moved(centers, counts, points):
    """One step of small batches."""
    centers, counts = centers.copy(), counts.copy()
    nearest = ((points[:, None] - centers) ** 2).sum(-1).argmin(1)
    for one in np.unique(nearest):
        own = points[nearest == one]
        counts[one] += len(own)
        centers[one] += (own.sum(0) - len(own) * centers[one]) / counts[one]
    return centers, counts


def test_small_batches_move_centers_by_their_counts(session):
    model = Running(session, tf.constant(POINTS), 3, POINTS[:3], use_mini_batch=True)
    centers, counts = POINTS[:3], np.ones(3, np.int64)
    for _ in range(3):
        session.run(model.train)
        centers, counts = moved(centers, counts, POINTS)
        np.testing.assert_allclose(model.centers(), centers, rtol=1e-5)
    assert session.run(model.variables["Variable"]).tolist() == counts.tolist()


def test_centers_wait_for_the_end_of_an_iteration(session):
    model = Running(session, tf.constant(POINTS), 3, POINTS[:3], use_mini_batch=True, mini_batch_steps_per_iteration=2)
    for _ in range(2):
        session.run(model.train)
        assert model.centers().tolist() == POINTS[:3].tolist()
    after_two = session.run(model.variables["clusters_updated"])
    session.run(model.train)
    assert model.centers().tolist() == after_two.tolist() != POINTS[:3].tolist()


def test_centers_are_chosen_batch_by_batch(session):
    model = Running(session, tf.constant(POINTS), 5, lambda parts, missing: parts[0][: tf.minimum(missing, 2)])
    assert model.starts == 3
    assert model.centers().tolist() == POINTS[[0, 1, 0, 1, 0]].tolist()


def test_fewer_points_than_centers_are_all_taken(session):
    model = Running(session, tf.constant(POINTS[:2]), 5)
    assert model.starts == 3
    assert model.centers()[:4].tolist() == POINTS[[0, 1, 0, 1]].tolist()


def test_chains_choose_points_far_from_each_other(session):
    model = Running(session, tf.constant(POINTS), 4, "kmc2", kmc2_chain_length=20, random_seed=3)
    places = [int(np.flatnonzero((center == POINTS).all(1))[0]) for center in model.centers()]
    assert (model.starts, places[0], len(set(places))) == (4, 0, 4)


def test_several_inputs_are_one(session):
    whole = Running(session, tf.constant(POINTS), 3, POINTS[:3])
    session.run(whole.train)
    with tf.Graph().as_default(), tf.Session() as other:
        parts = Running(other, [tf.constant(POINTS[:9]), tf.constant(POINTS[9:])], 3, POINTS[:3])
        other.run(parts.train)
        np.testing.assert_allclose(parts.centers(), whole.centers(), rtol=1e-5)
        nearest = np.concatenate(other.run(parts.nearest))
    assert nearest.tolist() == session.run(whole.nearest)[0].tolist()


def test_cosines_of_small_batches(session):
    model = Running(session, tf.constant(POINTS), 3, POINTS[:3], "cosine", use_mini_batch=True)
    unit = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    np.testing.assert_allclose(session.run(model.distances)[0], (1 - unit @ unit[:3].T).min(1), atol=1e-6)


def test_what_is_unknown_is_refused():
    with pytest.raises(ValueError, match="Unsupported distance metric 'taxi'"):
        factorization.KMeans(POINTS, 2, distance_metric="taxi")
    with pytest.raises(ValueError, match="Unsupported distance metric 'taxi'"):
        factorization.KMeansClustering(2, distance_metric="taxi")
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'best'"):
        factorization.KMeansClustering(2, initial_clusters="best")


def test_the_older_estimator_takes_features_by_name_and_gives_squares(tmp_path):
    model = factorization.KMeansClustering(2, str(tmp_path), POINTS[:2], use_mini_batch=False)
    features = {"b": POINTS[:, 1:], "a": POINTS[:, :1]}

    def input_fn():
        return tf.data.Dataset.from_tensors(features)

    model.train(input_fn)
    assert model.cluster_centers().shape == (2, 3)
    first = next(model.transform(input_fn))
    np.testing.assert_allclose(first, ((model.cluster_centers() - POINTS[0]) ** 2).sum(1), rtol=1e-4)


def test_training_goes_on_from_centers_that_took_all_of_the_input(tmp_path):
    """One batch per call: the first goes to the choice of centers, and they are kept though no step has come to its end."""
    model = tf.estimator.experimental.KMeans(2, str(tmp_path), use_mini_batch=False, seed=3)
    for steps in (1, 3):
        model.train(lambda: tf.train.limit_epochs(tf.constant(POINTS), 1))
        assert model.cluster_centers().shape == (2, 3)
        assert model.get_variable_value("global_step") == steps
