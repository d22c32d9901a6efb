"""`tf.losses` and weights that broadcast."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops import losses

X = np.float32([[-1.5, 0, 2], [3, -0.3, 7]])
Y = np.float32([[0.5, 1, 0], [1, 0, 3]])
W = np.float32([[1], [0]])
UNIT = np.float32([[1, 0, 0], [0, 0, 1]])


def log_softmax(x):
    return np.log(np.exp(x) / np.exp(x).sum(-1, keepdims=True))


def sigmoid_entropy(x, z):
    return np.maximum(x, 0) - x * z + np.log1p(np.exp(-np.abs(x)))


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [
        (lambda: tf.losses.mean_squared_error(Y, X), ((X - Y) ** 2).mean()),
        (lambda: tf.losses.mean_squared_error(Y, X, weights=W), ((X - Y)[0] ** 2).mean()),
        (lambda: tf.losses.absolute_difference(Y, X), np.abs(X - Y).mean()),
        (
            lambda: tf.losses.huber_loss(Y, X, delta=1.5),
            np.where(np.abs(X - Y) < 1.5, (X - Y) ** 2 / 2, 1.5 * (np.abs(X - Y) - 0.75)).mean(),
        ),
        (lambda: tf.losses.hinge_loss(UNIT, X), np.maximum(0, 1 - (2 * UNIT - 1) * X).mean()),
        (
            lambda: tf.losses.log_loss(UNIT, np.float32([[0.7, 0.2, 0.1]] * 2)),
            -np.mean([np.log([0.7, 0.8, 0.9]), np.log([0.3, 0.8, 0.1])]),
        ),
        (lambda: tf.losses.cosine_distance(UNIT, X / 7, axis=1), 1 - np.mean([-1.5 / 7, 1])),
        (lambda: tf.losses.sigmoid_cross_entropy(UNIT, X), sigmoid_entropy(X, UNIT).mean()),
        (
            lambda: tf.losses.sigmoid_cross_entropy(UNIT, X, label_smoothing=0.2),
            sigmoid_entropy(X, 0.8 * UNIT + 0.1).mean(),
        ),
        (lambda: tf.losses.softmax_cross_entropy(UNIT, X), -(UNIT * log_softmax(X)).sum(1).mean()),
        (
            lambda: tf.losses.softmax_cross_entropy(UNIT, X, label_smoothing=0.3),
            -((0.7 * UNIT + 0.1) * log_softmax(X)).sum(1).mean(),
        ),
        (lambda: tf.losses.sparse_softmax_cross_entropy([0, 2], X), -(UNIT * log_softmax(X)).sum(1).mean()),
        (
            lambda: tf.losses.sparse_softmax_cross_entropy([[0], [2]], X, weights=W),
            -(UNIT * log_softmax(X)).sum(1)[0],
        ),
        (
            lambda: tf.losses.mean_pairwise_squared_error(Y, X),
            np.sum([np.mean([(a - b) ** 2 for i, a in enumerate(e) for j, b in enumerate(e) if i != j]) for e in X - Y]),
        ),
    ],
)
def test_losses(loss, wanted) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tensor = loss()
        assert tensor.shape.as_list() == []
        assert tf.losses.get_losses() == [tensor]
        np.testing.assert_allclose(session.run(tensor), wanted, rtol=1e-5)


def test_reductions() -> None:
    losses, weights = np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[2], [0]])
    wanted = {
        "none": losses * weights,
        "weighted_sum": 12,
        "weighted_sum_over_batch_size": 2,
        "weighted_mean": 2,
        "weighted_sum_by_nonzero_weights": 4,
    }
    with tf.Graph().as_default(), tf.Session() as session:
        for reduction, value in wanted.items():
            actual = tf.losses.compute_weighted_loss(losses, weights, reduction=reduction, loss_collection=None)
            np.testing.assert_allclose(session.run(actual), value)
        nothing = tf.losses.compute_weighted_loss(losses, 0.0)
        assert session.run(nothing) == 0
        assert tf.losses.get_losses() == [nothing]
        with pytest.raises(ValueError, match="Invalid Reduction Key sum"):
            tf.losses.compute_weighted_loss(losses, reduction="sum")


def test_totals() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="at least one Tensor"):
            tf.losses.get_total_loss()
        assert session.run(tf.losses.get_regularization_loss()) == 0
        with tf.name_scope("part"):
            tf.losses.mean_squared_error([1.0], [3.0])
        tf.losses.add_loss(tf.constant(5.0))
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(0.5))
        totals = [
            tf.losses.get_total_loss(),
            tf.losses.get_total_loss(add_regularization_losses=False),
            tf.losses.get_regularization_loss(),
        ]
        assert session.run(totals) == [9.5, 9, 0.5]
        assert len(tf.losses.get_losses("part")) == 1


def test_weights_have_to_broadcast() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match=r"weights can not be broadcast to values. values.rank=2. weights.rank=1"):
            tf.losses.mean_squared_error(Y, X, weights=[1.0, 2.0])
        with pytest.raises(ValueError, match="Mismatch at dim 1"):
            tf.losses.mean_squared_error(Y, X, weights=np.ones((2, 2), np.float32))
        weights = tf.placeholder(tf.float32)
        loss = tf.losses.mean_squared_error(Y, X, weights=weights)
        for good in (2.0, W, np.ones((2, 3))):
            session.run(loss, {weights: good})
        for bad in ([1.0, 2.0], np.ones((2, 2))):
            with pytest.raises(InvalidArgumentError, match="weights can not be broadcast to values"):
                session.run(loss, {weights: bad})


def test_misuse() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="labels must not be None"):
            tf.losses.mean_squared_error(None, X)
        with pytest.raises(ValueError, match="incompatible"):
            tf.losses.mean_squared_error(Y, X[:, :2])
        with pytest.raises(ValueError, match="You must specify 'axis'"):
            tf.losses.cosine_distance(Y, X)


def test_dimensions_that_are_expected_to_differ() -> None:
    with tf.Graph().as_default():
        squeeze = losses.without_last_ones
        labels, predictions = squeeze(tf.zeros([3, 1]), tf.zeros([3, 4]), expected_rank_diff=1, name="fit")
        assert labels.shape.as_list() == [3] and labels.op.name == "fit/Squeeze" and predictions.shape.as_list() == [3, 4]
        with pytest.raises(ValueError, match="an not squeeze dim"):
            squeeze(tf.zeros([3]), tf.zeros([3, 4]))
