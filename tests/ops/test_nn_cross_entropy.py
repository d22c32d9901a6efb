"""Rows of softmax and of the fused cross entropies; the cross-entropy functions."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

FLOATS = ["float32", "float64", "float16"]


def softmax(x, axis=-1):
    e = np.exp(x.astype(np.float64))
    return e / e.sum(axis, keepdims=True)


def dense(logits, labels):
    p = softmax(logits)
    loss = -(labels.astype(np.float64) * np.log(p)).sum(1)
    return [loss.astype(logits.dtype), (p - labels).astype(logits.dtype)]


def sparse(logits, labels):
    return dense(logits, np.eye(logits.shape[1], dtype=logits.dtype)[labels])


CASES = [
    OpCase(
        "Softmax",
        [(2, 3, 5)],
        lambda x: softmax(x).astype(x.dtype),
        dtypes=FLOATS,
        errors=[
            Error([()], ValueError, "Shape must be at least rank 1 but is rank 0"),
            Error([()], InvalidArgumentError, "logits must have >= 1 dimension"),
        ],
    ),
    OpCase(
        "LogSoftmax",
        [(2, 3, 5)],
        lambda x: np.log(softmax(x)).astype(x.dtype),
        dtypes=FLOATS,
        errors=[Error([()], InvalidArgumentError, "logits must have >= 1 dimension")],
    ),
    OpCase(
        "SoftmaxCrossEntropyWithLogits",
        [(2, 3), (2, 3)],
        dense,
        dtypes=FLOATS,
        second=False,
        gradient=[0],
        errors=[
            Error([(2, 3), (2, 5)], ValueError, "Dimensions must be equal, but are 3 and 5"),
            Error([(2, 3), (2, 5)], InvalidArgumentError, "logits and labels must be broadcastable"),
            Error([(2, 3, 5), (2, 3, 5)], ValueError, "Shape must be rank 2 but is rank 3"),
            Error([(3,), (3,)], InvalidArgumentError, "must be either 2-dimensional"),
        ],
        numeric=False,
    ),
    OpCase(
        "SoftmaxCrossEntropyWithLogits",
        [(3, 29), (1, 29)],
        lambda x, labels: dense(x, np.repeat(labels, 3, 0)),
        numeric=False,
        label="wide",
    ),
    OpCase(
        "SparseSoftmaxCrossEntropyWithLogits",
        [(3, 5), np.int32([4, 0, 2])],
        sparse,
        dtypes=FLOATS,
        numeric=False,
        errors=[
            Error([(2, 3), np.int32([1, 2, 0])], ValueError, "Dimensions must be equal, but are 2 and 3"),
            Error([(2, 3), np.int32([1, 2, 0])], InvalidArgumentError, "must have the same first dimension"),
            Error(
                [(2, 3), np.int64([1, 3])],
                InvalidArgumentError,
                "label value of 3 which is outside the valid range of [0, 3)",
            ),
            Error([(2, 3), np.int64([-1, 2])], InvalidArgumentError, "Label values: -1 2"),
            Error([(2, 3), np.int64([[1], [0]])], InvalidArgumentError, "labels must be 1-D, but got shape [2,1]"),
            Error([(2,), np.int64([1, 0])], InvalidArgumentError, "logits must be 2-D, but got shape [2]"),
        ],
    ),
    OpCase("SparseSoftmaxCrossEntropyWithLogits", [(3, 29), np.int64([28, 0, 2])], sparse, numeric=False, label="wide"),
]
test_rows = op_tests(CASES)


def numeric(function, x, step=1e-6):
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        result[index] = (function(up) - function(down)) / (2 * step)
    return result


@pytest.mark.parametrize("kind", ["dense", "sparse", "sigmoid", "weighted"])
def test_gradients_of_first_and_second_order(kind: str) -> None:
    """Of the loss alone: the ops' second outputs are no part of what a user differentiates."""
    random = np.random.default_rng(7)
    x, labels = random.normal(size=(3, 5)), random.uniform(size=(3, 5))
    labels /= labels.sum(1, keepdims=True)  # the fused gradient takes them as distributions
    weights = random.uniform(size=(3, 5))
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.placeholder(tf.float64, [3, 5])
        losses = {
            "dense": lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits),
            "sparse": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[4, 0, 2], logits=logits),
            "sigmoid": lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits),
            "weighted": lambda: tf.nn.weighted_cross_entropy_with_logits(labels, logits, 3.0),
        }
        loss = tf.reduce_sum(losses[kind]())
        (first,) = tf.gradients(loss, logits)
        weighted = tf.reduce_sum(first * weights)
        (second,) = tf.gradients(weighted, logits)
        actual = session.run([first, second], {logits: x})
        for value, of in zip(actual, (loss, weighted), strict=True):
            wanted = numeric(lambda v, of=of: session.run(of, {logits: v}), x)
            np.testing.assert_allclose(value, wanted, rtol=1e-6, atol=1e-8)


def test_softmax_along_any_axis() -> None:
    x = np.random.default_rng(3).normal(size=(2, 3, 5)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.placeholder(tf.float32, [2, None, 5])
        for axis in (0, 1, 2, -1, -2, -3):
            values = session.run([tf.nn.softmax(t, axis=axis), tf.nn.log_softmax(t, axis=axis)], {t: x})
            np.testing.assert_allclose(values[0], softmax(x, axis), rtol=1e-5)
            np.testing.assert_allclose(values[1], np.log(softmax(x, axis)), rtol=1e-4, atol=1e-6)
        with pytest.raises(InvalidArgumentError, match=r"^Dimension \(.*\) must be in the range \[-3, 3\)"):
            tf.nn.softmax(t, axis=3)


def test_higher_ranks_and_other_axes() -> None:
    random = np.random.default_rng(5)
    x, labels = random.normal(size=(2, 3, 5)), random.uniform(size=(2, 3, 5))
    classes = random.integers(0, 5, (2, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        last, middle, picked, unknown = session.run(
            [
                tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x),
                tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x, axis=1),
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=x),
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tf.placeholder_with_default(classes, None), logits=tf.placeholder_with_default(x, None)
                ),
            ]
        )
    np.testing.assert_allclose(last, -(labels * np.log(softmax(x))).sum(-1))
    np.testing.assert_allclose(middle, -(labels * np.log(softmax(x, 1))).sum(1))
    wanted = -np.take_along_axis(np.log(softmax(x)), classes[..., None], -1)[..., 0]
    np.testing.assert_allclose(picked, wanted)
    np.testing.assert_allclose(unknown, wanted)


def test_gradients_reach_labels_in_v2_only() -> None:
    with tf.Graph().as_default():
        x, labels = tf.zeros([2, 3]), tf.zeros([2, 3])
        old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x)
        new = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x)
        assert tf.gradients(old, labels) == [None]
        assert tf.gradients(new, labels)[0] is not None


def test_infinite_logits_cost_nothing_where_labels_are_zero() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[-np.inf, 3.0]])
        assert session.run(loss).tolist() == [0]


def test_misuse() -> None:
    with tf.Graph().as_default():
        x, y = tf.zeros([2, 3]), tf.zeros([2, 5])
        with pytest.raises(ValueError, match="with named arguments"):
            tf.nn.softmax_cross_entropy_with_logits(x, x)
        with pytest.raises(ValueError, match="Both labels and logits must be provided"):
            tf.nn.sigmoid_cross_entropy_with_logits(labels=x)
        with pytest.raises(ValueError, match="must have the same shape"):
            tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=y)
        with pytest.raises(ValueError, match="Rank mismatch"):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=x)
        with pytest.raises(ValueError, match="Shape mismatch"):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0, 2], logits=x)
        with pytest.raises(ValueError, match="Logits cannot be scalars"):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=1.0)


def test_there_must_be_a_class() -> None:
    logits, labels = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.int32, [None])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    with tf.Session() as session:
        assert session.run(loss, {logits: np.zeros((0, 0)), labels: []}).size == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"at least one class, but got logits shape \[3,0\]"):
            session.run(loss, {logits: np.zeros((3, 0)), labels: [0, 0, 0]})
