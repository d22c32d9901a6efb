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


def test_sparse_and_ragged_tensors_go_round():
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
    ragged = tf.ragged.constant([[1, 2], [3]])
    _, wide = tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.concat([r, r[:, :1]], 1)), [0, ragged])
    assert _run(wide.to_tensor()).tolist() == [[1, 2, 1, 1], [3, 3, 3, 0]]
    assert wide.row_splits.shape.as_list() == [3] and wide.values.shape.as_list() == [None]

    def longer(i, r):
        return i + 1, tf.concat([r, r], 0)

    with pytest.raises(ValueError, match="less-specific shape"):
        tf.while_loop(lambda i, r: i < 1, longer, [0, ragged])
    _, long = tf.while_loop(lambda i, r: i < 1, longer, [0, ragged], [tf.TensorShape([]), tf.TensorShape([None, None])])
    assert _run(long.to_tensor()).tolist() == [[1, 2], [3, 0], [1, 2], [3, 0]]


@pytest.mark.parametrize("functional", [False, True])
def test_specs_say_what_stays(functional):
    """In place of shapes; TF 1.15's answers."""

    def twice(start, spec):
        def body(i, x):
            return i + 1, tf.concat([x, x], 0)

        return tf.while_loop(lambda i, x: i < 1, body, [0, start], shape_invariants=[tf.TensorSpec([], tf.int32), spec])[1]

    if functional:
        tf.enable_control_flow_v2()
    try:
        numbers, ragged = tf.constant([1.0]), tf.ragged.constant([[1.0], [2.0, 3.0]])
        assert _run(twice(numbers, tf.TensorSpec([None], tf.float32))).tolist() == [1, 1]
        found = twice(ragged, tf.RaggedTensorSpec([None, None]))
        assert _run(found).to_list() == [[1], [2, 3], [1], [2, 3]]
        assert found.row_splits.shape.as_list() == [None]
        for start, spec in [
            (numbers, tf.TensorSpec([None], tf.int32)),
            (numbers, tf.RaggedTensorSpec([None, None])),
            (ragged, tf.RaggedTensorSpec([None, None], tf.int32)),
            (tf.SparseTensor([[0]], [1.0], [2]), tf.TensorSpec([None], tf.float32)),
        ]:
            with pytest.raises(TypeError, match=r"^TypeSpec .* is not compatible with "):
                twice(start, spec)
        with pytest.raises(ValueError, match=r"the specified shape invariant is \(2,\)"):
            twice(numbers, tf.TensorSpec([2], tf.float32))
    finally:
        if functional:
            tf.disable_control_flow_v2()
