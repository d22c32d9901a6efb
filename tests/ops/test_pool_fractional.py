"""Rows of fractional pooling; the reference looks at each region."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError, UnimplementedError

# Recorded from TensorFlow: 11 rows in 7 regions and 13 columns in 7, for (pseudorandom, seed, second seed).
RATIO = [1.0, 1.44, 1.73, 1.0]
LAID = {
    (True, 7, 8): ([0, 1, 3, 4, 6, 8, 9, 11], [0, 2, 4, 6, 7, 9, 11, 13]),
    (True, -4, 9): ([0, 2, 3, 5, 6, 8, 10, 11], [0, 2, 3, 5, 7, 9, 11, 13]),
    (False, 7, 8): ([0, 1, 3, 4, 6, 7, 9, 11], [0, 2, 4, 6, 7, 9, 11, 13]),
    (False, 123456789, 8589934597): ([0, 1, 2, 4, 6, 8, 9, 11], [0, 2, 3, 5, 7, 9, 11, 13]),
}
ROWS, COLUMNS = np.int64([0, 1, 3, 5]), np.int64([0, 2, 3, 4, 6, 7])
SIZES = np.int64([2, 5, 7, 3])


def regions(rows, columns, overlapping):
    """(place of the region, its places)"""
    for i, j in np.ndindex(len(rows) - 1, len(columns) - 1):
        yield (
            (slice(None), i, j),
            (slice(None), slice(rows[i], rows[i + 1] + overlapping), slice(columns[j], columns[j + 1] + overlapping)),
        )


def pooled(function, x, rows, columns, overlapping):
    y = np.zeros((x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]), x.dtype)
    for place, region in regions(rows, columns, overlapping):
        y[place] = function(x[region])
    return y


def largest(x):
    return x.max((1, 2))


def mean(x):
    return np.trunc(x.mean((1, 2), dtype=np.float64)) if x.dtype.kind == "i" else x.mean((1, 2), dtype=np.float64)


def laid(function, key, overlapping):
    return lambda x: [pooled(function, x, *LAID[key], overlapping), *map(np.int64, LAID[key])]


def max_grad(overlapping):
    def reference(x, y, dy, rows, columns):
        dx = np.zeros_like(x)
        for (_, i, j), region in regions(rows, columns, overlapping):
            for n, c in np.ndindex(len(x), x.shape[3]):
                part = x[region][n, ..., c]
                r, s = np.unravel_index(int(np.argmax(part)), part.shape)
                dx[n, rows[i] + r, columns[j] + s, c] += dy[n, i, j, c]
        return dx

    return reference


def avg_grad(overlapping):
    def reference(sizes, dy, rows, columns):
        dx = np.zeros(sizes)
        for place, region in regions(rows, columns, overlapping):
            part = dx[region]
            part += (dy[place] / (part.shape[1] * part.shape[2]))[:, np.newaxis, np.newaxis]
        return dx.astype(dy.dtype)

    return reference


def settings(key, overlapping):
    pseudo_random, seed, seed2 = key
    return {
        "pooling_ratio": RATIO,
        "pseudo_random": pseudo_random,
        "overlapping": overlapping,
        "deterministic": True,
        "seed": seed,
        "seed2": seed2,
    }


ERRORS = [
    Error([(11, 13, 3)], ValueError, "Shape must be rank 4 but is rank 3", attrs={"pooling_ratio": RATIO}),
    Error([(2, 5, 7, 3)], ValueError, "cannot be smaller than 1, got: 0.5", attrs={"pooling_ratio": [1.0, 0.5, 1.0, 1.0]}),
    Error([(2, 5, 7, 3)], ValueError, "must specify 4 dimensions", attrs={"pooling_ratio": [1.0] * 5}),
    Error([(5, 7, 3)], InvalidArgumentError, "value must be 4-dimensional", attrs={"pooling_ratio": RATIO}),
    Error(
        [(2, 5, 7, 3)],
        UnimplementedError,
        "not yet supported on the batch nor channel dimension",
        attrs={"pooling_ratio": [1.0, 1.5, 1.0, 2.0]},
    ),
    Error(
        [(2, 5, 7, 3)],
        InvalidArgumentError,
        "for dimension 1. Input dim size: 5 pooling ratio: 100",
        attrs={"pooling_ratio": [1.0, 100.0, 1.0, 1.0]},
    ),
    Error(
        [(2, 5, 7, 3)],
        InvalidArgumentError,
        "Both seed and seed2 should be 0 if deterministic is false",
        attrs={"deterministic": False, "seed": 1},
    ),
]
X = np.random.default_rng(5).permutation(SIZES.prod()).reshape(SIZES).astype(np.float32)
DY = np.random.default_rng(7).normal(size=(2, 3, 5, 3)).astype(np.float32)
TIES = np.random.default_rng(3).integers(0, 3, SIZES).astype(np.float32)

CASES = [
    *[
        OpCase(
            op,
            [(2, 11, 13, 3)],
            laid(function, key, overlapping),
            attrs=settings(key, overlapping),
            dtypes=["float32", "float64", "int32", "int64"],
            low=-50,
            high=50,
            second=False,
            numeric=number < 2,
            label=f"{key} {'overlapping' if overlapping else 'disjoint'}",
            errors=[] if number else ERRORS,
        )
        for op, function in (("FractionalMaxPool", largest), ("FractionalAvgPool", mean))
        for number, (key, overlapping) in enumerate(zip(LAID, (True, False, False, True), strict=True))
    ],
    *[
        OpCase(
            "FractionalMaxPoolGrad",
            [x, pooled(largest, x, ROWS, COLUMNS, overlapping), DY, ROWS, COLUMNS],
            max_grad(overlapping),
            attrs={"overlapping": overlapping},
            gradient=(),
            label=f"{label} {'overlapping' if overlapping else 'disjoint'}",
        )
        for label, x in (("distinct", X), ("ties", TIES))
        for overlapping in (True, False)
    ],
    OpCase(
        "FractionalMaxPoolGrad",
        [X, pooled(largest, X, ROWS, COLUMNS, False), DY, ROWS, COLUMNS],
        max_grad(False),
        gradient=(),
        label="refused",
        errors=[
            Error([X, DY, DY, ROWS, COLUMNS], InvalidArgumentError, "orig_output is not what pooling orig_input"),
            Error([X, DY, DY, ROWS[1:], COLUMNS], InvalidArgumentError, "row_pooling_sequence must rise from 0 to 5 in 3"),
            Error([X, DY, DY, ROWS, COLUMNS[::-1]], InvalidArgumentError, "col_pooling_sequence must rise from 0 to 7 in 5"),
            Error([X, DY[1:], DY[1:], ROWS, COLUMNS], InvalidArgumentError, "no gradient for an input of [2,5,7,3]"),
        ],
    ),
    *[
        OpCase(
            "FractionalAvgPoolGrad",
            [SIZES, dy, ROWS, COLUMNS],
            avg_grad(overlapping),
            attrs={"overlapping": overlapping},
            gradient=(),
            label=f"{dy.dtype} {'overlapping' if overlapping else 'disjoint'}",
            errors=[Error([SIZES[1:], DY, ROWS, COLUMNS], InvalidArgumentError, "no gradient for an input of [5,7,3]")],
        )
        for dy in (DY, (DY * 100).astype(np.int32))
        for overlapping in (True, False)
    ],
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize("pseudo_random", [True, False])
def test_layouts_are_drawn_anew_in_each_run_unless_deterministic(pseudo_random) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 101, 97, 1])
        free = tf.nn.fractional_max_pool(x, [1.0, 1.3, 1.6, 1.0], pseudo_random)
        fixed = tf.nn.fractional_avg_pool(x, [1.0, 1.3, 1.6, 1.0], pseudo_random, deterministic=True)
        runs = [session.run([free[1:], fixed[1:]], {x: np.zeros(x.shape)}) for _ in range(4)]
    bounds = [np.concatenate(drawn) for drawn, _ in runs]
    assert any((bounds[0] != other).any() for other in bounds[1:])
    assert all((np.concatenate(runs[0][1]) == np.concatenate(same)).all() for _, same in runs)
    for rows, columns in (drawn for run in runs for drawn in run):
        assert set(np.diff(rows)) <= {1, 2} and set(np.diff(columns)) <= {1, 2}


def test_second_order_is_not_defined() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [1, 5, 7, 1])
        first = tf.gradients(tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.5, 1.0])[0], x)
        with pytest.raises(LookupError, match="FractionalMaxPoolGrad"):
            tf.gradients(first, x)


def test_means_of_images_of_unknown_size_have_gradients() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None, 7, 1])
        y, _, _ = tf.nn.fractional_avg_pool(x, [1.0, 1.5, 1.5, 1.0])
        np.testing.assert_allclose(
            session.run(tf.gradients(y, x)[0], {x: np.ones((2, 5, 7, 1))}).sum(), 2 * 3 * 4, rtol=1e-6
        )


def test_version_2_has_one_seed() -> None:
    with tf.Graph().as_default():
        for function in (tf.compat.v2.nn.fractional_max_pool, tf.compat.v2.nn.fractional_avg_pool):
            op = function(np.zeros((1, 6, 7, 1), np.float32), 1.5, seed=4)[0].op
            assert (op.get_attr("deterministic"), op.get_attr("seed"), op.get_attr("seed2")) == (True, 87654321, 4)
            op = function(np.zeros((1, 6, 7, 1), np.float32), 1.5)[0].op
            assert (op.get_attr("deterministic"), op.get_attr("seed"), op.get_attr("seed2")) == (False, 0, 0)
