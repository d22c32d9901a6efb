"""Loops without an order of their own, and Jacobians, as TensorFlow's tests import them."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

control_flow_ops, gradients, test_util = (
    stand_for(f"tensorflow.python.ops.parallel_for.{name}") for name in ("control_flow_ops", "gradients", "test_util")
)
X = np.float32([[1, 2], [3, 5], [7, 11]])


def test_loops():
    with tf.Session() as session:
        at_once = control_flow_ops.pfor(lambda i: (tf.gather(X, i), 2 * i), 3)
        one_by_one = control_flow_ops.for_loop(lambda i: (tf.gather(X, i), 2 * i), (tf.float32, tf.int32), 3)
        for found in session.run([at_once, one_by_one]):
            np.testing.assert_array_equal(found[0], X)
            np.testing.assert_array_equal(found[1], [0, 2, 4])


@pytest.mark.parametrize("shape", [[3, 2], [None, 2]])
def test_jacobians(shape):
    x = tf.placeholder(tf.float32, shape)
    weights, other = tf.constant([2.0, 3.0]), tf.constant(1.0)
    y = x * x * weights
    whole = gradients.jacobian(y, {"x": x, "weights": weights, "other": other})
    batches = gradients.batch_jacobian(y, x)
    assert whole.pop("other") is None and batches.shape.as_list() == [*shape, 2]
    assert whole["x"].shape.as_list() == [*shape, *shape]
    with tf.Session() as session:
        found, by_row = session.run([whole, batches], {x: X})
    slopes = 2 * X * [2, 3]
    np.testing.assert_allclose(by_row, slopes[:, :, np.newaxis] * np.eye(2))
    np.testing.assert_allclose(found["x"].reshape(6, 6), np.diag(slopes.ravel()))
    np.testing.assert_allclose(found["weights"], (X * X)[:, :, np.newaxis] * np.eye(2))


def test_a_loop_may_reduce_over_all_turns():
    def of_row(i, pfor_config):
        row = tf.gather(X, i)
        off = row - pfor_config.reduce_mean(row)
        return off, pfor_config.reduce_sum(tf.abs(off)), pfor_config.reduce_concat(i)

    with tf.Session() as session:
        off, total, turns = session.run(control_flow_ops.pfor(of_row, 3))
    np.testing.assert_allclose(off, X - X.mean(0), rtol=1e-6)
    np.testing.assert_allclose(total, [np.abs(X - X.mean(0)).sum(0)] * 3, rtol=1e-6)
    assert turns.tolist() == [[0, 1, 2]] * 3


@pytest.mark.parametrize(("number", "words"), [(1, "Use for_loop instead"), (0, "must be None or a positive integer")])
def test_numbers_of_parallel_turns(number, words):
    with pytest.raises(ValueError, match=words):
        control_flow_ops.pfor(lambda i: i, 3, parallel_iterations=number)


def test_jacobians_through_loops():
    x = tf.constant(X)
    powers = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x])[1]
    with tf.Session() as session:
        whole, rows = session.run([gradients.jacobian(powers, x), gradients.batch_jacobian(powers, x)])
    np.testing.assert_allclose(whole.reshape(6, 6), np.diag(3 * X.ravel() ** 2))
    np.testing.assert_allclose(rows, (3 * X**2)[:, :, np.newaxis] * np.eye(2))


def test_batches_that_do_not_match():
    with pytest.raises(ValueError, match="Need first dimension of output shape"):
        gradients.batch_jacobian(tf.zeros([3, 2]), tf.zeros([5, 2]))
    assert gradients.batch_jacobian(tf.zeros([3, 2]), tf.zeros([3, 5])) is None
    x = tf.placeholder(tf.float32)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        session.run(gradients.batch_jacobian(x[1:], x), {x: X})


def test_batches_of_unknown_rank():
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        found = session.run(gradients.batch_jacobian(x * x, x), {x: X})
        np.testing.assert_allclose(found, (2 * X)[:, :, np.newaxis] * np.eye(2))


class Case(test_util.PForTestCase):
    def test_both_loops(self):
        with self.cached_session():
            self._test_loop_fn(lambda i: i * i, 5)
            with pytest.raises(AssertionError):
                self.run_and_assert_equal(tf.constant([1.0]), tf.constant([2.0]))
