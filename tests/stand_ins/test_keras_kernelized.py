"""Kernels by random features come near the exact ones, which are computed row by row."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins import keras_kernelized as kernels

X = np.array([[0.1, 0.3], [0.2, -0.5], [0.7, 0.11]], np.float32)
Y = np.array([[0.5, 0.2], [-0.1, 0.3]], np.float32)


@pytest.fixture(autouse=True)
def eagerly():
    with eager_mode():
        yield


def test_exact_kernels():
    differences = X[:, np.newaxis] - Y[np.newaxis]
    np.testing.assert_allclose(kernels.inner_product(X, Y), X @ Y.T, rtol=1e-6)
    wanted = np.exp(-np.square(differences).sum(2) / (2 * 3.0**2))
    np.testing.assert_allclose(kernels.exact_gaussian_kernel(X, Y, 3.0), wanted, rtol=1e-6)
    wanted = np.exp(-np.abs(differences).sum(2) / 3.0)
    np.testing.assert_allclose(kernels.exact_laplacian_kernel(X, Y, 3.0), wanted, rtol=1e-6)
    with pytest.raises(ValueError, match="should have rank 1 or 2"):
        kernels.inner_product(X[np.newaxis], Y)
    with pytest.raises(ValueError, match="should match"):
        kernels.exact_gaussian_kernel(X, Y[:, :1], 3.0)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_features_come_near_the_kernel(kernel):
    np.random.seed(11)
    tf.set_random_seed(11)
    layer = kernels.RandomFourierFeatures(4096, kernel, scale=2.0)
    near = 2.0 / 4096 * kernels.inner_product(layer(X), layer(Y)).numpy()
    exact = getattr(kernels, f"exact_{kernel}_kernel")(X, Y, 2.0)
    np.testing.assert_allclose(near, exact, atol=0.08)


def test_what_features_are_made_of():
    layer = kernels.RandomFourierFeatures(5, trainable=True, name="features")
    assert layer(X).shape.as_list() == [3, 5]
    assert [v.name for v in layer.trainable_weights] == ["features/random_features_scale:0"]
    assert layer.get_config()["scale"] == 1.0
    assert layer.compute_output_shape((None, 2)).as_list() == [None, 5]
    again = kernels.RandomFourierFeatures.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((0,), "should be a positive integer"),
        ((3, "odd"), "Unsupported kernel type"),
        ((3, "gaussian", 0.0), "positive float"),
    ],
)
def test_what_features_refuse(arguments, told):
    with pytest.raises(ValueError, match=told):
        kernels.RandomFourierFeatures(*arguments)
