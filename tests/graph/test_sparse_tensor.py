"""SparseTensors: made, fed, fetched; and what gives them."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_three_tensors_with_one_shape():
    sparse = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    assert sparse.shape.as_list() == [3, 4] and sparse.dtype == tf.int32 and sparse.op is sparse.values.op
    with tf.Session():
        value = sparse.eval()
    assert isinstance(value, tf.SparseTensorValue)
    np.testing.assert_array_equal(value.indices, [[0, 0], [1, 2]])
    np.testing.assert_array_equal(value.dense_shape, [3, 4])


@pytest.mark.parametrize(
    ("indices", "values", "dense_shape", "message"),
    [
        ([[0]], [1], [[3]], r"Shape \(1, 1\) must have rank 1"),
        ([0], [1], [3], r"Shape \(1,\) must have rank 2"),
        ([[0, 1]], [1], [3], "Dimensions 2 and 1 are not compatible"),
    ],
)
def test_shapes_that_do_not_agree(indices, values, dense_shape, message):
    with pytest.raises(ValueError, match=message):
        tf.SparseTensor(indices, values, dense_shape)


def test_a_placeholder_is_fed_with_a_value_or_a_tuple():
    given = tf.sparse_placeholder(tf.float32, name="given")
    known = tf.sparse_placeholder(tf.float32, shape=[None, 5])
    assert given.values.name == "given/values:0" and given.shape.rank is None and known.shape.as_list() == [None, 5]
    value = tf.SparseTensorValue(np.array([[0, 1]], np.int64), np.array([5.0], np.float32), np.array([2, 2], np.int64))
    with tf.Session() as session:
        fetched = session.run({"sparse": given}, {given: value})["sparse"]
        np.testing.assert_array_equal(fetched.values, [5.0])
        assert session.run(given.values, {given: tuple(value)}) == [5.0]


def test_conversion():
    value = tf.SparseTensorValue(np.array([[0, 1]], np.int64), np.array([5.0], np.float32), np.array([2, 2], np.int64))
    sparse = tf.convert_to_tensor_or_sparse_tensor(value)
    assert isinstance(sparse, tf.SparseTensor) and tf.convert_to_tensor_or_sparse_tensor(sparse) is sparse
    assert isinstance(tf.convert_to_tensor_or_sparse_tensor([1, 2]), tf.Tensor)
    with pytest.raises(RuntimeError, match="Sparse dtype mismatch"):
        tf.convert_to_tensor_or_sparse_tensor(sparse, tf.int32)
    with pytest.raises(TypeError, match="Neither a SparseTensor nor SparseTensorValue"):
        tf.SparseTensor.from_value([1])


def test_split_strings_and_features_of_any_length_are_sparse():
    words = tf.string_split(tf.constant(["a b", "", "c"]))
    examples = [
        tf.train.Example(features=tf.train.Features(feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=v))}))
        for v in ([3, 4], [], [7])
    ]
    parsed = tf.parse_example([e.SerializeToString() for e in examples], {"n": tf.VarLenFeature(tf.int64)})
    with tf.Session() as session:
        split, numbers = session.run([words, parsed["n"]])
    np.testing.assert_array_equal(split.values, [b"a", b"b", b"c"])
    np.testing.assert_array_equal(split.indices, [[0, 0], [0, 1], [2, 0]])
    np.testing.assert_array_equal(split.dense_shape, [3, 2])
    np.testing.assert_array_equal(numbers.values, [3, 4, 7])
    np.testing.assert_array_equal(numbers.indices, [[0, 0], [0, 1], [2, 0]])
