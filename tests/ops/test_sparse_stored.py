"""Sparse tensors that are serialized, or kept in a map while a queue holds their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError

I = np.int64([[0, 1], [1, 0], [1, 2]])  # noqa: E741
DIMS = np.int64([3, 4])
raw = tf.raw_ops


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def serialized(x: Any, out_type: Any = tf.string, op: Any = raw.SerializeSparse) -> Any:
    return op(sparse_indices=x.indices, sparse_values=x.values, sparse_shape=x.dense_shape, out_type=out_type)


@pytest.mark.parametrize("dtype", [tf.float32, tf.int64, tf.string, tf.bool, tf.half, tf.bfloat16, tf.complex64])
@pytest.mark.parametrize("out_type", [tf.string, tf.variant])
def test_there_and_back(dtype: Any, out_type: Any) -> None:
    values = tf.as_string([1, 2, 3]) if dtype == tf.string else tf.cast([1, 0, 3], dtype)
    x = tf.SparseTensor(I, values, DIMS)
    one, many = serialized(x, out_type), serialized(x, out_type, raw.SerializeManySparse)
    assert (one.shape.as_list(), many.shape.as_list()) == ([3], [None, 3])
    found = run([x, *[raw.DeserializeSparse(serialized_sparse=s, dtype=dtype) for s in (one, many)]])
    for parts in found[1:]:
        for ours, theirs in zip(found[0], parts, strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype


def test_a_batch_is_as_large_as_its_largest() -> None:
    x, y = tf.SparseTensor(I, [1.0, 2.0, 3.0], DIMS), tf.SparseTensor([[0, 7]], [4.0], [2, 9])
    stored = tf.stack([serialized(x), serialized(y)])
    indices, _, dims = run(raw.DeserializeSparse(serialized_sparse=stored, dtype=tf.float32))
    assert indices.tolist() == [[0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 0, 7]]
    assert dims.tolist() == [2, 3, 9]
    grid = raw.DeserializeSparse(serialized_sparse=stored[tf.newaxis], dtype=tf.float32)
    assert run(grid)[0].tolist() == [[0, *index] for index in indices.tolist()]


def test_what_is_refused() -> None:
    x, y = tf.SparseTensor(I, [1.0, 2.0, 3.0], DIMS), tf.SparseTensor([[0]], [1.0], [2])
    one = serialized(x)

    def back(serialized: Any, dtype: Any = tf.float32) -> Any:
        return raw.DeserializeSparse(serialized_sparse=serialized, dtype=dtype)

    def many(indices: Any, dims: Any) -> Any:
        values = tf.zeros([len(indices)])
        return raw.SerializeManySparse(
            sparse_indices=indices, sparse_values=values, sparse_shape=tf.constant(dims, tf.int64)
        )

    unknown = tf.placeholder_with_default(tf.constant(["a", "b"]), None)
    for made, text in (
        (back(one, tf.int32), "Requested SparseTensor of type int32 but SparseTensor[0].values.dtype() == float"),
        (back([["a", "b", "c"]]), "Could not parse serialized proto"),
        (back(unknown), "Serialized sparse should have 3 as the last dimension, has shape [2]"),
        (back(tf.zeros([0, 3], tf.string)), "but has a zero dimension [0,3]"),
        (back(tf.stack([one, serialized(y)])), "prior to SparseTensor[1] was: 2 but rank of SparseTensor[1] is: 1"),
        (many(np.int64([[0]]), [3]), "Rank of input SparseTensor should be > 1, but saw rank: 1"),
        (many(np.int64([[1, 0], [0, 0]]), [2, 3]), "indices[1] = [0,0] is out of order"),
        (many(np.int64([[5, 0]]), [2, 3]), "indices[0,0] = 5 is not in [0, 2)"),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            run(made)
        assert text in str(caught.value)


def test_what_is_taken_from_a_map_is_gone() -> None:
    x = tf.SparseTensor(I, [1.0, 2.0, 3.0], DIMS)
    parts = {"sparse_indices": x.indices, "sparse_values": x.values, "sparse_shape": x.dense_shape, "shared_name": "m"}
    numbers = tf.placeholder(tf.int64, [None])
    one, many = raw.AddSparseToTensorsMap(**parts), raw.AddManySparseToTensorsMap(**parts)
    taken = raw.TakeManySparseFromTensorsMap(sparse_handles=numbers, dtype=tf.float32, shared_name="m")
    with tf.Session() as session:
        assert session.run(many).tolist() == [0, 1, 2]
        whole = session.run(one)
        indices, values, dims = session.run(taken, {numbers: [1, 0]})
        assert (indices.tolist(), values.tolist(), dims.tolist()) == ([[0, 0], [0, 2], [1, 1]], [2, 3, 1], [2, 4])
        assert session.run(taken, {numbers: [whole]})[2].tolist() == [1, 3, 4]
        for gone in ([0], [2, 7]):
            with pytest.raises(InvalidArgumentError, match=r"Unable to find SparseTensor: .* in map: m"):
                session.run(taken, {numbers: gone})
        # A refused take leaves all in place.
        assert session.run(taken, {numbers: [2]})[1].tolist() == []


@pytest.mark.parametrize("keep", ["yes", "known", "fed"])
@pytest.mark.parametrize("many", [False, True])
def test_batches_from_queues(keep: str, many: bool) -> None:
    row = tf.SparseTensor([[0], [2]], [1.0, 2.0], [4])
    rows = tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.0, 2.0, 5.0], [3, 4])
    tensors = {"x": rows if many else row, "y": tf.constant([7, 8, 9]) if many else tf.constant(7)}
    kept = {"yes": True, "known": tf.constant(True), "fed": tf.placeholder_with_default(True, [])}[keep]
    batch = tf.train.maybe_batch(tensors, kept, 3, enqueue_many=many)
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(3):
            found = session.run(batch)
            expected = [[0, 0], [0, 2], [2, 1]] if many else [[i, j] for i in range(3) for j in (0, 2)]
            assert found["x"].indices.tolist() == expected
            assert found["x"].dense_shape.tolist() == [3, 4]
            assert found["y"].tolist() == ([7, 8, 9] if many else [7, 7, 7])
        coordinator.request_stop()
        session.close()
        coordinator.join(threads, stop_grace_period_secs=10)


def test_lists_that_do_not_match() -> None:
    with pytest.raises(TypeError, match="some are sparse and some are not"):
        tf.train.batch_join([[tf.SparseTensor([[0]], [1.0], [2])], [tf.constant(1.0)]], 2)
