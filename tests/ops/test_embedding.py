"""`tf.nn.embedding_lookup`: whole tables, and tables in parts."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf

TABLE = np.arange(21.0, dtype=np.float32).reshape(7, 3)
IDS = np.int32([[0, 6, 3], [3, 5, 1]])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("strategy", ["mod", "div", None])
def test_rows_and_their_gradient(strategy: str | None, known: bool) -> None:
    parts = {None: [TABLE], "mod": [TABLE[i::3] for i in range(3)], "div": [TABLE[:3], TABLE[3:5], TABLE[5:]]}[strategy]
    with tf.Graph().as_default(), tf.Session() as session:
        tables = [tf.placeholder(tf.float32, p.shape if known else [None, 3]) for p in parts]
        found = tf.nn.embedding_lookup(tables, IDS, partition_strategy=strategy or "mod")
        assert found.shape.as_list() == [2, 3, 3]
        grads = [tf.convert_to_tensor(g) for g in tf.gradients(found, tables)]
        rows, counted = session.run([found, grads], dict(zip(tables, parts, strict=True)))
    np.testing.assert_array_equal(rows, TABLE[IDS])
    whole = np.zeros_like(TABLE)
    np.add.at(whole, IDS.ravel(), 1)
    wanted = {None: [whole], "mod": [whole[i::3] for i in range(3)], "div": [whole[:3], whole[3:5], whole[5:]]}[strategy]
    for actual, part in zip(counted, wanted, strict=True):
        np.testing.assert_array_equal(actual, part)


def test_a_single_tensor_is_a_table() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.nn.embedding_lookup(tf.constant(TABLE), [4])).tolist() == TABLE[[4]].tolist()


def test_rows_are_scaled_down_to_max_norm() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = session.run(tf.nn.embedding_lookup(TABLE, IDS, max_norm=5.0))
    norms = np.linalg.norm(TABLE[IDS], axis=-1)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=-1), np.minimum(norms, 5), rtol=1e-5)


def test_misuse() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Need at least one param"):
            tf.nn.embedding_lookup([], IDS)
        with pytest.raises(ValueError, match="Unrecognized partition strategy: x"):
            tf.nn.embedding_lookup([TABLE, TABLE], IDS, partition_strategy="x")


def test_rows_of_tables_and_ids_of_unknown_shapes_are_clipped_each_for_itself() -> None:
    table = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 5.0]], np.float32)
    wanted = np.array([[[0.6, 0.8], [0.3, 0.4]], [[0.0, 1.0], [0.6, 0.8]]])
    ids = [[0, 1], [2, 0]]
    given_table, given_ids = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    whole = tf.nn.embedding_lookup(given_table, given_ids, max_norm=1.0)
    parts = tf.nn.embedding_lookup([given_table, given_table], given_ids * 2, max_norm=1.0)
    with tf.Session() as session:
        for found in session.run([whole, parts], {given_table: table, given_ids: ids}):
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
