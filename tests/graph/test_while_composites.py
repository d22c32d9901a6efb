"""tf.while_loop of tensors that are made of others."""

import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def _run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def test_sparse_tensors_go_round():
    sparse = tf.SparseTensor([[1]], [3.0], [5])

    def grown(i, s):
        indices = tf.concat([s.indices, [[tf.cast(i, tf.int64) + 2]]], 0)
        return i + 1, tf.SparseTensor(indices, tf.concat([s.values * 2, [1.0]], 0), s.dense_shape)

    _, found = tf.while_loop(lambda i, s: i < 2, grown, [0, sparse])
    assert found.indices.shape.as_list() == [None, 1] and found.values.shape.as_list() == [None]
    assert _run(tf.sparse_tensor_to_dense(found)).tolist() == [0, 12, 2, 1, 0]
    _, same = tf.while_loop(lambda i, s: i < 2, grown, [0, sparse], [tf.TensorShape([]), tf.TensorShape([None])])
    assert same.indices.shape.as_list() == [None, None]
    with pytest.raises(ValueError, match="shape invariant"):
        tf.while_loop(lambda i, s: i < 2, grown, [0, sparse], [tf.TensorShape([]), tf.TensorShape([2])])
