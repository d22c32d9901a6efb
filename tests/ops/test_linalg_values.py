"""Linear algebra on numbers that LAPACK does not take (half precision, not finite), and on mixed and complex types."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf

WELL = np.float16([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]])


@pytest.mark.parametrize(
    "rebuilt",
    [
        lambda x: x @ tf.linalg.inv(x) @ x,
        lambda x: tf.linalg.band_part(x, -1, 0) @ tf.linalg.triangular_solve(x, x),
        lambda x: tf.matmul(tf.linalg.cholesky(x), tf.linalg.cholesky(x), adjoint_b=True),
        lambda x: tf.matmul(*tf.linalg.qr(x)),
        lambda x: (lambda s, u, v: tf.matmul(u * s, v, adjoint_b=True))(*tf.linalg.svd(x)),
        lambda x: (lambda e, v: tf.matmul(v * e, v, adjoint_b=True))(*tf.linalg.eigh(x)),
    ],
)
def test_half_precision(rebuilt):
    result = rebuilt(tf.constant(WELL))
    assert result.dtype == tf.float16
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(result), WELL, atol=1e-2)


def test_matrices_that_are_not_finite_have_singular_values_and_logarithms_of_nan():
    matrices = np.array([[[1, np.inf], [0, 1]], [[np.nan, 0], [0, 1]], [[2, 0], [0, 1]]])
    s, u, v = tf.linalg.svd(matrices)
    with tf.Session() as session:
        values = session.run([s, u, v, tf.linalg.svd(matrices, compute_uv=False)])
        logarithms = session.run(tf.linalg.logm(matrices[:2].astype(complex)))
    assert all(np.isnan(value[:2]).all() for value in values)
    assert np.isnan(logarithms).all()
    np.testing.assert_allclose(values[0][2], [2, 1])


def test_both_types_of_sparse_products_have_gradients():
    a, b = tf.ones([2, 3], tf.bfloat16), tf.fill([3, 5], 2.0)
    grads = tf.gradients(tf.raw_ops.SparseMatMul(a=a, b=b), [a, b])
    with tf.Session() as session:
        of_a, of_b = session.run(grads)
    assert of_a.dtype == tf.bfloat16.as_numpy_dtype
    np.testing.assert_array_equal(of_a.astype(np.float32), np.full((2, 3), 10))
    np.testing.assert_array_equal(of_b, np.full((3, 5), 2))


def test_gradients_of_complex_tridiagonal_products_are_those_of_the_adjoint():
    random = np.random.default_rng(3)
    above, main, below, rhs, grad = (
        random.normal(size=(1, *dims)) + 1j * random.normal(size=(1, *dims)) for dims in [(1, 3)] * 3 + [(3, 2)] * 2
    )
    inputs = [tf.constant(x) for x in (above, main, below, rhs)]
    product = tf.raw_ops.TridiagonalMatMul(superdiag=inputs[0], maindiag=inputs[1], subdiag=inputs[2], rhs=inputs[3])
    with tf.Session() as session:
        of_main, of_rhs = session.run(tf.gradients(product, [inputs[1], inputs[3]], tf.constant(grad)))
    matrix = np.diag(main[0, 0]) + np.diag(above[0, 0, :-1], 1) + np.diag(below[0, 0, 1:], -1)
    np.testing.assert_allclose(of_rhs[0], matrix.conj().T @ grad[0])
    np.testing.assert_allclose(of_main[0, 0], np.sum(rhs[0].conj() * grad[0], -1))


def test_the_upper_triangle_of_a_self_adjoint_matrix_does_not_count():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.self_adjoint_eigvals([[1.0, np.nan], [0.0, 2.0]])).tolist() == [1, 2]
