"""Preconditioners for each dimension: values that TensorFlow 1.15 gives, and what they are by NumPy."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


START = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]], np.float32)
SLOPES = np.array([[2.0, 1.0], [-1.0, 3.0], [0.5, -2.0]], np.float32)


def after(steps, sparse=False, **options):
    """The variable after so many steps along gradients that do not change, and the optimizer's slots."""
    step = tf.train.get_or_create_global_step()
    variable = tf.get_variable("v", initializer=START)
    loss = tf.reduce_sum(variable * SLOPES)
    if sparse:
        loss = tf.reduce_sum(tf.gather(variable, [0, 2]) * SLOPES[[0, 2]])
    train = tf.contrib.opt.ShampooOptimizer(step, **options).minimize(loss, step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(train)
        slots = {v.op.name: session.run(v) for v in tf.global_variables() if "Shampoo" in v.op.name}
        return session.run(variable), slots


def power(matrix, exponent, epsilon=1e-4):
    values, vectors = np.linalg.eigh(matrix + epsilon * np.eye(len(matrix)))
    return vectors * np.maximum(values, epsilon) ** exponent @ vectors.T


def test_a_step_is_by_the_root_of_each_dimensions_matrix():
    found, slots = after(1, learning_rate=0.1)
    left, right = SLOPES @ SLOPES.T, SLOPES.T @ SLOPES
    np.testing.assert_allclose(slots["v/Shampoo_1"], left)
    np.testing.assert_allclose(slots["v/Shampoo_2"], right)
    expected = START - 0.1 * power(left / 3, -0.25) @ SLOPES @ power(right / 2, -0.25)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_large_dimensions_have_diagonals():
    found, slots = after(2, max_matrix_size=2, learning_rate=0.1)
    expected, rows, right = START, np.zeros(3), np.zeros([2, 2])
    for _ in range(2):
        rows, right = rows + (SLOPES**2).sum(1) / 3, right + SLOPES.T @ SLOPES
        expected = expected - 0.1 * rows[:, None] ** -0.25 * SLOPES @ power(right / 2, -0.25)
    np.testing.assert_allclose(slots["v/Shampoo_1"], rows, rtol=1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_rows_of_a_large_dimension_move_alone():
    found, slots = after(1, sparse=True, max_matrix_size=2)
    np.testing.assert_array_equal(found[1], START[1])
    np.testing.assert_allclose(slots["v/Shampoo_1"], (SLOPES**2).sum(1) * [1, 0, 1])


def test_small_dimensions_take_rows_as_a_whole():
    found, slots = after(1, sparse=True)
    np.testing.assert_array_equal(found[1], START[1])
    assert slots["v/Shampoo_1"].shape == (3, 3)


def test_means_are_kept_of_what_decays():
    _, slots = after(3, gbar_decay=0.5, gbar_weight=2.0, mat_gbar_decay=0.9, mat_gbar_weight=0.1)
    np.testing.assert_allclose(slots["v/Shampoo"], SLOPES * 2 * (1 + 0.5 + 0.25))
    np.testing.assert_allclose(slots["v/Shampoo_2"], SLOPES.T @ SLOPES * 0.1 * (1 + 0.9 + 0.81), rtol=1e-6)


def test_numbers_may_depend_on_the_step():
    found, _ = after(2, max_matrix_size=0, learning_rate=lambda step: 1.0 / step, alpha=lambda step: 0.0 * step)
    np.testing.assert_allclose(found, START - SLOPES * (1 + 1 / 2), rtol=1e-6)


def test_matrices_and_their_roots_are_made_now_and_then():
    _, slots = after(1, svd_interval=2, precond_update_interval=2)
    np.testing.assert_array_equal(slots["v/Shampoo_1"], np.eye(3))
    np.testing.assert_array_equal(slots["v/Shampoo_2"], np.zeros([3, 3]))
    with tf.Graph().as_default():
        _, slots = after(2, svd_interval=2, precond_update_interval=2)
    np.testing.assert_allclose(slots["v/Shampoo_2"], 2 * SLOPES @ SLOPES.T)
    np.testing.assert_allclose(slots["v/Shampoo_1"], power(2 * SLOPES @ SLOPES.T / 3, -0.25), rtol=1e-3, atol=1e-3)
