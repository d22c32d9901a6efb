"""`tf.nn.embedding_lookup_sparse` and `safe_embedding_lookup_sparse` against plain loops, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf

TABLE = np.linspace(-1.0, 2.0, 15).reshape(5, 3).astype(np.float32)
INDICES = np.int64([[0, 1], [1, 0], [1, 2], [2, 0]])
IDS = np.int64([1, 4, 0, 4])
WEIGHTS = np.float32([0.5, 2.0, 3.0, 1.0])
DIMS = np.int64([3, 4])


def combined(table: np.ndarray, weights: np.ndarray, combiner: str) -> np.ndarray:
    rows = []
    for row in range(3):
        mine = INDICES[:, 0] == row
        total = (table[IDS[mine]] * weights[mine, np.newaxis]).sum(axis=0)
        divisor = {"sum": 1.0, "mean": weights[mine].sum(), "sqrtn": np.sqrt((weights[mine] ** 2).sum())}[combiner]
        rows.append(total / divisor)
    return np.array(rows)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parts", [1, 2])
def test_rows_and_their_gradient(combiner: str, weighted: bool, parts: int) -> None:
    weights = WEIGHTS if weighted else np.ones_like(WEIGHTS)
    with tf.Graph().as_default(), tf.Session() as session:
        tables = [tf.constant(TABLE[i::parts]) for i in range(parts)]
        ids = tf.SparseTensor(INDICES, IDS, DIMS)
        given = tf.SparseTensor(INDICES, WEIGHTS, DIMS) if weighted else None
        found = tf.nn.embedding_lookup_sparse(tables, ids, given, combiner=combiner)
        grads = tf.gradients(found, tables)
        assert all(isinstance(g, tf.IndexedSlices) for g in grads)
        rows, slopes = session.run([found, [tf.convert_to_tensor(g) for g in grads]])
    np.testing.assert_allclose(rows, combined(TABLE, weights, combiner), rtol=1e-5)
    # Linear in the table: the gradient of the sum is what unit tables give.
    for part, slope in enumerate(slopes):
        for row in range(len(slope)):
            unit = np.zeros_like(TABLE)
            unit[row * parts + part] = 1
            np.testing.assert_allclose(slope[row], combined(unit, weights, combiner).sum(axis=0), rtol=1e-5)


def test_what_is_refused() -> None:
    with tf.Graph().as_default():
        ids = tf.SparseTensor(INDICES, IDS, DIMS)
        for arguments, kind, text in (
            ((TABLE, 3, None), TypeError, "sp_ids must be SparseTensor, got <class 'int'>"),
            ((TABLE, ids, 3), TypeError, "sp_weights must be either None or SparseTensor"),
            ((TABLE, ids, tf.SparseTensor(INDICES[:2], WEIGHTS[:2], DIMS)), ValueError, "incompatible"),
        ):
            with pytest.raises(kind, match=text):
                tf.nn.embedding_lookup_sparse(*arguments, combiner="sum")
        with pytest.raises(ValueError, match="combiner must be one of 'mean', 'sqrtn' or 'sum', got x"):
            tf.nn.embedding_lookup_sparse(TABLE, ids, None, combiner="x")
