"""Decompositions by their properties, their gradients, and the public forms of linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.test_linalg import near_identity
from tfexp.ops.linalg import qr, svd


def numeric_gradient(build, x, weights_seed=7):
    """(analytic, numeric) gradient of a weighted sum of `build(x)`, a function of a symmetric or a general matrix."""
    random = np.random.default_rng(weights_seed)
    with tf.Graph().as_default(), tf.Session() as session:
        placeholder = tf.placeholder(tf.float64, x.shape)
        outputs = build(placeholder)
        weights = [random.uniform(0.5, 1.5, y.shape.as_list()) for y in outputs]
        loss = tf.add_n([tf.reduce_sum(y * w) for y, w in zip(outputs, weights, strict=True)])
        actual = session.run(tf.gradients(loss, placeholder)[0], {placeholder: x})
        numeric = np.zeros_like(x)
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = 1e-6
            high, low = (session.run(loss, {placeholder: x + s}) for s in (step, -step))
            numeric[index] = (high - low) / 2e-6
    return actual, numeric


@pytest.mark.parametrize("full", [False, True])
def test_qr_gives_an_orthogonal_and_an_upper_triangular_factor(full: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        nodes = qr(GENERAL, full_matrices=full)
        q, r = session.run(list(nodes))
        assert [n.shape.as_list() for n in nodes] == [list(q.shape), list(r.shape)]
    np.testing.assert_allclose(q @ r, GENERAL, atol=1e-12)
    np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-12)
    np.testing.assert_array_equal(np.tril(r, -1), 0)


@pytest.mark.parametrize("full", [False, True])
def test_svd_gives_orthogonal_factors_and_descending_values(full: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        nodes = svd(GENERAL, full_matrices=full)
        s, u, v = session.run(list(nodes))
        alone = svd(GENERAL, compute_uv=False)
        assert [n.shape.as_list() for n in nodes] == [[3], list(u.shape), list(v.shape)]
        np.testing.assert_allclose(session.run(alone), s)
    np.testing.assert_allclose(u[:, :3] * s @ v.T, GENERAL, atol=1e-12)
    np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), atol=1e-12)
    assert all(s[:-1] >= s[1:])


GENERAL = np.random.default_rng(3).uniform(-1, 1, (5, 3))
SYMMETRIC = near_identity(3, 3) @ near_identity(3, 3).T


@pytest.mark.parametrize(
    ("name", "build", "x"),
    [
        ("qr", lambda x: list(qr(x)), GENERAL),
        ("qr full square", lambda x: list(qr(x, full_matrices=True)), near_identity(3, 3)),
        ("qr wide", lambda x: list(qr(x)), GENERAL.T.copy()),
        ("qr wide and full", lambda x: list(qr(x, full_matrices=True)), GENERAL.T.copy()),
        ("svd", lambda x: list(svd(x)), GENERAL),
        ("svd full tall", lambda x: list(svd(x, full_matrices=True)), GENERAL[:4]),
        ("svd full wide", lambda x: list(svd(x, full_matrices=True)), GENERAL[:4].T.copy()),
        ("svd wide", lambda x: list(svd(x)), GENERAL.T.copy()),
        ("svd values", lambda x: [svd(x, compute_uv=False)], GENERAL),
        ("cholesky", lambda x: [tf.cholesky((x + tf.transpose(x)) / 2)], SYMMETRIC),
        ("norm", lambda x: [tf.norm(x), tf.norm(x, ord=1, axis=0), tf.norm(x, ord=3, axis=1)], GENERAL),
        ("tensordot", lambda x: [tf.tensordot(x, GENERAL, [[0], [0]])], GENERAL),
        ("einsum of three", lambda x: [tf.einsum("ij,kj,k->i", x, GENERAL, GENERAL[:, 0])], GENERAL),
    ],
)
def test_gradients_of_decompositions_and_composites(name, build, x) -> None:
    actual, numeric = numeric_gradient(build, x)
    np.testing.assert_allclose(actual, numeric, rtol=1e-5, atol=1e-6, err_msg=name)


def test_gradients_of_factors_that_are_not_determined_say_so() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64, [5, 3])
        for factor, text in ((qr(x, full_matrices=True).r, "no more rows"), (svd(x, True)[1], "differ by 1")):
            with pytest.raises(NotImplementedError, match=text):
                tf.gradients(factor, x)


def test_public_forms() -> None:
    x = GENERAL
    with tf.Graph().as_default(), tf.Session() as session:
        run = session.run
        assert run(tf.eye(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
        assert run(tf.eye(2, batch_shape=[3])).shape == (3, 2, 2)
        assert run(tf.trace(x)) == pytest.approx(x[0, 0] + x[1, 1] + x[2, 2])
        assert run(tf.norm(x)) == pytest.approx(np.sqrt(np.sum(x * x)))
        assert run(tf.norm(x, ord=np.inf, axis=1)) == pytest.approx(np.max(np.abs(x), 1))
        assert run(tf.norm(x, ord=1, axis=[0, 1])) == pytest.approx(np.max(np.sum(np.abs(x), 0)))
        assert run(tf.norm(x, ord=2, axis=[0, 1])) == pytest.approx(np.linalg.svd(x, compute_uv=False)[0])
        np.testing.assert_allclose(run(tf.tensordot(x, x, 0)).shape, (5, 3, 5, 3))
        np.testing.assert_allclose(run(tf.tensordot(x, x.T, 1)), x @ x.T)
        np.testing.assert_allclose(run(tf.einsum("ij,jk", x, x.T)), x @ x.T)
        unknown = tf.placeholder(tf.float64)
        np.testing.assert_allclose(run(tf.tensordot(unknown, x, [[-1], [0]]), {unknown: x.T}), x.T @ x)
        with pytest.raises(ValueError, match="Only one of transpose_a and adjoint_a can be True"):
            tf.matmul(x, x, transpose_a=True, adjoint_a=True)
        with pytest.raises(ValueError, match="a label appearing more than once: ij->jiij"):
            tf.einsum("ij->jiij", x)
        with pytest.raises(ValueError, match="'ord' must be a supported vector norm"):
            tf.norm(x, ord=-1)


def test_singular_values_of_complex_matrices_have_a_gradient() -> None:
    random = np.random.default_rng(2)
    value = random.normal(size=(3, 2)) + 1j * random.normal(size=(3, 2))
    matrix = tf.placeholder(tf.complex128, [3, 2])
    (gradient,) = tf.gradients(svd(matrix, compute_uv=False), matrix)
    step = random.normal(size=(3, 2)) + 1j * random.normal(size=(3, 2))

    def total(x: np.ndarray) -> float:
        return float(np.linalg.svd(x, compute_uv=False).sum())

    with tf.Session() as session:
        found = session.run(gradient, {matrix: value})
    change = (total(value + 1e-6 * step) - total(value - 1e-6 * step)) / 2e-6
    np.testing.assert_allclose(np.real(np.vdot(found, step)), change, rtol=1e-6)


def test_second_gradients_of_singular_vectors_are_finite_in_float32() -> None:
    matrix = tf.constant(np.random.default_rng(2).normal(size=(4, 3)), tf.float32)
    (first,) = tf.gradients([tf.abs(part) for part in svd(matrix)], matrix)
    (second,) = tf.gradients(tf.square(first), matrix)
    with tf.Session() as session:
        assert np.isfinite(session.run(second)).all()
