"""Kernels that go another way for large or repeated inputs give what the plain way gives, bit for bit."""

from __future__ import annotations

import contextlib
import functools
import math
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import workers


def _run(make: Any, *arrays: np.ndarray) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = {tf.placeholder(a.dtype, a.shape): a for a in arrays}
        fetches = make(*feeds)
        for _ in range(3):  # node by node first, then as generated code
            values = session.run(fetches, feeds)
        return values


@pytest.mark.parametrize("shape", [(1009, 101), (100_003,), (1, 100_003), (100_003, 1)])
def test_pieces(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(1)
    x, y = (random.standard_normal(shape).astype(np.float32) for _ in range(2))
    row = y[:1] if len(shape) > 1 else y[0]
    sigmoid, squared, rows = _run(
        lambda a, b: (tf.sigmoid(a), tf.squared_difference(a, b), tf.squared_difference(a, b[:1])), x, y
    )
    one = np.float32(1)
    np.testing.assert_array_equal(sigmoid, one / (one + np.exp(-x)))
    np.testing.assert_array_equal(squared, (x - y) ** 2)
    np.testing.assert_array_equal(rows, (x - row) ** 2)


@pytest.mark.parametrize("shape", [(1009, 101), (100_003,), (7, 100_003), (3, 5, 7, 1009), (11, 3), (5, 7, 10), (50_021, 7)])
def test_softmax_in_pieces(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    softmax, logs = _run(lambda a: (tf.nn.softmax(a), tf.nn.log_softmax(a)), x)
    wide = x.astype(np.float64)
    expected = np.exp(wide) / np.exp(wide).sum(-1, keepdims=True)
    np.testing.assert_allclose(softmax, expected, 1e-5)
    np.testing.assert_allclose(logs, np.log(expected), 1e-5)


@pytest.mark.parametrize("lowest", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8])
def test_top_k_takes_the_first_of_equals(dtype: Any, lowest: bool) -> None:
    x = np.random.default_rng(3).integers(0, 5, (11, 31)).astype(dtype)
    if lowest:
        x[3, 2:] = -np.inf if dtype is np.float32 else np.iinfo(dtype).min
    values, indices = _run(lambda a: tf.nn.top_k(a, 7), x)
    order = np.argsort(-x.astype(np.float64), -1, kind="stable")[:, :7]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, -1))


@pytest.mark.parametrize("times", [2, 5, 9])
def test_repeated_rows_in_turn(times: int) -> None:
    """Up to some repetitions in rounds, for more by `ufunc.at`: the order of additions is the same."""
    random = np.random.default_rng(4)
    table, updates = (random.standard_normal((n, 5)).astype(np.float32) for n in (7, 3 * times))
    indices = np.tile([4, 0, 6], times).astype(np.int32)
    expected = table.copy()
    np.add.at(expected, indices, updates)
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(table)
        session.run(variable.initializer)
        np.testing.assert_array_equal(session.run(tf.scatter_add(variable, indices, updates)), expected)
        halved = session.run(tf.scatter_mul(variable, indices, 0.5))
    np.testing.assert_array_equal(halved[[4, 0, 6]], expected[[4, 0, 6]] * np.float32(0.5**times))


@pytest.mark.parametrize("dims", [(1, 17, 53), (3, 17, 53), (31, 17, 53), (0, 17, 53), (5, 1, 53), (31, 523, 263)], ids=str)
@pytest.mark.parametrize("threads", [contextlib.nullcontext, workers.alone], ids=["of BLAS", "of the step"])
def test_products_with_few_rows_or_of_a_column(dims: tuple[int, int, int], threads: Any) -> None:
    rows, inner, columns = dims
    random = np.random.default_rng(5)
    a, b = random.standard_normal((rows, inner)), random.standard_normal((columns, inner))
    with threads():
        product = _run(lambda x, y: tf.matmul(x, y, transpose_b=True), a, b)
    np.testing.assert_allclose(product, a @ b.T, 1e-11, 1e-11)


def test_no_numbers_as_strings() -> None:
    assert _run(tf.as_string, np.zeros((0, 3), np.int64)).shape == (0, 3)
    assert _run(tf.as_string, np.array([[-3], [40]])).tolist() == [[b"-3"], [b"40"]]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_error_function_of_floats_is_the_nearest_number(dtype: Any) -> None:
    x = np.concatenate([np.random.default_rng(4).uniform(-5, 5, 20_000), [0.0, -0.0, 1e-30, np.inf, -np.inf, np.nan]])
    x = x.astype(dtype)
    expected = np.vectorize(math.erf)(x.astype(np.float64)).astype(dtype)
    for found in (_run(tf.erf, x), _run(lambda a: tf.erf(tf.tile(a, [4]))[: len(x)], x)):
        np.testing.assert_array_max_ulp(found[:-1], expected[:-1], 1)
        assert np.count_nonzero(found != expected) < 20
        assert np.isnan(found[-1])
        assert np.array_equal(np.signbit(found[:-1]), np.signbit(expected[:-1]))


@pytest.mark.parametrize("odd", [b"-12", b" 7", b"9223372036854775807", b"-1000000000000000000", b"000000000000000000012"])
def test_integers_that_are_read_together(odd: bytes) -> None:
    numbers = [sign * 10**digits // 7 for digits in range(18) for sign in (1, -1)] * 20
    texts = np.array([odd, b"+5", *(b"%d" % number for number in numbers)], object)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.string_to_number(tf.constant(texts, tf.string), tf.int64))
    assert found.tolist() == [int(odd), 5, *numbers]


def test_decimals_of_records_are_the_nearest_numbers() -> None:
    whole = np.random.default_rng(5).integers(-(10**8), 10**8, 700)
    texts = [f"{number / 10 ** (i % 8):.{i % 8}f}" for i, number in enumerate(whole.tolist())] + [".5", "-0.", "+3.25"]
    records = np.array([f"{text},x.y,{text}".encode() for text in texts], object)
    with tf.Graph().as_default(), tf.Session() as session:
        columns = tf.decode_csv(tf.constant(records, tf.string), [tf.constant([0.0], tf.float64), [""], [0.0]])
        first, _, last = session.run(columns)
    np.testing.assert_array_equal(first, [float(text) for text in texts])
    np.testing.assert_array_equal(last, np.float32(first))
    assert np.signbit(first[-2])


@pytest.mark.parametrize(("old", "new"), [((70, 41), (113, 90)), ((191, 150), (61, 53)), ((3, 5), (301, 7))])
def test_images_are_resized_by_blocks(old: tuple[int, int], new: tuple[int, int]) -> None:
    images = np.random.default_rng(6).standard_normal((3, *old, 67)).astype(np.float32)
    for settings in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
        resize = functools.partial(tf.raw_ops.ResizeBilinear, size=new, **settings)
        whole = _run(lambda x, resize=resize: resize(images=x), images)
        parts = [
            _run(lambda x, resize=resize: resize(images=x), images[i : i + 1, :, :, c : c + 1]) for i, c in ((0, 0), (2, 66))
        ]
        np.testing.assert_array_equal(whole[:1, :, :, :1], parts[0])
        np.testing.assert_array_equal(whole[2:, :, :, 66:], parts[1])
