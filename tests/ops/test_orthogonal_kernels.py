"""Convolution kernels that keep norms: what they are for, tried on random images; the shapes that they refuse."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops import orthogonal_kernels


def circular(image, kernel):
    """The convolution of an image without an edge: [*sizes, in] by [*sizes, in, out]."""
    axes = range(image.ndim - 1)
    shifts = np.ndindex(kernel.shape[:-2])
    return sum(np.roll(image, shift, axes) @ kernel[shift] for shift in shifts)


@pytest.mark.parametrize("name", ["delta_orthogonal", "orthogonal_1d", "orthogonal_2d", "orthogonal_3d"])
def test_the_convolution_keeps_norms_up_to_the_gain(name):
    axes = 2 if name == "delta_orthogonal" else int(name[-2])
    make = getattr(orthogonal_kernels, f"convolutional_{name}")
    initializer = make.from_config(make(gain=1.5, seed=3, dtype=tf.float64).get_config())
    with tf.Session() as session:
        kernel = session.run(initializer([3] * axes + [2, 5]))
    image = np.random.default_rng(0).normal(size=[*[7, 5, 11][:axes], 2])
    np.testing.assert_allclose(np.linalg.norm(circular(image, kernel)), 1.5 * np.linalg.norm(image))
    assert name != "delta_orthogonal" or not np.delete(kernel, 1, axis=0).any()


def test_calls_and_seeds():
    first, second = (orthogonal_kernels.ConvolutionOrthogonal2D(seed=seed) for seed in (1, 2))
    with tf.Session() as session:
        same, again, other = session.run([first([2, 2, 3, 3]), first([2, 2, 3, 3]), second([2, 2, 3, 3])])
    np.testing.assert_array_equal(same, again)
    assert not np.allclose(same, other)


@pytest.mark.parametrize(
    ("make", "shape", "message"),
    [
        ("ConvolutionDeltaOrthogonal", [3, 5], "at least three-dimensional"),
        ("ConvolutionDeltaOrthogonal", [3, 5, 2], "cannot exceed"),
        ("ConvolutionOrthogonal1D", [3, 3, 2, 5], "three-dimensional"),
        ("ConvolutionOrthogonal2D", [3, 2, 2, 5], "sizes must be equal"),
        ("ConvolutionOrthogonal3D", [2, 2, 2, 5, 3], "cannot exceed"),
    ],
)
def test_shapes_that_are_refused(make, shape, message):
    with pytest.raises(ValueError, match=message):
        getattr(orthogonal_kernels, make)()(shape)
