"""Distributions rounded up to whole numbers against those that they are of."""

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

tfd = tf.contrib.distributions


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def test_whole_numbers_have_the_mass_before_them(session: tf.Session) -> None:
    normal = tfd.Normal(np.array([1.0, 2.0]), np.float64(3.0))
    one = tfd.QuantizedDistribution(normal, low=np.float64(-2), high=np.float64(4))
    assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([2], [])
    whole = np.arange(-2.0, 5.0).reshape(-1, 1) * np.ones(2)
    prob, logarithm, cdf = session.run([one.prob(whole), one.log_prob(whole), normal.cdf(whole)])
    wanted = np.diff(np.vstack([np.zeros(2), cdf[:-1], np.ones(2)]), axis=0)
    np.testing.assert_allclose(prob, wanted)
    np.testing.assert_allclose(logarithm, np.log(wanted))


def test_answers_of_tensorflow(session: tf.Session) -> None:
    one = tfd.QuantizedDistribution(tfd.Normal([1.0, 2.0], 3.0), low=-2.0, high=4.0)
    values = [[-3.0, -2.0], [3.0, 4.0], [5.0, 2.5]]
    questions = ("prob", "cdf", "log_cdf", "survival_function", "log_survival_function")
    found = session.run({question: getattr(one, question)(values) for question in questions})
    wanted = {
        "prob": [[0, 0.091211], [0.116949, 0.369441], [0, 0.130559]],
        "cdf": [[0, 0.091211], [0.747507, 1], [1, 0.5]],
        "log_cdf": [[-np.inf, -2.394577], [-0.291011, 0], [0, -0.693147]],
        "survival_function": [[1, 0.908789], [0.252493, 0], [0, 0.369441]],
        "log_survival_function": [[0, -0.095643], [-1.376374, -np.inf], [-np.inf, -0.995763]],
    }
    for question in questions:
        np.testing.assert_allclose(found[question], wanted[question], rtol=1e-5, atol=1e-6, err_msg=question)


def test_tails_keep_their_digits_and_their_gradients(session: tf.Session) -> None:
    at = tf.constant([-50.0, 0.0, 60.0])
    chance = tfd.QuantizedDistribution(tfd.Logistic(at, 1.0)).log_prob([0.0, 0.0, 0.0])
    values, slopes = session.run([chance, tf.gradients(chance, at)[0]])
    edge = np.log(np.expm1(1.0))
    np.testing.assert_allclose(values[[0, 2]], [-50 + edge, -60 + edge - 1], rtol=1e-5)
    np.testing.assert_allclose(slopes, [1.0, 0.5 - 1 / (1 + np.exp(-1.0)), -1.0], rtol=1e-5)


def test_samples_are_whole_and_within_the_limits(session: tf.Session) -> None:
    one = tfd.QuantizedDistribution(tfd.Normal([1.0, 2.0], 3.0), low=-2.0, high=4.0)
    drawn = session.run(one.sample(1000, seed=3))
    assert drawn.shape == (1000, 2) and set(np.unique(drawn)) == set(range(-2, 5))


def test_a_mixture_of_discretised_logistics(session: tf.Session) -> None:
    shifted = tfd.TransformedDistribution(
        tfd.Logistic([1.0, 2.0, 3.0], [1.0, 0.5, 2.0]), tfd.bijectors.AffineScalar(shift=-0.5)
    )
    mixture = tfd.MixtureSameFamily(tfd.Categorical(logits=[0.1, 0.2, 0.3]), tfd.QuantizedDistribution(shifted, 0.0, 255.0))
    assert abs(session.run(tf.reduce_sum(mixture.prob(tf.range(256.0)))) - 1) < 1e-5
    np.testing.assert_allclose(session.run(mixture.log_prob([0.0, 3.0])), [-1.55582, -1.888581], rtol=1e-5)


def test_what_is_validated(session: tf.Session) -> None:
    laplace = tfd.Laplace(0.0, 1.0)
    with pytest.raises(ValueError, match="same type"):
        tfd.QuantizedDistribution(laplace, low=np.float64(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-integer"):
        session.run(tfd.QuantizedDistribution(laplace, low=0.5, validate_args=True).low)
    with pytest.raises(tf.errors.InvalidArgumentError, match="strictly less"):
        session.run(tfd.QuantizedDistribution(laplace, 3.0, 1.0, validate_args=True).low)
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-integer"):
        session.run(tfd.QuantizedDistribution(laplace, 1.0, 3.0, validate_args=True).log_prob(1.5))


def test_a_stream_of_seeds_is_tensorflows() -> None:
    stream = tfd.SeedStream(3, "a")
    first, second = stream(), stream()
    assert str(first).startswith("138208414282120650357580348775406107950582777693464809493973")
    assert first != second and tfd.SeedStream(stream, "a")() == first
    assert tfd.SeedStream(None, "a")() is None and (stream.original_seed, stream.salt) == (3, "a")
