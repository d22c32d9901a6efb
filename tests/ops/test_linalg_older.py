"""Ops of GraphDefs from before version 15 compute what the present ops of their names do."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf

MATRICES = np.random.default_rng(7).normal(size=(2, 3, 3)).astype(np.float32) + 4 * np.eye(3, dtype=np.float32)
DEFINITE = MATRICES @ MATRICES.swapaxes(-1, -2)
RHS = np.random.default_rng(11).normal(size=(2, 3, 5)).astype(np.float32)
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
