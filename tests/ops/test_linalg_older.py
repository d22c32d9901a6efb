"""Ops of GraphDefs from before version 15 compute what the present ops of their names do."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf

MATRICES = np.random.default_rng(7).normal(size=(2, 3, 3)).astype(np.float32) + 4 * np.eye(3, dtype=np.float32)
DEFINITE = MATRICES @ MATRICES.swapaxes(-1, -2)
RHS = np.random.default_rng(11).normal(size=(2, 3, 5)).astype(np.float32)
ONES = np.float32([[[3]], [[4]]])  # L of [[9]] and of [[16]]: dL/dA = 1 / 2L
ROWS = np.arange(10, dtype=np.float32).reshape(2, 5)


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("BatchCholesky", [DEFINITE], np.linalg.cholesky(DEFINITE)),
        ("BatchMatrixInverse", [MATRICES], np.linalg.inv(MATRICES)),
        ("BatchMatrixDeterminant", [MATRICES], np.linalg.det(MATRICES)),
        ("BatchMatrixSolve", [MATRICES, RHS], np.linalg.solve(MATRICES, RHS)),
        ("BatchMatrixTriangularSolve", [MATRICES, RHS], np.linalg.solve(np.tril(MATRICES), RHS)),
        ("BatchMatrixDiag", [ROWS], ROWS[..., None] * np.eye(5)),
        ("BatchMatrixDiagPart", [MATRICES], np.diagonal(MATRICES, axis1=-2, axis2=-1)),
        ("BatchMatrixSetDiag", [MATRICES, RHS[..., 0]], MATRICES * (1 - np.eye(3)) + RHS[..., :1] * np.eye(3)),
        ("BatchMatrixBandPart", [MATRICES, np.int64(-1), np.int64(0)], np.tril(MATRICES)),
        ("BatchMatrixSolveLs", [MATRICES, RHS, np.float64(0)], np.linalg.solve(MATRICES, RHS)),
        ("BatchCholeskyGrad", [ONES, np.float32([[[6]], [[8]]])], [[[1]], [[1]]]),
    ],
)
def test_older_op_of_an_imported_graph(name: str, inputs: list[np.ndarray], expected: np.ndarray) -> None:
    given = tf.GraphDef()
    given.versions.producer = 8
    node = given.node.add(name="y", op=name)
    node.attr["T"].type = tf.float32.as_datatype_enum
    node.input.extend(f"x{number}" for number in range(len(inputs)))
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = {f"x{number}": tf.constant(value) for number, value in enumerate(inputs)}
        (y,) = tf.import_graph_def(given, input_map=feeds, return_elements=["y:0"])
        assert y.shape.ndims is None
        np.testing.assert_allclose(session.run(y), expected, rtol=1e-4, atol=1e-5)


def _parts(name: str, matrices: np.ndarray, **attrs: bool) -> tuple[list[np.ndarray], list[tf.TensorShape]]:
    """What a node of an imported graph gives for matrices, and the static shapes of it."""
    given = tf.GraphDef()
    node = given.node.add(name="y", op=name, input=["x"])
    node.attr["T"].type = tf.float32.as_datatype_enum
    for key, value in attrs.items():
        node.attr[key].b = value
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(given, input_map={"x": tf.constant(matrices)}, return_elements=["y"])
        return session.run(y.outputs), [output.shape for output in y.outputs]


def test_decompositions_of_stacks() -> None:
    (values, vectors), shapes = _parts("BatchSelfAdjointEigV2", DEFINITE)
    np.testing.assert_allclose(DEFINITE @ vectors, values[:, np.newaxis] * vectors, rtol=1e-4, atol=1e-4)
    (s, u, v), more = _parts("BatchSvd", MATRICES, full_matrices=True)
    np.testing.assert_allclose((u * s[:, np.newaxis]) @ v.swapaxes(-1, -2), MATRICES, rtol=1e-4, atol=1e-5)
    assert [shape.ndims for shape in (*shapes, *more)] == [None] * 5


@pytest.mark.parametrize("name", ["SelfAdjointEig", "BatchSelfAdjointEig"])
def test_eigenvalues_stand_above_their_vectors(name: str) -> None:
    ((both,), (shape,)) = _parts(name, DEFINITE)
    assert both.shape == (2, 4, 3)
    assert shape.ndims is None if name == "BatchSelfAdjointEig" else shape == [2, 4, 3]
    np.testing.assert_allclose(DEFINITE @ both[:, 1:], both[:, :1] * both[:, 1:], rtol=1e-4, atol=1e-4)
    assert np.all(np.diff(both[:, 0]) >= 0)
