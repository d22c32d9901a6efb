"""Rows of normalisation in one node (LRN, FusedBatchNorm) and of morphology."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tests.ops.test_conv import taps
from tfexp.core.errors import InvalidArgumentError

EPSILON = 1e-4


def lrn(x, radius=2, bias=1.5, alpha=0.7, beta=0.75):
    wide = x.astype(np.float64)
    y = np.zeros_like(wide)
    for c in range(x.shape[-1]):
        near = wide[..., max(0, c - radius) : c + radius + 1]
        y[..., c] = wide[..., c] / (bias + alpha * (near**2).sum(-1)) ** beta
    return y.astype(x.dtype)


def numeric(function, x, upstream, step=1e-5):
    """The gradient of sum(function(x) * upstream), by central differences in float64."""
    x = x.astype(np.float64)
    result = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            values.append((function(moved) * upstream).sum())
        result[index] = (values[0] - values[1]) / (2 * step)
    return result


def normalised(x, scale, offset, mean, variance):
    return (x - mean) / np.sqrt(variance + EPSILON) * scale + offset


def trained(x, scale, offset):
    axes = tuple(range(x.ndim - 1))
    return normalised(x, scale, offset, x.mean(axes), x.var(axes))


def fused(x, scale, offset, mean, variance):
    wide = x.astype(np.float64)
    axes = tuple(range(x.ndim - 1))
    count = x.size // x.shape[-1]
    found = [wide.mean(axes), wide.var(axes) * count / (count - 1), wide.mean(axes), wide.var(axes)]
    return [trained(wide, scale, offset).astype(x.dtype), *[f.astype(np.float32) for f in found]]


def inferred(x, scale, offset, mean, variance):
    vectors = [np.float32(v) for v in (mean, variance, mean, variance)]
    return [normalised(x.astype(np.float32), scale, offset, mean, variance).astype(x.dtype), *vectors]


def backward(dy, x, scale, *rest):
    empty = np.zeros(0, np.float32)
    zero = np.zeros(x.shape[-1])
    makers = [
        lambda v: trained(v, scale, zero),
        lambda v: trained(x.astype(np.float64), v, zero),
        lambda v: trained(x.astype(np.float64), scale, v),
    ]
    found = [numeric(f, v, dy.astype(np.float64)) for f, v in zip(makers, (x, scale, zero), strict=True)]
    return [found[0].astype(x.dtype), *[f.astype(np.float32) for f in found[1:]], empty, empty]


def statistics(x):
    axes = tuple(range(x.ndim - 1))
    return [np.float32(x.mean(axes)), np.float32(x.var(axes))]


RANDOM = np.random.default_rng(11)
X = RANDOM.uniform(-2, 2, (3, 2, 2, 5)).astype(np.float32)
DY = RANDOM.uniform(-2, 2, X.shape).astype(np.float32)
SCALE = RANDOM.uniform(0.5, 2, 5).astype(np.float32)
BAND = {"depth_radius": 2, "bias": 1.5, "alpha": 0.7, "beta": 0.75}
TRAINING = {"epsilon": EPSILON}
INFERENCE = {"epsilon": EPSILON, "is_training": False}
EMPTY = np.zeros(0, np.float32)
ZERO = np.zeros((), np.float32)
NUMBERS = RANDOM.permutation(60).reshape(2, 5, 2, 3)


def dilation(x, w):
    y = np.full((x.shape[0], x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1, x.shape[3]), -np.inf)
    for out, tap, place in taps(x.shape, w.shape, (1, 1), "VALID", (1, 1), ((0, 0), (0, 0))):
        y[:, out[0], out[1]] = np.maximum(y[:, out[0], out[1]], x[:, place[0], place[1]] + w[tap])
    return y.astype(x.dtype)


MORPHOLOGY = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}
SHAPED, FILTER = NUMBERS.astype(np.float64), np.arange(12).reshape(2, 2, 3) / 7
GRAD = RANDOM.uniform(-1, 1, (2, 4, 1, 3))

CASES = [
    OpCase(
        "LRN",
        [(2, 3, 2, 7)],
        lrn,
        attrs=BAND,
        dtypes=["float32", "float16", "bfloat16"],
        numeric=False,
        errors=[
            Error([(2, 3, 5)], ValueError, "Shape must be rank 4 but is rank 3"),
            Error([(2, 3, 5)], InvalidArgumentError, "in must be 4-dimensional"),
        ],
    ),
    OpCase(
        "LRNGrad",
        [DY, X, lrn(X)],
        lambda dy, x, y: numeric(lrn, x, dy).astype(np.float32),
        attrs=BAND,
        gradient=(),
        numeric=False,
        tolerance=1e-4,
        errors=[
            Error(
                [(2, 3, 5, 7), (2, 3, 5, 7), (2, 3, 5, 6)],
                ValueError,
                "Dimension 3 in both shapes must be equal, but are 7 and 6",
            ),
            Error([(2, 3, 5, 7), (2, 3, 5, 7), (2, 3, 5, 6)], InvalidArgumentError, "should have the same shape"),
            Error([(2, 3, 5, 7)] * 3, InvalidArgumentError, "depth_radius must be >= 0, got -1", attrs={"depth_radius": -1}),
        ],
    ),
    OpCase(
        "FusedBatchNorm",
        [(3, 2, 2, 5), (5,), (5,), EMPTY, EMPTY],
        fused,
        attrs=TRAINING,
        numeric=False,
        tolerance=1e-4,
        errors=[
            Error([(2, 3, 4), (4,), (4,), (0,), (0,)], ValueError, "Shape must be rank 4 but is rank 3"),
            Error([(2, 3, 4, 5), (4,), (5,), (0,), (0,)], ValueError, "Dimensions must be equal, but are 5 and 4"),
            Error(
                [(2, 3, 4, 5), (4,), (5,), (0,), (0,)],
                InvalidArgumentError,
                "scale must have the same number of elements as the channels of x, got 4 and 5",
            ),
            Error([(2, 3, 4), (4,), (4,), (0,), (0,)], InvalidArgumentError, "input must be 4 or 5-dimensional[2,3,4]"),
        ],
    ),
    OpCase(
        "FusedBatchNormV2",
        [(3, 2, 2, 5), SCALE, SCALE, EMPTY, EMPTY],
        fused,
        attrs=TRAINING,
        dtypes=["float32", "float16", "bfloat16"],
        numeric=False,
        tolerance=2e-2,
    ),
    OpCase(
        "FusedBatchNormV2",
        [(3, 2, 2, 5), SCALE, -SCALE, SCALE / 3, SCALE * 2],
        inferred,
        attrs=INFERENCE,
        numeric=False,
        tolerance=1e-4,
        label="inference",
        errors=[
            Error([(2, 3, 4, 5), (5,), (5,), (3,), (5,)], ValueError, "Dimensions must be equal, but are 5 and 3"),
            Error(
                [(2, 3, 4, 5), (5,), (5,), (0,), (0,)],
                InvalidArgumentError,
                "When is_training=false, mean must have the same number of elements as the channels of x, got 0 and 5",
            ),
        ],
    ),
    OpCase(
        "FusedBatchNormV3",
        [(3, 2, 2, 5), (5,), (5,), EMPTY, EMPTY],
        lambda *a: [*fused(*a), ZERO],
        attrs=TRAINING,
        numeric=False,
        tolerance=1e-4,
        static_shape=[(3, 2, 2, 5), (5,), (5,), (5,), (5,), None],
    ),
    OpCase(
        "FusedBatchNormV3",
        [(3, 5, 2, 2, 2), SCALE, SCALE, EMPTY, EMPTY],
        lambda x, *rest: [np.moveaxis(v, -1, 1) if v.ndim > 1 else v for v in (*fused(np.moveaxis(x, 1, -1), *rest), ZERO)],
        attrs={**TRAINING, "data_format": "NCDHW"},
        numeric=False,
        tolerance=1e-4,
        label="volumes, channels second",
    ),
    OpCase("FusedBatchNormGrad", [DY, X, SCALE, *statistics(X)], backward, attrs=TRAINING, numeric=False, tolerance=1e-3),
    OpCase("FusedBatchNormGradV2", [DY, X, SCALE, *statistics(X)], backward, attrs=TRAINING, numeric=False, tolerance=1e-3),
    OpCase(
        "FusedBatchNormGradV3",
        [DY, X, SCALE, *statistics(X), ZERO],
        backward,
        attrs=TRAINING,
        numeric=False,
        tolerance=1e-3,
        errors=[
            Error(
                [(2, 3, 4, 5), (2, 3, 4, 6), (5,), (5,), (5,), ()],
                InvalidArgumentError,
                "x and y_backprop must have the same shape, got [2,3,4,6] and [2,3,4,5]",
            )
        ],
    ),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("is_training", [True, False])
def test_second_derivatives_of_batch_norm(data_format: str, is_training: bool) -> None:
    """Against central differences of the first ones, in the float32 that the op has."""
    x = np.moveaxis(X, -1, 1) if data_format == "NCHW" else X
    upstream = np.moveaxis(DY, -1, 1) if data_format == "NCHW" else DY
    with tf.Graph().as_default(), tf.Session() as session:
        fed, scale = tf.placeholder(tf.float32, x.shape), tf.constant(SCALE)
        vectors = () if is_training else (tf.constant(SCALE / 3), tf.constant(SCALE * 2))
        y, _, _ = tf.nn.fused_batch_norm(fed, scale, scale, *vectors, is_training=is_training, data_format=data_format)
        first = tf.gradients(y * y * y, [fed, scale])
        loss = tf.reduce_sum(first[0] * upstream) + tf.reduce_sum(first[1] * SCALE)
        found = session.run(tf.gradients(loss, fed)[0], {fed: x})
        direction = np.random.default_rng(2).uniform(-1, 1, x.shape).astype(np.float32)
        ahead, behind = (session.run(loss, {fed: x + sign * 1e-2 * direction}) for sign in (1, -1))
    assert (found * direction).sum() == pytest.approx((float(ahead) - float(behind)) / 2e-2, rel=2e-2, abs=1e-2)


def test_what_inference_needs() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be a 1D tensor when `is_training` is False"):
        tf.nn.fused_batch_norm(X, SCALE, SCALE, is_training=False)


def test_statistics_far_from_zero() -> None:
    """A mean near 256 has an error of 1e-5, which must not reach the variance."""
    x = (np.random.default_rng(3).random((11, 7, 5, 3)) + 256).astype(np.float32)
    with tf.Session() as session:
        _, mean, variance = session.run(tf.nn.fused_batch_norm(x, np.ones(3, np.float32), np.zeros(3, np.float32)))
    wide = x.astype(np.float64)
    np.testing.assert_allclose(mean, wide.mean((0, 1, 2)), rtol=1.2e-7)
    np.testing.assert_allclose(variance, wide.var((0, 1, 2), ddof=1), rtol=1e-6)


def test_the_statistics_of_nothing() -> None:
    with np.errstate(all="ignore"), tf.Session() as session:
        y, mean, variance = tf.nn.fused_batch_norm(tf.zeros([0, 2, 3, 5]), tf.ones([5]), tf.zeros([5]))
        found = session.run([y, mean, variance])
    assert [value.shape for value in found] == [(0, 2, 3, 5), (5,), (5,)]


def test_an_epsilon_has_a_least_value() -> None:
    with tf.Graph().as_default():
        op = tf.nn.fused_batch_norm(X, SCALE, SCALE, epsilon=1e-9)[0].op
    assert op.get_attr("epsilon") == pytest.approx(1.001e-5)


def test_a_radius_is_not_negative() -> None:
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="depth_radius must be >= 0"):
        session.run(tf.nn.lrn(np.ones([1, 1, 1, 3], np.float32), depth_radius=-1))


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("shape", [(0, 2, 3, 2), (2, 0, 3, 2)])
def test_gradients_of_an_empty_batch_are_zeros(is_training: bool, shape: tuple[int, ...]) -> None:
    """As TensorFlow 2.21 has it, although the variance of nothing is nan."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, scale, offset = tf.placeholder(tf.float32, [None, None, 3, 2]), tf.constant([1.0, 2.0]), tf.constant([0.0, 1.0])
        known = {} if is_training else {"mean": tf.constant([0.5, 0.5]), "variance": tf.constant([1.0, 2.0])}
        y, *_ = tf.nn.fused_batch_norm(x, scale, offset, is_training=is_training, **known)
        gradients = tf.gradients(tf.reduce_sum(y * y), [x, scale, offset])
        for_x, *for_vectors = session.run(gradients, {x: np.zeros(shape, np.float32)})
    assert for_x.shape == shape
    assert [vector.tolist() for vector in for_vectors] == [[0, 0], [0, 0]]
