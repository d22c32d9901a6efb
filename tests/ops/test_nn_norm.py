"""Rows of L2Loss and the top-k ops; moments, normalisation, dropout."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError


def largest(x, k=2):
    order = np.array([sorted(range(row.size), key=lambda i, row=row: (-row[i], i))[:k] for row in x])
    return [np.take_along_axis(x, order, 1), order.astype(np.int32)]


PREDICTIONS = np.float32([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4], [0.1, np.nan, 0.2], [0.1, 0.2, 0.3]])
TARGETS = np.int32([1, 1, 0, 0, 7])
BEST, BEST_TWO = [True, True, False, False, False], [True, True, True, False, False]

CASES = [
    OpCase(
        "L2Loss",
        [(2, 3, 5)],
        lambda x: (x.astype(np.float64) ** 2).sum().astype(x.dtype) / 2,
        dtypes=["float32", "float64"],
        tolerance=1e-5,
    ),
    OpCase(
        "L2Loss",
        [(2, 3)],
        lambda x: (x.astype(np.float64) ** 2).sum().astype(x.dtype) / 2,
        dtypes=["float16"],
        label="half",
        tolerance=5e-3,
    ),
    OpCase(
        "TopKV2",
        [(3, 5), np.int32(2)],
        lambda x, k: largest(x),
        dtypes=["float32", "int32"],
        errors=[
            Error([(2, 3), np.int32(5)], ValueError, "input must have last dimension >= k = 5 but is 3", constants=True),
            Error([(2, 3), np.int32(5)], InvalidArgumentError, "input must have at least k columns. Had 3, needed 5"),
            Error([(2, 3), np.int32(-1)], InvalidArgumentError, "Need k >= 0, got -1"),
            Error([(), np.int32(1)], InvalidArgumentError, "input must be >= 1-D"),
        ],
    ),
    OpCase(
        "TopKV2", [np.float32([[3, 7, 7, 3]]), np.int32(3)], [np.float32([[7, 7, 3]]), np.int32([[1, 2, 0]])], label="ties"
    ),
    OpCase("InTopKV2", [PREDICTIONS, TARGETS, np.int32(1)], np.array(BEST), gradient=()),
    OpCase(
        "InTopKV2",
        [np.zeros((2, 0), np.float32), np.int32([0, 1]), np.int32(1)],
        np.array([False, False]),
        gradient=(),
        label="no classes",
    ),
    OpCase("InTopKV2", [PREDICTIONS, TARGETS, np.int32(2)], np.array(BEST_TWO), gradient=(), label="two"),
]
test_rows = op_tests(CASES)


def test_moments_and_batch_normalization() -> None:
    x = np.random.default_rng(1).normal(3, 2, (5, 7)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        mean, variance = tf.nn.moments(tf.constant(x), [0])
        kept = tf.nn.moments(tf.constant(x), [0, 1], keep_dims=True)
        half = tf.nn.moments(tf.constant(x, tf.float16), [0])
        normal = tf.nn.batch_normalization(x, mean, variance, offset=2.0, scale=3.0, variance_epsilon=0.0)
        bare = tf.nn.batch_normalization(x, mean, variance, offset=None, scale=None, variance_epsilon=0.0)
        assert half[0].dtype is tf.float16
        values = session.run([mean, variance, *kept, normal, bare])
    np.testing.assert_allclose(values[0], x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(values[1], x.var(0), rtol=1e-5)
    assert values[2].shape == values[3].shape == (1, 1)
    wanted = (x - x.mean(0)) / x.std(0)
    np.testing.assert_allclose(values[4], 3 * wanted + 2, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(values[5], wanted, rtol=1e-4, atol=1e-5)


def test_l2_normalize_and_zero_fraction() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows, zero, fraction = session.run(
            [tf.nn.l2_normalize([[3.0, 4.0]], axis=1), tf.nn.l2_normalize([0.0, 0.0]), tf.nn.zero_fraction([0, 1, 0, 2])]
        )
    np.testing.assert_allclose(rows, [[0.6, 0.8]], rtol=1e-6)
    assert zero.tolist() == [0, 0]
    assert fraction == 0.5


def test_dropout_keeps_the_mean_and_the_seed() -> None:
    x = np.ones((200, 50), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        dropped = tf.nn.dropout(x, rate=0.25, seed=3)
        again = tf.nn.dropout(x, keep_prob=0.75, seed=3)
        rows = tf.nn.dropout(x, rate=0.5, seed=1, noise_shape=[None, 1])
        fed = tf.placeholder(tf.float32, [])
        by_tensor = tf.nn.dropout(x, keep_prob=fed, seed=3)
        value, same, row_wise = session.run([dropped, again, rows])
        tensor_wise = session.run(by_tensor, {fed: 0.75})
        assert tf.nn.dropout(tf.constant(x), keep_prob=1.0).op.type == "Const"
    np.testing.assert_array_equal(value, same)
    np.testing.assert_allclose(value, tensor_wise, rtol=1e-6)
    assert set(np.unique(value)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(value.mean() - 1) < 0.05
    assert (row_wise == row_wise[:, :1]).all()


def test_dropout_refuses() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"range \[0, 1\)"):
            tf.nn.dropout([1.0], rate=1.0)
        with pytest.raises(ValueError, match=r"range \[0, 1\), got 1$"):
            tf.nn.dropout([1.0], keep_prob=0.0)
        with pytest.raises(ValueError, match="You must provide a rate"):
            tf.nn.dropout([1.0])
        with pytest.raises(ValueError, match="keep_prob must be a floating point number or Tensor"):
            tf.nn.dropout([1.0], keep_prob=[0.5, 0.5])
        with pytest.raises(ValueError, match="must have rank 0"):
            tf.nn.dropout([1.0], rate=tf.constant([0.5, 0.5]))
        with pytest.raises(ValueError, match="floating point tensor"):
            tf.nn.dropout([1], rate=0.5)
        with pytest.raises(TypeError, match="got 'a' of type 'str'"):
            tf.nn.dropout([1.0], rate="a")
        with pytest.raises(ValueError, match="dtype float32 for Tensor with dtype float64"):
            tf.nn.dropout([1.0], rate=tf.constant(0.5, tf.float64))


def test_a_sum_knows_its_shape() -> None:
    with tf.Graph().as_default():
        unknown = [tf.placeholder(tf.int32) for _ in range(2)]
        assert tf.accumulate_n(unknown, shape=[2, 4]).shape.as_list() == [2, 4]


def test_a_shape_of_the_noise_that_x_does_not_complete_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Cannot convert a partially known TensorShape"):
        tf.nn.dropout(tf.placeholder(tf.float32, [None, 3]), rate=0.5, noise_shape=[None, 1])
