"""Sparse and ragged tensors go into Keras's models and come out of them."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.training.joined import joined

L, V1 = tf.keras.layers, tf.compat.v1


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        yield session


def of_sparse():
    inputs = L.Input((5,), sparse=True, name="x")
    dense = L.Lambda(lambda tensor: tf.reshape(tf.sparse.to_dense(tensor), [-1, 5]))(inputs)
    return tf.keras.Model(inputs, L.Dense(2, kernel_initializer="ones")(dense))


def of_ragged(layer):
    inputs = L.Input((None,), ragged=True, dtype="int64")
    return tf.keras.Model(inputs, layer(inputs))


def sums(rows):
    return tf.reshape(tf.cast(tf.reduce_sum(rows, axis=1), tf.float32), [-1, 1])


SPARSE = V1.SparseTensorValue(np.array([[0, 1], [2, 3]]), np.array([2.0, 3.0]), (3, 5))
RAGGED = V1.ragged.constant_value([[1, 2], [], [3, 5, 7]])


@pytest.mark.parametrize("x", [SPARSE, [SPARSE], {"x": SPARSE}], ids=["alone", "list", "named"])
def test_sparse_values(x):
    model = of_sparse()
    np.testing.assert_array_equal(model.predict(x, steps=1), [[2, 2], [0, 0], [3, 3]])
    np.testing.assert_array_equal(model.predict_on_batch(x)[2], [3, 3])
    model.compile("sgd", "mse")
    assert model.train_on_batch(x, np.zeros((3, 2))) == pytest.approx(13 / 3)
    with pytest.raises(ValueError, match="specify the `steps` argument"):
        model.predict(x)
    with pytest.raises(ValueError, match="the same number of samples"):
        model.train_on_batch(x, np.zeros((2, 2)))


def test_sparse_tensors_and_datasets():
    model, tensor = of_sparse(), tf.SparseTensor([[0, 1], [2, 3]], [2.0, 3.0], (3, 5))
    np.testing.assert_array_equal(model.predict(tensor, steps=2), [[2, 2], [0, 0], [3, 3]] * 2)
    np.testing.assert_array_equal(model.predict(tf.data.Dataset.from_tensors(tensor)), [[2, 2], [0, 0], [3, 3]])
    model.compile("sgd", "mse")
    pairs = tf.data.Dataset.from_tensors((tensor, tf.zeros((3, 2))))
    assert model.evaluate(pairs, verbose=0) == pytest.approx(13 / 3)
    assert model.fit(pairs, verbose=0).history["loss"] == [pytest.approx(13 / 3)]


def test_ragged_values_and_datasets():
    model = of_ragged(L.Lambda(sums))
    np.testing.assert_array_equal(model.predict(RAGGED, steps=1), [[3], [0], [15]])
    np.testing.assert_array_equal(model.predict(tf.ragged.constant([[1, 2], [3]], dtype=tf.int64), steps=1), [[3], [3]])
    model.compile("sgd", "mse")
    pairs = tf.data.Dataset.from_tensors((tf.ragged.constant([[1], [2, 3]], dtype=tf.int64), tf.zeros((2, 1))))
    assert model.evaluate(pairs, verbose=0) == pytest.approx(13)
    with pytest.raises(ValueError, match="specify the `steps` argument"):
        model.predict(RAGGED)


def test_what_comes_out_may_be_sparse_or_ragged():
    doubled = of_ragged(L.Lambda(lambda rows: rows * 2)).predict(RAGGED, steps=2)
    assert doubled.to_list() == [[2, 4], [], [6, 10, 14]] * 2 and doubled.row_splits.dtype == np.int64
    inputs = L.Input((5,), sparse=True)
    twice = tf.keras.Model(inputs, L.Lambda(lambda tensor: tensor * 2.0)(inputs)).predict(SPARSE, steps=2)
    np.testing.assert_array_equal(twice.indices, [[0, 1], [2, 3], [3, 1], [5, 3]])
    np.testing.assert_array_equal(twice.values, [4, 6, 4, 6])
    np.testing.assert_array_equal(twice.dense_shape, [6, 5])


def test_rows_of_rows_are_joined():
    parts = [V1.ragged.constant_value([[[1], [2, 3]], []]), V1.ragged.constant_value([[[5, 7]]])]
    assert joined(parts).to_list() == [[[1], [2, 3]], [], [[5, 7]]]
