"""oneDNN beside NumPy: the same results, what it has no code for, and what is said where it is missing."""

from __future__ import annotations

import ctypes
import functools
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.windows import lay_windows
from tfexp.runtime import libraries
from tfexp.runtime.libraries import lacks_onednn, with_onednn
from tfexp.runtime.onednn import kernels

needs_onednn = pytest.mark.skipif(lacks_onednn() is not None, reason=str(lacks_onednn()))
Function = Callable[..., Any]


def _floats(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def _both(function: Function, *arrays: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], str]:
    """What NumPy and oneDNN make of the function and its gradients, and the plan of the latter."""
    results, plan = [], ""
    for config in (None, with_onednn()):
        with tf.Graph().as_default():
            fed = [tf.placeholder(array.dtype, array.shape) for array in arrays]
            y = function(*fed)
            values, feeds = [y, *tf.gradients(tf.sin(y), fed)], dict(zip(fed, arrays, strict=True))
            with tf.Session(config=config) as session:
                for _ in range(3):
                    result = session.run(values, feeds)
                results.append(result)
                plan = repr(session.explain(values, feeds))
    return results[0], results[1], plan


def _check(computed: int, function: Function, *arrays: np.ndarray) -> str:
    """The same, with this many nodes by oneDNN; returns the plan."""
    ours, theirs, plan = _both(function, *arrays)
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * np.abs(one).max(initial=1))
    assert plan.count("[direct: oneDNN]") == computed, plan
    return plan


def _conv(*strides: int, padding: str = "SAME", **more: Any) -> Function:
    return lambda x, w: tf.nn.conv2d(x, w, [1, *strides, 1], padding, **more)


@needs_onednn
@pytest.mark.parametrize(
    ("function", "x", "w"),
    [
        (_conv(1, 1), (3, 11, 13, 5), (3, 3, 5, 7)),
        (_conv(2, 3), (3, 11, 13, 5), (3, 2, 5, 7)),
        (_conv(1, 1, padding="VALID", dilations=[1, 2, 3, 1]), (2, 11, 13, 3), (2, 3, 3, 5)),
        (_conv(1, 1), (2, 7, 11, 6), (3, 3, 2, 9)),
        (_conv(1, 1), (2, 5, 7, 3), (1, 1, 3, 5)),
        (lambda x, w: tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], "SAME"), (2, 5, 3, 7, 2), (2, 3, 3, 2, 3)),
        (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), (3, 11, 7, 5), (3, 3, 5, 1)),
        (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "VALID"), (3, 11, 7, 5), (3, 2, 5, 2)),
        (_conv(1, 1), (16, 28, 28, 16), (5, 5, 16, 8)),
    ],
    ids=["same", "strides", "dilations", "groups", "pointwise", "3d", "depthwise", "multiplier", "shared"],
)
def test_convolutions_and_their_gradients(function: Function, x: tuple[int, ...], w: tuple[int, ...]) -> None:
    _check(3, function, _floats(*x), _floats(*w))


def _finished(*ends: Function, **more: Any) -> Function:
    """A convolution and what follows it, of x, filters and a bias."""
    return lambda x, w, b: functools.reduce(lambda y, end: end(y, b), ends, _conv(1, 1, **more)(x, w))


def _rectified(y: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return tf.nn.relu(y)


@needs_onednn
@pytest.mark.parametrize(
    ("function", "left"),
    [
        (_finished(tf.nn.bias_add, _rectified), set()),
        (_finished(tf.add, _rectified), set()),
        (_finished(_rectified), set()),
        (_finished(tf.nn.bias_add, tf.nn.bias_add), {"BiasAdd"}),
        (_finished(_rectified, tf.nn.bias_add), {"BiasAdd"}),
        (_finished(lambda y, b: tf.add(b, y)), {"AddV2"}),
        (_finished(lambda y, b: y + tf.nn.relu(y)), {"Relu", "AddV2"}),
        (_finished(lambda y, b: y + b[:1]), {"AddV2"}),
    ],
    ids=["bias, relu", "sum, relu", "relu", "two biases", "relu, bias", "other way round", "two readers", "one number"],
)
def test_bias_and_relu_that_a_convolution_computes(function: Function, left: set[str]) -> None:
    x, w, b = _floats(3, 11, 13, 5), _floats(3, 3, 5, 7), _floats(7)
    plan = _check(3, lambda x, w, b: function(x, w, b) * tf.reduce_mean(b), x, w, b)
    assert set(re.findall(r"= (BiasAdd|AddV2|Relu)\(", plan)) == left, plan


@needs_onednn
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("where", [0, 1, 2], ids=["image", "filters", "bias"])
def test_a_relu_that_a_convolution_computes_lets_nan_through(special: float, where: int) -> None:
    arrays = [np.ones((2, 5, 7, 16), np.float32), -np.ones((3, 3, 16, 16), np.float32), np.zeros(16, np.float32)]
    arrays[where].reshape(-1)[[0, 5]] = special, -special
    ours, theirs, _ = _both(_finished(tf.nn.bias_add, _rectified, padding="VALID"), *arrays)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5)


@needs_onednn
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_products(transpose_a: bool, transpose_b: bool) -> None:
    a, b = _floats(257, 521), _floats(521, 131)
    turned = (a.T.copy() if transpose_a else a), (b.T.copy() if transpose_b else b)
    _check(3, lambda a, b: tf.matmul(a, b, transpose_a, transpose_b), *turned)


def _pool(kind: str, size: list[int], strides: list[int], padding: str) -> Function:
    return lambda x: getattr(tf.nn, kind)(x, [1, *size, 1], [1, *strides, 1], padding)


@needs_onednn
@pytest.mark.parametrize("kind", ["max_pool", "avg_pool"])
@pytest.mark.parametrize(
    ("size", "strides", "padding", "x"),
    [
        ([2, 2], [2, 2], "VALID", (3, 12, 14, 5)),
        ([3, 2], [2, 1], "SAME", (3, 11, 13, 5)),
        ([1, 2], [3, 2], "SAME", (2, 7, 9, 16)),
        ([2, 3, 2], [2, 2, 1], "SAME", (2, 5, 7, 3, 4)),
        ([17, 16], [3, 2], "SAME", (3, 19, 18, 5)),
        ([2, 2], [2, 2], "SAME", (31, 17, 17, 32)),
    ],
    ids=["covering", "overlapping", "gaps", "3d", "of more than 256", "shared"],
)
def test_pooling_and_its_gradients(kind: str, size: list[int], strides: list[int], padding: str, x: tuple[int, ...]) -> None:
    function = _pool(f"{kind}3d" if len(size) == 3 else kind, size, strides, padding)
    plan = _check(2, function, _floats(*x))
    assert plan.count("/left = _Array(") == (kind == "max_pool")


@needs_onednn
@pytest.mark.parametrize("strides", [[2, 2], [1, 1]])
def test_maxima_of_what_is_no_number_and_of_equals(strides: list[int]) -> None:
    """oneDNN has the least finite number for the largest of nothing but NaN or -inf."""
    image = np.random.default_rng(5).integers(3, size=(3, 8, 8, 5)).astype(np.float32)
    image[0, :4], image[1, :4], image[2, ::2] = np.nan, -np.inf, np.nan
    ours, theirs, plan = _both(_pool("max_pool", [2, 2], strides, "SAME"), image)
    assert plan.count("[direct: oneDNN]") == 2
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@needs_onednn
@pytest.mark.parametrize(
    ("function", "x", "dtype"),
    [
        (_conv(1, 1), (3, 5, 7, 2), np.float64),
        (_conv(1, 1), (3, 5, 7, 2), np.float16),
        (_conv(1, 1, data_format="NCHW"), (3, 2, 5, 7), np.float32),
        (_conv(1, 1), (0, 5, 7, 2), np.float32),
    ],
    ids=["float64", "float16", "NCHW", "empty"],
)
def test_what_it_lacks_is_left_to_numpy(function: Function, x: tuple[int, ...], dtype: Any) -> None:
    _check(0, function, _floats(*x, dtype=dtype), _floats(3, 3, 2, 3, dtype=dtype))


@needs_onednn
def test_steps_at_the_same_time_and_batches_of_other_sizes() -> None:
    x = tf.placeholder(tf.float32, [None, 7, 5, 3])
    y = tf.nn.conv2d(x, _floats(3, 3, 3, 11), [1, 1, 1, 1], "SAME")
    batches = [np.random.default_rng(n).standard_normal((n, 7, 5, 3)).astype(np.float32) for n in (1, 2, 5, 2, 1, 5, 3)]
    with tf.Session() as session:
        wanted = [session.run(y, {x: batch}) for batch in batches]
    with tf.Session(config=with_onednn()) as session, ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            for one, other in zip(wanted, pool.map(lambda batch: session.run(y, {x: batch}), batches), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@needs_onednn
def test_it_computes_in_the_calling_thread_alone() -> None:
    """OpenMP's threads would be in the way of the intra-op threads, and look for work long after theirs is done."""
    openmp = ctypes.PyDLL("libgomp.so.1")
    usual, threads = openmp.omp_get_max_threads(), set(os.listdir("/proc/self/task"))
    openmp.omp_set_num_threads(3)
    try:
        call = kernels.convolve(4, 16, 16, 1, lay_windows((7, 7), (3, 3), (1, 1), (1, 1), "SAME"))
        assert call is not None
        call.function(_floats(4, 7, 7, 16), _floats(3, 3, 16, 16))
    finally:
        openmp.omp_set_num_threads(usual)
    assert set(os.listdir("/proc/self/task")) <= threads


@needs_onednn
def test_what_is_not_finite_spoils_its_windows_alone() -> None:
    image = np.ones((1, 7, 7, 16), np.float32)
    image[0, 0, 0], image[0, 6, 6] = np.nan, np.inf
    ours, theirs, _ = _both(_conv(1, 1), image, np.ones((3, 3, 16, 16), np.float32))
    np.testing.assert_array_equal(ours[0], theirs[0])


def test_a_session_that_asks_for_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "lacks_onednn", lambda: "oneDNN is not installed: pip install 'tfexp[onednn]'")
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"'onednn': oneDNN is not installed: pip install 'tfexp\[onednn\]'"
    ):
        tf.Session(config=with_onednn())


def test_other_options_stay() -> None:
    config = with_onednn(with_onednn(tf.ConfigProto(intra_op_parallelism_threads=1)))
    assert config.intra_op_parallelism_threads == 1
    assert [o.name for o in config.graph_options.rewrite_options.custom_optimizers] == ["onednn"]
