"""How like itself a sequence is some steps later."""

import numpy as np
import pytest

import tfexp as tf

X = np.random.default_rng(3).normal(size=(2, 5, 3)).astype(np.float32)


def by_hand(x, lags, center, normalize):
    """Of the last axis."""
    w = x - x.mean(-1, keepdims=True) if center else x
    length = x.shape[-1]
    found = np.stack([(w[..., m:] * w[..., : length - m].conj()).mean(-1) for m in range(lags)], -1)
    return found / found[..., :1] if normalize else found


@pytest.mark.parametrize(
    ("axis", "max_lags", "center", "normalize"),
    [(-1, None, True, True), (1, 2, True, False), (0, None, False, True), (-2, 9, False, False)],
)
def test_it_is_the_mean_of_products(axis, max_lags, center, normalize):
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.contrib.distributions.auto_correlation(tf.constant(X), axis, max_lags, center, normalize)
        found = session.run(made)
    length = X.shape[axis]
    lags = length if max_lags is None else min(length, max_lags + 1)
    expected = np.moveaxis(by_hand(np.moveaxis(X, axis, -1), lags, center, normalize), -1, axis)
    assert made.shape == found.shape
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_complex_sequences_have_complex_ones():
    x = X[0] + 1j * X[1]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.contrib.distributions.auto_correlation(tf.constant(x, tf.complex64)))
    np.testing.assert_allclose(found, by_hand(x, 3, True, True), atol=1e-5)


def test_integers_are_refused():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="either float or complex dtype found"):
        tf.contrib.distributions.auto_correlation(tf.constant([1, 2]))
