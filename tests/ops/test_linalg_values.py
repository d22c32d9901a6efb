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
    ],
)
def test_half_precision(rebuilt):
    result = rebuilt(tf.constant(WELL))
    assert result.dtype == tf.float16
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(result), WELL, atol=1e-2)


def test_both_types_of_sparse_products_have_gradients():
    a, b = tf.ones([2, 3], tf.bfloat16), tf.fill([3, 5], 2.0)
    grads = tf.gradients(tf.raw_ops.SparseMatMul(a=a, b=b), [a, b])
    with tf.Session() as session:
        of_a, of_b = session.run(grads)
    assert of_a.dtype == tf.bfloat16.as_numpy_dtype
    np.testing.assert_array_equal(of_a.astype(np.float32), np.full((2, 3), 10))
    np.testing.assert_array_equal(of_b, np.full((3, 5), 2))
