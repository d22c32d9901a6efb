"""Rows of the segment reductions and of the special functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

SORTED = np.int32([0, 0, 2, 2, 2])
UNSORTED = np.int32([2, 0, -1, 0, 2])
NUMBERS = ["float32", "float64", "int32"]


def segments(combine, empty):
    def reference(data, ids, count=None):
        n = int(ids.max()) + 1 if count is None else int(count)
        rows = []
        for i in range(n):
            members = [data[j] for j in range(len(ids)) if ids[j] == i]
            rows.append(combine(np.stack(members)) if members else np.full(data.shape[1:], empty(data.dtype)))
        return np.stack(rows).astype(data.dtype)

    return reference


def zero(dtype):
    return 0


def one(dtype):
    return 1


def lowest(dtype):
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def highest(dtype):
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


def truncated_mean(rows):
    mean = np.sum(rows.astype(np.float64), 0) / len(rows)
    return np.trunc(mean) if rows.dtype.kind == "i" else mean


SORTED_ERRORS = [
    Error([(5, 3), np.int32([0, 2, 1, 3, 4])], InvalidArgumentError, "segment ids are not increasing"),
    Error([(5, 3), np.int32([-1, 2, 2, 3, 4])], InvalidArgumentError, "Segment id -1 out of range [0, 5)"),
    Error([(5, 3), np.int32([0, 1])], InvalidArgumentError, "segment_ids should be the same size as dimension 0 of input"),
    Error([(5, 3), np.zeros((5, 3), np.int32)], ValueError, "Shape must be rank 1 but is rank 2"),
]
CASES = [
    OpCase(
        op,
        [(5, 3), SORTED],
        segments(combine, empty),
        dtypes=NUMBERS,
        static_shape=[[None, 3]],
        errors=SORTED_ERRORS,
        **more,
    )
    for op, combine, empty, more in (
        ("SegmentSum", lambda rows: np.sum(rows, 0), zero, {}),
        ("SegmentMean", truncated_mean, zero, {}),
        ("SegmentProd", lambda rows: np.prod(rows, 0), one, {"low": 0.5}),
        ("SegmentMax", lambda rows: np.max(rows, 0), zero, {"second": False}),
        ("SegmentMin", lambda rows: np.min(rows, 0), zero, {"second": False}),
    )
]
UNSORTED_ERRORS = [
    Error(
        [(5, 3), np.int32([0, 1, 2, 3, 1]), np.int32(3)], InvalidArgumentError, "segment_ids[3] = 3 is out of range [0, 3)"
    ),
    Error([(5, 3), np.int32([0, 1]), np.int32(3)], ValueError, "Dimensions must be equal, but are 5 and 2"),
    Error([(5, 3), UNSORTED, np.int32([3])], ValueError, "Shape must be rank 0 but is rank 1"),
]
CASES += [
    OpCase(op, [(5, 3), UNSORTED, np.int32(3)], segments(combine, empty), dtypes=NUMBERS, errors=UNSORTED_ERRORS, **more)
    for op, combine, empty, more in (
        ("UnsortedSegmentSum", lambda rows: np.sum(rows, 0), zero, {}),
        ("UnsortedSegmentProd", lambda rows: np.prod(rows, 0), one, {"low": 0.5}),
        ("UnsortedSegmentMax", lambda rows: np.max(rows, 0), lowest, {"numeric": False}),
        ("UnsortedSegmentMin", lambda rows: np.min(rows, 0), highest, {"numeric": False}),
    )
]
# Without empty segments, whose enormous elements would drown every difference.
CASES += [
    OpCase(op, [(5, 3), np.int32([1, 0, -1, 0, 1]), np.int32(2)], segments(combine, zero), label="full", second=False)
    for op, combine in (
        ("UnsortedSegmentMax", lambda rows: np.max(rows, 0)),
        ("UnsortedSegmentMin", lambda rows: np.min(rows, 0)),
    )
]
CASES.append(
    OpCase(
        "UnsortedSegmentSum",
        [(2, 2, 3), np.int32([[0, 1], [1, 0]]), np.int32(2)],
        lambda x, ids, n: np.stack([x[0, 0] + x[1, 1], x[0, 1] + x[1, 0]]),
        label="matrix of ids",
    )
)
test_rows = op_tests(CASES)


def taylor_erf(x):
    return 2 / math.sqrt(math.pi) * sum((-1) ** n * x ** (2 * n + 1) / (math.factorial(n) * (2 * n + 1)) for n in range(40))


# What the series of digamma is summed over: its rest is below the tolerance.
_K = np.arange(200_000)


def slow_zeta(s, q):
    """The first terms, and the rest by an integral with its first corrections."""
    n = 200
    total = sum((q + k) ** -s for k in range(n))
    end = q + n
    return total + end ** (1 - s) / (s - 1) + 0.5 * end**-s + s * end ** (-s - 1) / 12


SPECIAL = [
    OpCase("Erf", [(2, 3)], taylor_erf, dtypes=["float32", "float64"], tolerance=1e-5),
    OpCase("Erfc", [(2, 3)], lambda x: 1 - taylor_erf(x), dtypes=["float32", "float64"], tolerance=1e-5),
    OpCase("Erf", [np.float64([-np.inf, 0, np.inf])], np.float64([-1, 0, 1]), label="far"),
    OpCase(
        "Lgamma",
        [np.float64([1, 2, 5, 0.5, 0, -1, -np.inf, 1.7e308, -0.5])],
        np.float64([0, 0, math.log(24), math.log(math.pi) / 2, *[np.inf] * 4, math.log(2 * math.sqrt(math.pi))]),
    ),
    OpCase(
        "Lgamma",
        [(2, 3)],
        lambda x: np.log([[math.gamma(v) for v in row] for row in x]).astype(x.dtype),
        low=0.5,
        high=5,
        label="drawn",
        dtypes=["float32", "float64"],
        gradient_tolerance=1e-4,
    ),
    OpCase(
        "Digamma",
        [np.float64([1, 2, 0.5, -0.5, 0, -0.0, -3, -np.inf])],
        np.float64(
            [-np.euler_gamma, 1 - np.euler_gamma, -np.euler_gamma - 2 * math.log(2), 0.0364899739785765, *[np.inf] * 4]
        ),
    ),
    OpCase(
        "Digamma",
        [(2, 3)],
        lambda x: -np.euler_gamma - np.sum(1 / (x[..., np.newaxis] + _K) - 1 / (_K + 1.0), axis=-1),
        low=0.5,
        high=3,
        label="drawn",
        tolerance=1e-4,
        gradient_tolerance=1e-4,
    ),
    OpCase(
        "Polygamma",
        [np.float64([0, 1, 2]), np.float64([1, 1, 1])],
        np.float64([-np.euler_gamma, math.pi**2 / 6, -2 * 1.2020569031595942]),
    ),
    OpCase(
        "Polygamma",
        [np.float64(2), (2, 3)],
        lambda n, x: -2 * slow_zeta(3, x),
        low=0.5,
        high=4,
        label="drawn",
        dtypes=["float64"],
        gradient=[1],
        tolerance=1e-8,
        gradient_tolerance=1e-4,
    ),
]
test_special = op_tests(SPECIAL)


def test_means_of_unsorted_segments() -> None:
    data, ids = np.arange(10.0).reshape(5, 2), [2, 0, 2, 0, 2]
    with tf.Graph().as_default(), tf.Session() as session:
        mean = session.run(tf.unsorted_segment_mean(data, ids, 4))
        root = session.run(tf.unsorted_segment_sqrt_n(data, ids, 4))
    assert mean == pytest.approx(np.array([[4, 5], [0, 0], [4, 5], [0, 0]]))
    assert root == pytest.approx(np.array([[8, 10], [0, 0], [12, 15], [0, 0]]) / np.sqrt([[2], [1], [3], [1]]))


@pytest.mark.parametrize(("function", "is_further"), [("max", np.less), ("min", np.greater)])
def test_nan_in_unsorted_segments(function, is_further) -> None:
    """The largest so far gives way unless it is larger: so NaN comes and goes."""
    rng = np.random.default_rng(7)
    data, ids = rng.normal(size=(23, 2, 3)), rng.integers(-1, 4, (23, 2))
    data[rng.random(data.shape) < 0.3] = np.nan
    found = getattr(tf.math, f"unsorted_segment_{function}")(data, ids, 5)
    largest = np.finfo(np.float64).max
    wanted = np.full((5, 3), -largest if function == "max" else largest)
    for place in np.ndindex(23, 2, 3):
        number, value = ids[place[:2]], data[place]
        if number >= 0 and not is_further(value, wanted[number, place[2]]):
            wanted[number, place[2]] = value
    assert np.isnan(wanted).any() and not np.isnan(wanted).all()
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(found), wanted)


def test_empty_segments_of_bfloat16_have_its_limits() -> None:
    data = tf.constant([2.5, 1.0], tf.bfloat16)
    with tf.Session() as session:
        most, least = session.run([tf.unsorted_segment_max(data, [1, 1], 2), tf.unsorted_segment_min(data, [1, 1], 2)])
    np.testing.assert_array_equal(most, [tf.bfloat16.min, 2.5])
    np.testing.assert_array_equal(least, [tf.bfloat16.max, 1.0])


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([-1, -1, 0, 0], r"Segment id -1 out of range \[0, 1\), possibly because 'segment_ids' input is not sorted\."),
        ([0, 1, 2, 0], r"Segment id 1 out of range \[0, 1\), possibly"),
        ([0, 1, 0, 1], "segment ids are not increasing"),
        ([0, 0, 0, -1], "segment ids must be >= 0"),
    ],
)
def test_the_first_run_of_ids_that_is_wrong_is_told(ids: list[int], text: str) -> None:
    data = np.ones((4, 2), np.float32)
    with tf.Session() as session:
        for result in (tf.segment_sum(data, ids), tf.sparse_segment_mean(data, [0, 1, 2, 3], ids)):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(result)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16], ids=lambda dtype: dtype.name)
def test_nan_in_sorted_segments_is_left_out_where_it_is_not_alone(dtype: tf.DType) -> None:
    nan = np.nan
    rows, ids = [[nan, 2], [1, nan], [3, 5], [nan, 7], [nan, nan], [nan, 1]], [0, 0, 0, 1, 3, 3]
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.cast(tf.constant(rows, tf.float64), dtype)
        least, most = session.run([tf.cast(f(data, ids), tf.float64) for f in (tf.segment_min, tf.segment_max)])
    np.testing.assert_array_equal(least, [[1, 2], [nan, 7], [0, 0], [np.inf, 1]])
    np.testing.assert_array_equal(most, [[3, 5], [nan, 7], [0, 0], [-np.inf, 1]])


@pytest.mark.parametrize("ids", ["int32", "int64"])
@pytest.mark.parametrize("count", ["int32", "int64"])
@pytest.mark.parametrize("shape", [None, [3, 2]], ids=["unknown", "known"])
def test_means_of_segments_of_either_index_type_differentiate(ids: str, count: str, shape: list[int] | None) -> None:
    """As TensorFlow 2.21 has it: the number of segments has a type of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, segments = tf.placeholder(tf.float32, shape), tf.placeholder(ids, [3])
        mean = tf.unsorted_segment_mean(x, segments, tf.placeholder_with_default(np.array(3, count), []))
        (gradient,) = tf.gradients(mean * mean, x)
        feeds = {x: [[1, 2], [3, 4], [5, 6]], segments: [0, 2, 0]}
        values = session.run([mean, gradient], feeds)
    assert values[0].tolist() == [[3, 4], [0, 0], [3, 4]]
    assert values[1].tolist() == [[3, 4], [6, 8], [3, 4]]
