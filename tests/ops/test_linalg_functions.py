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
            Error([(2, 2, 5), (2, 5, 7)], ValueError, "Dimension must be 3 but is 2"),
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
        errors=[Error([(2, 5), (1, 5), (1, 5), (5, 7)], ValueError, "both shapes must be equal, but are 2 and 1")],
    ),
    OpCase(
        "MatrixSquareRoot",
        [Like([[5, 4], [4, 5]])],
        np.float32([[2, 1], [1, 2]]),
        dtypes=[*ALL, "float16"],
        tolerance=1e-3,
        errors=[Error([(3, 5)], ValueError, "Dimensions must be equal, but are 3 and 5")],
    ),
    OpCase(
        "MatrixLogarithm",
        [Like([[np.e, 0], [0, 1j]])],
        np.complex64([[1, 0], [0, 0.5j * np.pi]]),
        dtypes=["complex64", "complex128"],
        tolerance=1e-6,
        gradient=(),
        errors=[Error([(3, 5)], ValueError, "Dimensions must be equal, but are 3 and 5", dtype="complex64")],
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
        assert session.run(tf.linalg.matrix_rank([[1, 2], [2, 4]])) == 1
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


@pytest.mark.parametrize(
    ("diagonals", "rhs", "kind", "text"),
    [
        ((5, 4, 7), (5, 4), "matrix", "Expected last two dimensions of diagonals to be same, got 4 and 7"),
        ((5, 4, 4), (3, 4), "matrix", r"Batch shapes \(5,\) and \(3,\) are incompatible"),
        ((2, 3, 4), (5, 4, 2), "compact", r"Batch shapes \(2,\) and \(5,\) are incompatible"),
    ],
)
def test_tridiagonal_systems_that_do_not_fit_together(diagonals, rhs, kind, text):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        tf.linalg.tridiagonal_solve(tf.ones(diagonals), tf.ones(rhs), kind)


@pytest.mark.parametrize("axis", [[], [1], (0, 1, 2), [[1]], [[0], [1]], [0, 1.5], 3.5, "a", [1, 1]])
def test_what_is_no_axis_of_a_norm(axis):
    with pytest.raises(ValueError, match="'axis' must be None, an integer, or a tuple of 2 unique integers"):
        tf.norm([[1.0, 2.0]], axis=axis)


def with_eigenvalues(values, kind=np.float64):
    """A matrix that is not symmetric, of these eigenvalues."""
    n = len(values)
    basis = np.eye(n) + 0.3 * np.random.default_rng(n).uniform(-1, 1, (n, n))
    return (basis @ np.diag(values) @ np.linalg.inv(basis)).astype(kind)


ROOTED = np.stack([with_eigenvalues([4.0, 0.01, 9.0]), with_eigenvalues([100.0, 1.0, 2.0])])
COMPLEX = with_eigenvalues([1 + 2j, -3 + 0.1j, 0.5], np.complex128)


def test_roots_of_matrices() -> None:
    with tf.Session() as session:
        for x in (ROOTED, COMPLEX, np.float64([[1, 1], [0, 1]]), np.eye(3), np.zeros([0, 0])):
            root = session.run(tf.linalg.sqrtm(x))
            np.testing.assert_allclose(root @ root, x, rtol=1e-9, atol=1e-9)
            assert np.all(np.linalg.eigvals(root).real > 0)
        half = session.run(tf.linalg.sqrtm(ROOTED.astype(np.float32)))
        np.testing.assert_allclose(half @ half, ROOTED, rtol=1e-4, atol=1e-4)
        assert np.isnan(session.run(tf.linalg.sqrtm(-np.eye(2)))).all()


def test_the_gradient_of_a_root() -> None:
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(ROOTED)
        weights = np.arange(18.0).reshape(2, 3, 3)
        assert tf.test.compute_gradient_error(x, [2, 3, 3], weights * tf.linalg.sqrtm(x), [2, 3, 3], ROOTED, 1e-6) < 1e-4


def test_exponentials_and_logarithms_undo_each_other() -> None:
    skew = np.float64([[0, -2], [2, 0]])
    unknown = tf.placeholder(tf.float32, [None, None, None])
    with tf.Session() as session:
        np.testing.assert_allclose(
            session.run(tf.linalg.expm(skew)), [[np.cos(2), -np.sin(2)], [np.sin(2), np.cos(2)]], atol=1e-13
        )
        mixed = np.stack([np.diag([1.0, -2.0]), np.diag([20.0, 0.0])])
        wanted = np.stack([np.diag(np.exp([1.0, -2.0])), np.diag(np.exp([20.0, 0.0]))])
        np.testing.assert_allclose(session.run(tf.linalg.expm(mixed)), wanted, rtol=1e-12)
        np.testing.assert_allclose(session.run(tf.linalg.expm(unknown), {unknown: mixed}), wanted, rtol=1e-4)
        for x in (COMPLEX, np.stack([with_eigenvalues([1e3, 1e-3, 1j], np.complex128), COMPLEX])):
            back = session.run(tf.linalg.expm(tf.linalg.logm(x)))
            np.testing.assert_allclose(back, x, rtol=1e-9, atol=1e-9)
        slope = tf.gradients(tf.linalg.expm(unknown), unknown)[0]
        np.testing.assert_allclose(session.run(slope, {unknown: np.zeros([1, 2, 2])}), np.ones([1, 2, 2]), rtol=1e-5)
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        tf.linalg.expm(np.ones([2, 3]))


def test_no_matrices_and_empty_ones() -> None:
    with tf.Session() as session:
        lower_upper, permutation = session.run(tf.linalg.lu(np.zeros([2, 0, 0])))
        assert (lower_upper.shape, permutation.shape) == ((2, 0, 0), (2, 0))
        assert session.run(tf.linalg.solve(np.zeros([2, 2]), np.zeros([2, 0]))).shape == (2, 0)


def test_what_exponentials_and_norms_are_not_of() -> None:
    with pytest.raises(ValueError, match="does not support matrices of type <dtype: 'int32'>"):
        tf.linalg.expm([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="must be a supported vector norm, got fro"):
        tf.norm([[1.0, 2.0]], ord="fro")


def test_products_said_to_be_sparse_keep_bfloat16() -> None:
    half = tf.cast([[1.0, 2.0]], tf.bfloat16)
    assert tf.matmul(half, half, transpose_b=True, a_is_sparse=True).dtype == tf.bfloat16
    assert tf.matmul(half, tf.constant([[1.0], [2.0]]), a_is_sparse=True).dtype == tf.float32


@pytest.mark.parametrize("axes", [1, [[1], [0]], [[-1], [0]]])
def test_tensordot_of_unknown_ranks_and_axes(axes: object) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(15.0).reshape(3, 5)
    left, right, where = tf.placeholder(tf.float64), tf.placeholder(tf.float64), tf.placeholder(tf.int32)
    results = [tf.tensordot(left, right, axes)]
    if axes != 1:
        results += [tf.tensordot(left, right, where), tf.tensordot(tf.constant(a), tf.constant(b), where)]
    with tf.Session() as session:
        for found in session.run(results, {left: a, right: b, where: [[1], [0]]}):
            np.testing.assert_allclose(found, a @ b)


@pytest.mark.parametrize("axis", [(0, 1), (-1, 0)])
def test_the_2_norm_of_matrices_of_unknown_rank(axis: tuple[int, int]) -> None:
    value = np.random.default_rng(5).normal(size=(2, 3, 5))
    matrix = tf.placeholder(tf.float64)
    for keepdims in (False, True):
        norm = tf.norm(matrix, 2, axis, keepdims=keepdims)
        with tf.Session() as session:
            found = session.run(norm, {matrix: value})
        np.testing.assert_allclose(found, np.linalg.norm(value, 2, axis, keepdims=keepdims))


def test_diagonals_of_a_sequence_may_be_as_short_as_they_are() -> None:
    above, main, below, rhs = [1.0, 2.0], [4.0, 5.0, 6.0], [3.0, 1.5], [1.0, 2.0, 3.0]
    full = np.diag(main) + np.diag(above, 1) + np.diag(below, -1)
    with tf.Session() as session:
        found = session.run(tf.linalg.tridiagonal_solve([above, main, below], rhs, "sequence"))
    np.testing.assert_allclose(found, np.linalg.solve(full, rhs), rtol=1e-5)
    with pytest.raises(ValueError, match="Expected 2 or 3 elements"):
        tf.linalg.tridiagonal_solve([above[:1], main, below], rhs, "sequence")
    with pytest.raises(ValueError, match="left-hand sided and right-hand sides to be equal, got 3 and 2"):
        tf.linalg.tridiagonal_solve([above, main, below], rhs[:2], "sequence")


def test_gradient_of_complex_square_roots_is_tensorflows() -> None:
    matrix = np.array([[2 + 1j, 1], [0.5j, 3]])
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(matrix)
        root = tf.linalg.sqrtm(x)
        upstream = np.array([[1 + 2j, 0.5], [-1j, 3 - 1j]])
        (gradient,) = tf.gradients(root, x, upstream)
        r, g = session.run([root, gradient])
    np.testing.assert_allclose(r.T @ g + g @ r.T, upstream, atol=1e-12)
