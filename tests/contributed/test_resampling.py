"""tf.contrib.resampler."""

import numpy as np
import pytest

import tfexp as tf

resampler = tf.contrib.resampler.resampler


def expected(data, warp):
    _, rows, columns, channels = data.shape
    result = np.zeros((*warp.shape[:-1], channels))
    for place in np.ndindex(*warp.shape[:-1]):
        x, y = warp[place]
        for row in range(rows):
            for column in range(columns):
                weight = max(0, 1 - abs(x - column)) * max(0, 1 - abs(y - row))
                result[place] += weight * data[place[0], row, column]
    return result


@pytest.mark.parametrize("shape", [(2, 7, 2), (2, 3, 5, 2)])
def test_points_are_read_between_pixels_and_as_zero_outside(shape):
    random = np.random.RandomState(0)
    data, warp = random.rand(2, 4, 5, 3), random.uniform(-2, 6, shape)
    with tf.Graph().as_default(), tf.Session() as session:
        placed, points = tf.constant(data), tf.constant(warp)
        read = resampler(placed, points)
        assert read.shape.as_list() == [*shape[:-1], 3]
        weights = random.rand(*shape[:-1], 3)
        grads = tf.gradients(read, [placed, points], weights)
        found, of_data, of_points = session.run([read, *grads])
        late = tf.placeholder(tf.float64, [None] * len(shape))
        np.testing.assert_array_equal(session.run(resampler(placed, late), {late: warp}), found)
    np.testing.assert_allclose(found, expected(data, warp), atol=1e-12)
    moved = warp.copy()
    moved[1, 0] += np.broadcast_to([1e-6, 0], moved[1, 0].shape)
    numeric = (np.sum(weights * expected(data, moved)) - np.sum(weights * expected(data, warp))) / 1e-6
    assert of_points[1, 0, ..., 0].sum() == pytest.approx(numeric, abs=1e-5)
    step = np.zeros_like(data)
    step[1, 2, 3, 1] = 1
    assert of_data[1, 2, 3, 1] == pytest.approx(np.sum(weights * expected(step, warp)))


def test_what_it_refuses():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"data must be \[batch, rows, columns, channels\]"):
            resampler(tf.zeros([3, 4, 5]), tf.zeros([3, 2]))
        with pytest.raises(ValueError, match=r"warp must be \[batch, …, 2\]"):
            resampler(tf.zeros([1, 3, 4, 5]), tf.zeros([1, 3]))
