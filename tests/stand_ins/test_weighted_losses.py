"""`tensorflow.python.ops.losses.util`: ranks of predictions, labels and weights, losses times weights, replicas."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for
from tfexp.stand_ins.weighted_losses import (
    check_per_example_loss_rank,
    scale_loss_for_distribution,
    scale_losses_by_sample_weight,
    squeeze_or_expand_dimensions,
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


SHAPES = [  # predictions, labels, weights; what becomes of them where the ranks are known, and of the weights otherwise
    ((3, 1), (3,), (3, 1), [(3,), (3,), (3, 1)], (3,)),
    ((3, 1), (3,), (3,), [(3,), (3,), (3, 1)], (3,)),
    ((3,), (3, 1), (3, 1), [(3,), (3,), (3,)], (3,)),
    ((3, 5), (3,), (3,), [(3, 5), (3,), (3, 1)], (3, 1)),
    ((3, 1), (3,), (), [(3,), (3,), ()], ()),
]


@pytest.mark.parametrize(("predictions", "labels", "weights", "fitted", "_"), SHAPES)
def test_weights_are_fitted_to_the_predictions_that_were_given(predictions, labels, weights, fitted, _):
    found = squeeze_or_expand_dimensions(tf.zeros(predictions), tf.zeros(labels), tf.zeros(weights))
    assert [one.shape.as_list() for one in found] == [list(shape) for shape in fitted]


@pytest.mark.parametrize(("predictions", "labels", "weights", "fitted", "then"), SHAPES)
def test_ranks_that_are_not_known_are_fitted_in_each_step(predictions, labels, weights, fitted, then):
    places = [tf.placeholder(tf.float32) for _ in range(3)]
    given = dict(zip(places, map(np.zeros, (predictions, labels, weights)), strict=True))
    with tf.Session() as session:
        found = session.run(squeeze_or_expand_dimensions(*places), given)
    assert [one.shape for one in found] == [*fitted[:2], then]


def test_what_is_not_given_is_left_out():
    predictions = tf.zeros([3, 1])
    assert squeeze_or_expand_dimensions(predictions) == (predictions, None)
    assert squeeze_or_expand_dimensions(predictions, None, tf.zeros([3]))[2].shape.as_list() == [3, 1]
    with pytest.raises(ValueError, match="squeeze dim"):
        squeeze_or_expand_dimensions(tf.zeros([3]), None, tf.zeros([3, 2]))


def test_losses_of_any_type_are_scaled_as_floats():
    losses = tf.constant([[1, 2], [3, 4], [5, 6]])
    with tf.Session() as session:
        np.testing.assert_array_equal(
            session.run(scale_losses_by_sample_weight(losses, [1, 0, 2])), [[1, 2], [0, 0], [10, 12]]
        )
    assert scale_losses_by_sample_weight(tf.zeros([3], tf.float64), True).dtype == tf.float32
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        scale_losses_by_sample_weight(losses, [1.0, 2.0])


def test_a_loss_without_examples_is_refused():
    with check_per_example_loss_rank(tf.zeros([3])):
        assert tf.zeros([]).op.control_inputs == []
    with (
        pytest.raises(ValueError, match="Expected a tensor with at least rank 1, received"),
        check_per_example_loss_rank(tf.zeros([])),
    ):
        pass
    losses = tf.placeholder(tf.float32)
    with check_per_example_loss_rank(losses):
        total = tf.reduce_sum(losses)
    with tf.Session() as session:
        assert session.run(total, {losses: [1.0, 2.0]}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected a tensor with at least rank 1"):
            session.run(total, {losses: 1.0})


def test_a_loss_is_shared_by_the_replicas_of_a_strategy():
    loss = tf.constant(2.0)
    assert scale_loss_for_distribution(loss) is loss
    with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope(), tf.Session() as session:
        assert session.run(scale_loss_for_distribution(loss)) == 1.0


def test_the_modules_of_tensorflow_have_them():
    assert stand_for("tensorflow.python.ops.losses.util").squeeze_or_expand_dimensions is squeeze_or_expand_dimensions
    assert stand_for("tensorflow.python.keras.utils.losses_utils").scale_loss_for_distribution is scale_loss_for_distribution
