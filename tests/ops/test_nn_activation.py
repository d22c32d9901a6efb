"""Rows of the activation functions and of the ops of their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

LEAK = float(np.float32(0.3))  # attrs have floats of 32 bits
FLOATS = ["float32", "float64", "float16", "bfloat16"]
REAL = ["float32", "float64", "int32"]
SCALE, SCALE_ALPHA = 1.0507009873554805, 1.7580993408473766
DIFFERENT = [
    Error([(2, 3), (2, 5)], ValueError, "Dimension 1 in both shapes must be equal, but are 3 and 5"),
    Error([(2, 3), (2, 5)], InvalidArgumentError, "must have the same size and shape.  Input 0: [2,3] != input 1: [2,5]"),
]


def wide(function):
    """A reference in float64, back in the inputs' dtype."""
    return lambda *xs: function(*[x.astype(np.float64) for x in xs]).astype(xs[0].dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


CASES = [
    OpCase("Relu", [(2, 3, 5)], wide(lambda x: np.where(x > 0, x, 0)), dtypes=REAL),
    OpCase("ReluGrad", [(2, 3), (2, 3)], wide(lambda g, x: np.where(x > 0, g, 0)), dtypes=REAL, errors=DIFFERENT),
    OpCase("Relu6", [(2, 3)], wide(lambda x: np.where(x > 6, 6, np.where(x > 0, x, 0))), dtypes=REAL, low=-9, high=9),
    OpCase(
        "Relu6Grad",
        [(2, 3), (2, 3)],
        wide(lambda g, x: np.where((x > 0) & (x < 6), g, 0)),
        dtypes=REAL,
        low=-9,
        high=9,
        errors=DIFFERENT,
    ),
    OpCase("LeakyRelu", [(2, 3)], wide(lambda x: np.where(x > 0, x, LEAK * x)), attrs={"alpha": 0.3}, dtypes=FLOATS),
    OpCase("LeakyRelu", [(2, 3)], wide(lambda x: np.where(x > 0, x, 3 * x)), attrs={"alpha": 3.0}, label="steep"),
    OpCase(
        "LeakyReluGrad",
        [(2, 3), (2, 3)],
        wide(lambda g, x: np.where(x > 0, g, LEAK * g)),
        attrs={"alpha": 0.3},
        dtypes=FLOATS,
        errors=DIFFERENT,
    ),
    OpCase(
        "LeakyReluGrad",
        [np.float32([-2, 0, 3, 5]), np.float32([-1, 1, 1, np.nan])],
        np.float32([-np.inf, 0, 3, np.inf]),
        {"alpha": np.inf},
        numeric=False,
        label="infinite",
    ),
    OpCase("Elu", [(2, 3)], wide(lambda x: np.where(x > 0, x, np.exp(x) - 1)), dtypes=FLOATS),
    OpCase(
        "EluGrad",
        [(2, 3), (2, 3)],
        wide(lambda g, y: np.where(y > 0, g, g * (y + 1))),
        dtypes=FLOATS,
        low=-0.9,
        errors=DIFFERENT,
    ),
    OpCase("EluGrad", [Like([2, 3]), Like([np.nan, -0.5])], np.float32([2, 1.5]), label="NaN"),
    OpCase("SeluGrad", [Like([2, 0]), Like([np.nan, -0.5])], np.float32([2 * SCALE, 0]), label="NaN"),
    OpCase("Selu", [(2, 3)], wide(lambda x: np.where(x > 0, SCALE * x, SCALE_ALPHA * (np.exp(x) - 1))), dtypes=FLOATS),
    OpCase(
        "SeluGrad",
        [(2, 3), (2, 3)],
        wide(lambda g, y: np.where(y > 0, g * SCALE, g * (y + SCALE_ALPHA))),
        dtypes=FLOATS,
        low=-1.5,
        errors=DIFFERENT,
    ),
    OpCase("Softplus", [(2, 3)], wide(lambda x: np.log(1 + np.exp(x))), dtypes=FLOATS),
    OpCase("Softsign", [(2, 3)], wide(lambda x: x / (1 + np.abs(x))), dtypes=FLOATS, second=False),
    OpCase(
        "SoftsignGrad",
        [(2, 3), (2, 3)],
        wide(lambda g, x: g / (1 + np.abs(x)) ** 2),
        dtypes=FLOATS,
        gradient=(),
        errors=DIFFERENT,
    ),
]
test_rows = op_tests(CASES)


def test_extremes_neither_overflow_nor_warn() -> None:
    x = np.float32([-1e4, -100, 0, 100, 1e4])
    with tf.Graph().as_default(), tf.Session() as session:
        t = tf.constant(x)
        softplus, elu, selu, grad = session.run(
            [tf.nn.softplus(t), tf.nn.elu(t), tf.nn.selu(t), tf.gradients(tf.nn.softplus(t), t)[0]]
        )
    np.testing.assert_allclose(softplus, [0, 0, np.log(2), 100, 1e4], rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(elu, [-1, -1, 0, 100, 1e4])
    np.testing.assert_allclose(selu[0], -SCALE_ALPHA, rtol=1e-6)
    np.testing.assert_allclose(grad, [0, 0, 0.5, 1, 1], atol=1e-30)


def test_crelu_and_integer_leaky_relu() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        both, leaky = session.run([tf.nn.crelu([[1.0, -2.0]]), tf.nn.leaky_relu([1, -5], alpha=0.2)])
    assert both.tolist() == [[1, 0, 0, 2]]
    np.testing.assert_allclose(leaky, [1, -1], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_selu_and_its_gradient_take_scalars(dtype):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(dtype, [])
        y = tf.nn.selu(x)
        for _ in range(3):
            assert session.run(tf.gradients(y, x)[0], {x: 2.0}) == pytest.approx(1.0507, rel=1e-3)
            assert session.run(tf.gradients(y, x)[0], {x: -1.0}) == pytest.approx(1.7581 * np.exp(-1.0), rel=2e-3)


@pytest.mark.parametrize("known", [True, False])
def test_relu6_takes_scalars(known):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [] if known else None)
        y = tf.nn.relu6(x)
        for _ in range(3):
            assert [session.run([y, tf.gradients(y, x)[0]], {x: v}) for v in (-1.0, 2.0, 7.0)] == [[0, 0], [2, 1], [6, 0]]
