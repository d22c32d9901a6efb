"""Rows of LU factors and tridiagonal matrices, and tests of the functions composed of other ops."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

ALL = ["float32", "float64", "complex64", "complex128"]
BLOCK = [[[0.0, 2, 1], [4, 1, 3], [2, 5, 7]], [[1.0, 0, 2], [3, 1, 1], [2, 2, 9]]]


def dense(upper, main, lower):
    """The matrices with these diagonals [..., m]."""
    m = main.shape[-1]
    matrix = np.zeros([*main.shape, m], main.dtype)
    i = np.arange(m)
    matrix[..., i, i] = main
    matrix[..., i[:-1], i[1:]] = upper[..., :-1]
    matrix[..., i[1:], i[:-1]] = lower[..., 1:]
    return matrix


def solved(diagonals, rhs):
    wide = np.complex128 if rhs.dtype.kind == "c" else np.float64
    matrix = dense(*(diagonals[..., i, :] for i in range(3))).astype(wide)
    return np.linalg.solve(matrix, rhs.astype(wide)).astype(rhs.dtype)


def factors(x):
    """LU by the textbook, one matrix after another."""
    result, orders = [], []
    for matrix in x:
        a, order = matrix.copy(), list(range(len(matrix)))
        for k in range(len(a)):
            p = k + int(np.argmax(np.abs(a[k:, k])))
            a[[k, p]] = a[[p, k]]
            order[k], order[p] = order[p], order[k]
            for i in range(k + 1, len(a)):
                a[i, k] /= a[k, k]
                a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
        result.append(a)
        orders.append(order)
    return np.array(result), np.array(orders, np.int32)


CASES = [
    OpCase(
        "Lu",
        [Like(BLOCK)],
        factors,
        dtypes=[*ALL, "float16"],
        gradient=(),
        errors=[
            Error([(3, 5)], ValueError, "Dimensions must be equal, but are 3 and 5"),
            Error([np.zeros((2, 2), np.float32)], InvalidArgumentError, "Input is not invertible."),
        ],
    ),
    OpCase(
        "TridiagonalSolve",
        [(2, 3, 5), (2, 5, 7)],
        solved,
        dtypes=ALL,
        tolerance=1e-3,
        gradient_tolerance=1e-4,
        errors=[
            Error([(2, 2, 5), (2, 5, 7)], ValueError, "Dimensions must be equal, but are 2 and 3"),
            Error([(3, 5), (2, 7)], ValueError, "Dimensions must be equal, but are 5 and 2"),
            Error([np.zeros((3, 5), np.float32), (5, 1)], InvalidArgumentError, "Input matrix is not invertible."),
        ],
    ),
    OpCase(
        "TridiagonalSolve",
        [Like([[1, 2, 9], [0, 0, 5], [9, 3, 4]]), (3, 2)],
        solved,
        dtypes=["float32", "float64"],
        label="exchanged rows",
        tolerance=1e-4,
    ),
    OpCase(
        "TridiagonalSolve",
        [Like([[1, 2, 9], [7, 8, 5], [9, 3, 4]]), (3, 2)],
        solved,
        attrs={"partial_pivoting": False},
        dtypes=["float32", "float64"],
        label="no pivoting",
    ),
    OpCase("TridiagonalSolve", [Like([[1], [2], [3]]), (1, 2)], lambda d, r: r / 2, label="one"),
    OpCase(
        "TridiagonalMatMul",
        [(2, 1, 5), (2, 1, 5), (2, 1, 5), (2, 5, 7)],
        lambda u, d, w, r: np.matmul(dense(u[:, 0], d[:, 0], w[:, 0]), r),
        dtypes=ALL,
        errors=[Error([(2, 5), (1, 5), (1, 5), (5, 7)], ValueError, "Dimensions must be equal, but are 2 and 1")],
    ),
]
test_rows = op_tests(CASES)


def test_matvec_and_normalize() -> None:
    a, v = np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([1, -1, 2])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tf.linalg.matvec(a, v)), a @ v)
        np.testing.assert_allclose(session.run(tf.linalg.matvec(a, v[:2], transpose_a=True)), a.T @ v[:2])
        unit, size = session.run(tf.linalg.normalize(a, axis=1))
        np.testing.assert_allclose(size, np.linalg.norm(a, axis=1, keepdims=True), rtol=1e-6)
        np.testing.assert_allclose(unit * size, a, rtol=1e-6)


def test_ranks_and_pseudo_inverses() -> None:
    deficient = np.float64([[1, 2, 3], [2, 4, 6], [1, 0, 1], [0, 0, 0]])
    unknown = tf.placeholder(tf.float64, [None, None])
    with tf.Session() as session:
        assert session.run(tf.linalg.matrix_rank(deficient)) == 2
        assert session.run(tf.linalg.matrix_rank(unknown), {unknown: deficient}) == 2
        assert session.run(tf.linalg.matrix_rank(np.diag([3.0, 1.0]), tol=2.0)) == 1
        wanted = np.linalg.pinv(deficient)
        np.testing.assert_allclose(session.run(tf.linalg.pinv(deficient)), wanted, atol=1e-12)
        np.testing.assert_allclose(session.run(tf.linalg.pinv(unknown), {unknown: deficient}), wanted, atol=1e-12)
    with pytest.raises(ValueError, match="must have at least 2 dimensions"):
        tf.linalg.pinv([1.0])
    with pytest.raises(TypeError, match="`float`-like"):
        tf.linalg.pinv([[1]])


def test_formats_of_diagonals() -> None:
    matrix = np.float64([[4, 1, 0], [2, 5, 1], [0, 3, 6]])
    upper, main, lower = np.float64([1, 1, 0]), np.float64([4, 5, 6]), np.float64([0, 2, 3])
    rhs = np.float64([1, 2, 3])
    compact = np.stack([upper, main, lower])
    with tf.Session() as session:
        for given, kind in ((compact, "compact"), ((upper, main, lower), "sequence"), (matrix, "matrix")):
            x = session.run(tf.linalg.tridiagonal_solve(given, rhs, diagonals_format=kind))
            np.testing.assert_allclose(x, np.linalg.solve(matrix, rhs))
            product = session.run(tf.linalg.tridiagonal_matmul(given, rhs[:, None], diagonals_format=kind))
            np.testing.assert_allclose(product[:, 0], matrix @ rhs)
    with pytest.raises(ValueError, match="Unrecognized diagonals_format: other"):
        tf.linalg.tridiagonal_solve(compact, rhs, diagonals_format="other")
