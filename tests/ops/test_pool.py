"""Rows of the pooling ops; the reference looks at each window."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError, UnimplementedError

FLOATS = ["float32", "float64"]


def windows(space, sizes, strides, padding):
    """(place of the window, places of its elements)"""
    axes = []
    for n, k, s in zip(space, sizes, strides, strict=True):
        if padding == "SAME":
            count = -(-n // s)
            before = max((count - 1) * s + k - n, 0) // 2
        else:
            count, before = (n - k) // s + 1, 0
        axes.append([[i for i in range(o * s - before, o * s - before + k) if 0 <= i < n] for o in range(count)])
    for place in np.ndindex(*map(len, axes)):
        yield place, list(itertools.product(*[axis[o] for axis, o in zip(axes, place, strict=True)]))


def pooled(x, function, sizes, strides, padding):
    laid = list(windows(x.shape[1:-1], sizes, strides, padding))
    outs = tuple(n + 1 for n in laid[-1][0])
    y = np.zeros((x.shape[0], *outs, x.shape[-1]), x.dtype)
    for place, elements in laid:
        values = np.stack([x[(slice(None), *e)] for e in elements])
        y[(slice(None), *place)] = function(values)
    return y


def max_pool(x, sizes=(2, 2), strides=(2, 2), padding="VALID"):
    return pooled(x, lambda v: v.max(0), sizes, strides, padding)


def avg_pool(x, sizes=(2, 2), strides=(2, 2), padding="VALID"):
    return pooled(x, lambda v: (v.astype(np.float64).sum(0) / len(v)).astype(x.dtype), sizes, strides, padding)


def max_pool_grad(x, y, dy, sizes=(2, 2), strides=(2, 2), padding="VALID"):
    dx = np.zeros_like(x)
    for place, elements in windows(x.shape[1:-1], sizes, strides, padding):
        for n, c in np.ndindex(x.shape[0], x.shape[-1]):
            best = elements[int(np.argmax([x[(n, *e, c)] for e in elements]))]
            dx[(n, *best, c)] += dy[(n, *place, c)]
    return dx


def max_pool_second(x, y, g, sizes=(2, 2), strides=(2, 2), padding="VALID"):
    picked = np.zeros_like(y)
    for place, elements in windows(x.shape[1:-1], sizes, strides, padding):
        for n, c in np.ndindex(x.shape[0], x.shape[-1]):
            best = elements[int(np.argmax([x[(n, *e, c)] for e in elements]))]
            picked[(n, *place, c)] = g[(n, *best, c)]
    return picked


def avg_pool_grad(sizes_of_input, dy, sizes=(2, 2), strides=(2, 2), padding="VALID"):
    dx = np.zeros(tuple(sizes_of_input), dy.dtype)
    for place, elements in windows(dx.shape[1:-1], sizes, strides, padding):
        for e in elements:
            dx[(slice(None), *e)] += dy[(slice(None), *place)] / len(elements)
    return dx


def argmax(x, with_batch=False):
    y = max_pool(x)
    numbers = np.arange(x.size if with_batch else x[0].size).reshape(x.shape if with_batch else x.shape[1:])
    return y, max_pool_second(x, y.astype(np.int64), np.broadcast_to(numbers, x.shape).astype(np.int64))


def second(function):
    return lambda *arrays: np.moveaxis(function(*[np.moveaxis(a, 1, -1) for a in arrays]), -1, 1)


def distinct(*shape):
    """No two elements alike, so that a small step changes no maximum."""
    size = int(np.prod(shape))
    return np.random.default_rng(5).permutation(size).reshape(shape).astype(np.float64) / size


X = distinct(2, 4, 5, 3)
X3 = distinct(2, 3, 4, 3, 2).astype(np.float32)
PAIRS = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
WIDE = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
WIDE_ARGS = ((3, 2), (2, 1), "SAME")
THREE = {"ksize": [1, 2, 3, 2, 1], "strides": [1, 1, 2, 1, 1], "padding": "SAME"}
THREE_ARGS = ((2, 3, 2), (1, 2, 1), "SAME")
NCHW = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"}


def like(*arrays):
    return [np.float32(a) for a in arrays]


CASES = [
    OpCase(
        "MaxPool",
        [(2, 4, 5, 3)],
        max_pool,
        attrs=PAIRS,
        dtypes=[*FLOATS, "float16", "bfloat16", "int32", "int64", "uint8", "int8"],
        errors=[
            Error([(2, 3, 4)], ValueError, "Shape must be rank 4 but is rank 3"),
            Error([(2, 1, 4, 3)], ValueError, "Negative dimension size caused by subtracting 2 from 1"),
            Error(
                [(2, 5, 5, 3)],
                ValueError,
                "MaxPool requires the ksize attribute to contain 4 values, but got: 5",
                attrs={"ksize": [1, 2, 2, 1, 1]},
            ),
            Error([(2, 5, 5, 3)], ValueError, "Stride must be > 0, but got 0", attrs={"strides": [1, 0, 1, 1]}),
            Error([(2, 3, 4)], InvalidArgumentError, "tensor_in must be 4-dimensional"),
            Error(
                [(2, 3, 4, 4)],
                UnimplementedError,
                "Pooling is not yet supported on the batch dimension",
                attrs={"ksize": [2, 1, 1, 1]},
            ),
            Error(
                [(2, 3, 4, 4)],
                UnimplementedError,
                "requires the depth window to equal the depth stride",
                attrs={"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 1]},
            ),
            Error(
                [(2, 4, 4, 4)],
                UnimplementedError,
                "exactly one of pooling across depth or pooling across width/height",
                attrs={"ksize": [1, 2, 2, 2], "strides": [1, 2, 2, 2]},
            ),
        ],
    ),
    OpCase("MaxPool", [(2, 4, 5, 3)], lambda x: max_pool(x, *WIDE_ARGS), attrs=WIDE, label="overlapping"),
    OpCase("MaxPool", [(2, 3, 4, 5)], second(max_pool), attrs=NCHW, label="channels second"),
    OpCase(
        "MaxPool",
        [(2, 3, 2, 6)],
        lambda x: x.reshape(2, 3, 2, 2, 3).max(-1),
        attrs={"ksize": [1, 1, 1, 3], "strides": [1, 1, 1, 3], "padding": "VALID"},
        label="over channels",
        numeric=False,
    ),
    OpCase(
        "MaxPoolGrad",
        like(X, max_pool(X), distinct(2, 2, 2, 3)),
        max_pool_grad,
        attrs=PAIRS,
        numeric=False,
        errors=[
            Error(
                [(1, 4, 4, 1), (1, 1, 1, 1), (1, 1, 1, 1)],
                InvalidArgumentError,
                "Expected orig_output shape to be [1,2,2,1]",
            ),
            Error([(1, 4, 4, 1), (1, 2, 2, 1), (1, 1, 1, 1)], InvalidArgumentError, "Expected grad shape to be [1,2,2,1]"),
            Error([(4, 4, 1), (1, 2, 2, 1), (1, 2, 2, 1)], InvalidArgumentError, "tensor_in must be 4-dimensional"),
        ],
    ),
    OpCase(
        "MaxPoolGrad",
        like(X, max_pool(X, *WIDE_ARGS), distinct(2, 2, 5, 3)),
        lambda x, y, dy: max_pool_grad(x, y, dy, *WIDE_ARGS),
        attrs=WIDE,
        numeric=False,
        label="overlapping",
    ),
    OpCase(
        "MaxPoolGrad",
        [np.zeros((1, 4, 4, 1), np.float32), np.zeros((1, 2, 2, 1), np.float32), np.float32([[[[1], [2]], [[3], [4]]]])],
        np.float32([[1, 0, 2, 0], [0, 0, 0, 0], [3, 0, 4, 0], [0, 0, 0, 0]]).reshape(1, 4, 4, 1),
        attrs=PAIRS,
        numeric=False,
        label="of equal elements the first",
    ),
    OpCase(
        "MaxPoolGradGrad",
        like(X, max_pool(X, *WIDE_ARGS), distinct(2, 4, 5, 3)),
        lambda x, y, g: max_pool_second(x, y, g, *WIDE_ARGS),
        attrs=WIDE,
        numeric=False,
        errors=[
            Error([(1, 4, 4, 1), (1, 2, 4, 1), (1, 1, 1, 1)], InvalidArgumentError, "Expected grad shape to be [1,4,4,1]")
        ],
    ),
    OpCase(
        "MaxPoolWithArgmax", [(2, 4, 5, 3)], argmax, attrs=PAIRS, dtypes=FLOATS, second=False, gradient=(), numeric=False
    ),
    OpCase(
        "MaxPoolWithArgmax",
        [(2, 4, 5, 3)],
        lambda x: argmax(x, True),
        attrs={**PAIRS, "include_batch_in_index": True},
        label="in the batch",
        numeric=False,
    ),
    OpCase(
        "MaxPoolGradWithArgmax",
        [*like(X, distinct(2, 2, 2, 3)), argmax(X)[1]],
        lambda x, dy, places: max_pool_grad(x, None, dy),
        attrs=PAIRS,
        numeric=False,
        errors=[
            Error(
                [*like(X, distinct(2, 2, 2, 3)), argmax(X)[1] + 60],
                InvalidArgumentError,
                "argmax must be in [0, 60), but reaches from",
            )
        ],
    ),
    OpCase(
        "MaxPool3D",
        [(2, 3, 4, 3, 2)],
        lambda x: max_pool(x, *THREE_ARGS),
        attrs=THREE,
        dtypes=["float32", "float16"],
        numeric=False,
        errors=[
            Error([(2, 5, 5, 5)], ValueError, "Shape must be rank 5 but is rank 4"),
            Error(
                [(2, 3, 3, 3, 2)],
                UnimplementedError,
                "Pooling is not yet supported on the depth dimension",
                attrs={"ksize": [1, 1, 1, 1, 2]},
            ),
        ],
    ),
    OpCase(
        "MaxPool3DGrad",
        [X3, max_pool(X3, *THREE_ARGS), np.float32(distinct(2, 3, 2, 3, 2))],
        lambda x, y, dy: max_pool_grad(x, y, dy, *THREE_ARGS),
        attrs=THREE,
        numeric=False,
    ),
    OpCase(
        "MaxPool3DGrad",
        [
            np.ones((1, 3, 1, 2, 1), np.float32),
            np.ones((1, 2, 1, 2, 1), np.float32),
            np.float32([1, 2, 3, 4]).reshape(1, 2, 1, 2, 1),
        ],
        np.float32([1, 2, 4, 6, 3, 4]).reshape(1, 3, 1, 2, 1),
        attrs={"ksize": [1, 2, 1, 1, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"},
        label="equal ones",
    ),
    OpCase(
        "MaxPool3DGrad",
        [
            np.ones((1, 3, 1, 2, 1), np.float16),
            np.ones((1, 2, 1, 2, 1), np.float16),
            np.float16([1, 2, 3, 4]).reshape(1, 2, 1, 2, 1),
        ],
        np.float16([1, 2, 3, 4, 0, 0]).reshape(1, 3, 1, 2, 1),
        attrs={"ksize": [1, 2, 1, 1, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"},
        label="equal halves",
    ),
    OpCase(
        "MaxPool3DGradGrad",
        [X3, max_pool(X3, *THREE_ARGS), np.float32(distinct(2, 3, 4, 3, 2))],
        lambda x, y, g: max_pool_second(x, y, g, *THREE_ARGS),
        attrs=THREE,
        numeric=False,
    ),
    OpCase("AvgPool", [(2, 4, 5, 3)], avg_pool, attrs=PAIRS, dtypes=[*FLOATS, "float16", "bfloat16"]),
    OpCase("AvgPool", [(2, 4, 5, 3)], lambda x: avg_pool(x, *WIDE_ARGS), attrs=WIDE, label="overlapping"),
    OpCase("AvgPool", [(2, 3, 4, 5)], second(avg_pool), attrs=NCHW, label="channels second"),
    OpCase(
        "AvgPoolGrad",
        [np.int32([2, 4, 5, 3]), (2, 2, 2, 3)],
        avg_pool_grad,
        attrs=PAIRS,
        dtypes=FLOATS,
        errors=[
            Error([np.int32([4, 4, 1]), (1, 2, 2, 1)], ValueError, "Shape must be rank 4 but is rank 3", constants=True),
            Error([np.int32([4, 4, 1]), (1, 2, 2, 1)], InvalidArgumentError, "must be 1-dimensional and 4 elements"),
            Error([np.int32([1, 4, 4, 1]), (1, 2, 2)], InvalidArgumentError, "out_backprop must be 4-dimensional"),
            Error([np.int32([1, 4, 4, 2]), (1, 2, 2, 1)], InvalidArgumentError, "to be [1,2,2,2], but got [1,2,2,1]"),
            Error([np.int32([3, 4, 4, 1]), (1, 2, 2, 1)], InvalidArgumentError, "to be [3,2,2,1], but got [1,2,2,1]"),
        ],
    ),
    OpCase(
        "AvgPoolGrad",
        [np.int32([2, 4, 5, 3]), (2, 2, 5, 3)],
        lambda s, dy: avg_pool_grad(s, dy, *WIDE_ARGS),
        attrs=WIDE,
        label="overlapping",
    ),
    OpCase("AvgPool3D", [(2, 3, 4, 3, 2)], lambda x: avg_pool(x, *THREE_ARGS), attrs=THREE, dtypes=FLOATS),
    OpCase(
        "AvgPool3DGrad",
        [np.int32([2, 3, 4, 3, 2]), (2, 3, 2, 3, 2)],
        lambda s, dy: avg_pool_grad(s, dy, *THREE_ARGS),
        attrs=THREE,
        dtypes=FLOATS,
    ),
]
test_rows = op_tests(CASES)


def test_gradients_of_max_pool_in_three_dimensions() -> None:
    """In the types that TensorFlow has for it; rows differentiate in float64."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X3)
        y = tf.nn.max_pool3d(x, THREE["ksize"], THREE["strides"], "SAME")
        first = tf.gradients(y * y, x)[0]
        second_one = tf.gradients(first, x)[0]
        actual, twice, maxima = session.run([first, second_one, y])
    np.testing.assert_allclose(actual, max_pool_grad(X3, maxima, 2 * maxima, *THREE_ARGS), rtol=1e-5)
    wanted = 2 * max_pool_grad(X3, maxima, np.ones_like(maxima), *THREE_ARGS)
    np.testing.assert_allclose(twice, wanted, rtol=1e-5)


def test_argmax_gradient_goes_where_the_maximum_was() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(X)
        y, _ = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", Targmax=tf.int32)
        actual = session.run(tf.gradients(y, x)[0])
    np.testing.assert_array_equal(actual, max_pool_grad(X, None, np.ones((2, 2, 2, 3))))


_WITH_NAN = np.array([[np.nan, 1, 2, 3], [1, np.nan, 2, 0], [1, 2, 0, np.nan], [np.nan] * 4], np.float32).reshape(1, 4, 4, 1)


def test_nan_is_passed_over() -> None:
    """As TensorFlow's kernels do; the gradient goes to what was the largest. Padding never wins."""
    x = np.full((1, 2, 2, 1), -np.inf, np.float32)
    x[0, 0] = np.nan
    with tf.Graph().as_default(), tf.Session() as session:
        values = session.run(tf.nn.max_pool(x, [1, 1, 2, 1], [1, 1, 1, 1], "SAME"))
        assert np.isnan(values[0, 0]).all() and (values[0, 1] == -np.inf).all()
        for size, stride, padding, wanted in (
            (2, 2, "VALID", [1, 3, 2, 0]),
            (3, 1, "SAME", [1, 2, 3, 3, 2, 2, 3, 3, 2, 2, 2, 2, 2, 2, 2, 0]),
        ):
            largest = tf.nn.max_pool(_WITH_NAN, [1, size, size, 1], [1, stride, stride, 1], padding)
            assert session.run(largest).ravel().tolist() == wanted
        fed = tf.constant(_WITH_NAN)
        gradient = tf.gradients(tf.nn.max_pool(fed, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), fed)[0]
        assert np.flatnonzero(session.run(gradient)).tolist() == [1, 3, 9, 10]


def test_a_first_nan_is_the_largest_where_places_are_asked_for() -> None:
    x = np.concatenate([_WITH_NAN, _WITH_NAN + 1])
    for size, stride, padding, values, places in (
        (2, 2, "VALID", [np.nan, 3, 2, 0], [0, 3, 9, 10]),
        (
            3,
            1,
            "SAME",
            [np.nan, np.nan, *[3] * 2] * 2 + [2, 2, np.nan, *[2] * 4, 0],
            [0, 0, 3, 3] * 2 + [9, 6, 5, 6, 9, 9, 9, 10],
        ),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            found = tf.nn.max_pool_with_argmax(
                x, [1, size, size, 1], [1, stride, stride, 1], padding, include_batch_in_index=True
            )
            largest, where = (part.reshape(2, -1) for part in session.run(found))
        np.testing.assert_array_equal(largest, [values, np.add(values, 1)])
        assert where.tolist() == [places, [place + 16 for place in places]]


def test_an_infinite_gradient_reaches_the_largest_element_alone() -> None:
    x = np.arange(30, dtype=np.float32).reshape(1, 5, 6, 1)
    for size, stride in ((2, 2), (3, 2)):
        y, laid = max_pool(x, (size, size), (stride, stride)), [1, stride, stride, 1]
        grad = np.full_like(y, np.inf)
        dx = tf.raw_ops.MaxPoolGrad(
            orig_input=x, orig_output=y, grad=grad, ksize=[1, size, size, 1], strides=laid, padding="VALID"
        )
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(dx), np.where(np.isin(x, y), np.inf, 0))


@pytest.mark.parametrize(("size", "stride"), [(2, 1), (3, 1), (3, 2), (5, 2)])
def test_of_equal_elements_the_first_has_the_gradient_where_windows_overlap(size: int, stride: int) -> None:
    random = np.random.default_rng(size * stride)
    x = random.integers(3, size=(2, 7, 11, 3)).astype(np.float32)
    args = (size, size), (stride, stride), "SAME"
    y = max_pool(x, *args)
    grad = random.integers(1, 100, y.shape).astype(np.float32)
    dx = tf.raw_ops.MaxPoolGrad(
        orig_input=x, orig_output=y, grad=grad, ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding="SAME"
    )
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(dx), max_pool_grad(x, y, grad, *args))


def test_maxima_and_their_places_have_names() -> None:
    found = tf.nn.max_pool_with_argmax(np.zeros((1, 4, 6, 1), np.float32), [1, 2, 2, 1], [1, 2, 3, 1], "VALID")
    assert found.output is found[0] and found.argmax.dtype == tf.int64


def test_sizes_of_windows() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    for size in (0, [1, 0, 2, 1]):
        with pytest.raises(ValueError, match="ksize cannot be zero"):
            tf.nn.max_pool(x, size, 1, "SAME")
    with tf.Session() as session:
        found = session.run(tf.nn.max_pool_with_argmax(x, 2, [2, 2], "VALID")[1])
    assert found.ravel().tolist() == [5, 7, 13, 15]
