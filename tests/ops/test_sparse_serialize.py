"""Sparse tensors as strings, and back."""

import numpy as np
import pytest

import tfexp as tf

PLACES = np.array([[0, 1], [2, 0], [2, 4]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def sparse(values=(1.5, 2.5, 3.5), dims=(3, 5)):
    return tf.SparseTensor(PLACES, list(values), list(dims))


def run(*fetches):
    with tf.Session() as session:
        return session.run(list(fetches))


@pytest.mark.parametrize("values", [(1.5, 2.5, 3.5), ("a", "", "ccc"), (1, 2, 3), (True, False, True)])
def test_there_and_back(values):
    rows = tf.serialize_many_sparse(sparse(values))
    back = tf.deserialize_many_sparse(rows, tf.convert_to_tensor(values[:1]).dtype, rank=1)
    assert back.shape.as_list() == [None, None]
    (found, text) = run(back, rows)
    assert text.shape == (3, 3)
    assert found.indices.tolist() == PLACES.tolist()
    assert [v.decode() if isinstance(v, bytes) else v for v in found.values.tolist()] == list(values)
    assert found.dense_shape.tolist() == [3, 5]


def test_one_of_them_among_others():
    one = tf.serialize_sparse(sparse())
    both = tf.deserialize_many_sparse(tf.stack([one, one]), tf.float32)
    (found,) = run(both)
    assert found.dense_shape.tolist() == [2, 3, 5]
    assert found.indices[3:].tolist() == [[1, *place] for place in PLACES.tolist()]


def test_rows_of_different_sizes_take_the_largest():
    rows = tf.stack([tf.serialize_sparse(sparse(dims=(3, 5))), tf.serialize_sparse(sparse(dims=(4, 7)))])
    (found,) = run(tf.deserialize_many_sparse(rows, tf.float32))
    assert found.dense_shape.tolist() == [2, 4, 7]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.deserialize_many_sparse(tf.constant([["x", "y", "z"]]), tf.float32), "Could not parse"),
        (lambda: tf.deserialize_many_sparse(tf.serialize_many_sparse(sparse()), tf.int32), "Requested SparseTensor of type"),
        (lambda: tf.serialize_many_sparse(tf.SparseTensor([[0]], [1.0], [3])), "Rank of input SparseTensor should be > 1"),
        (lambda: tf.serialize_many_sparse(tf.SparseTensor([[2, 0], [0, 0]], [1.0, 2.0], [3, 1])), "not sorted"),
    ],
)
def test_what_cannot_be_is_refused(build, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(build())
