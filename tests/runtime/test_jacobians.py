"""GradientTape.jacobian and batch_jacobian, eagerly and in graphs."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


def test_jacobians_in_graphs():
    def both(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x), tape.batch_jacobian(y, x)

    values = [[1.0, 2.0], [3.0, 5.0]]
    with tf.Graph().as_default(), tf.Session() as session:
        whole, by_row = session.run(both(tf.constant(values)))
    expected = np.zeros([2, 2, 2, 2])
    for i, j in np.ndindex(2, 2):
        expected[i, j, i, j] = 2 * values[i][j]
    np.testing.assert_array_equal(whole, expected)
    np.testing.assert_array_equal(by_row, [[[2, 0], [0, 4]], [[6, 0], [0, 10]]])


@pytest.mark.parametrize("known", [[None, 2], [None, None], None])
def test_jacobians_of_what_has_sizes_that_the_run_knows(known):
    values = np.float32([[1, 2], [3, 5], [7, 11]])
    with tf.Graph().as_default(), tf.Session() as session:
        x, other = tf.placeholder(tf.float32, known), tf.constant(1.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, other])
            y = x * x
        whole, none = tape.jacobian(y, [x, other])
        assert tape.jacobian(y, other) is None
        assert whole.shape.as_list() == known * 2 if known else whole.shape.rank is None
        assert none is None
        np.testing.assert_array_equal(session.run(whole, {x: values}).reshape(6, 6), np.diag(2 * values.ravel()))
        if known:
            rows = tape.batch_jacobian(y, x)
            assert rows.shape.as_list() == [*known, known[1]]
            np.testing.assert_array_equal(session.run(rows, {x: values}), (2 * values)[:, :, np.newaxis] * np.eye(2))
        else:
            with pytest.raises(ValueError, match="Need first dimension of target shape"):
                tape.batch_jacobian(y, x)


@eager_mode()
def test_jacobians_of_nothing():
    x = tf.zeros([2, 0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x).shape.as_list() == [2, 0, 2, 0]
    assert tape.batch_jacobian(y, x).shape.as_list() == [2, 0, 0]


@eager_mode()
def test_jacobians():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    jacobian = tape.jacobian(y, x).numpy()
    np.testing.assert_array_equal(jacobian.reshape(4, 4), np.diag([2, 4, 6, 8]))
    np.testing.assert_array_equal(tape.batch_jacobian(y, x).numpy(), [np.diag([2, 4]), np.diag([6, 8])])
    for function in (tape.gradient, tape.jacobian):
        with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'other'"):
            function(y, x, unconnected_gradients="other")
