"""Sparse and ragged tensors go into Keras's models and come out of them."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.training.composite_rows import rows_of
from tfexp.keras.training.joined import joined
from tfexp.runtime.eager import eager_mode

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


def test_where_ops_run_at_once_rows_are_taken_in_batches():
    with eager_mode():
        sparse = tf.SparseTensor([[0, 1], [2, 3]], [2.0, 3.0], (3, 5))
        ragged = tf.ragged.constant([[1, 2], [], [3, 5, 7]], dtype=tf.int64)
        for model, x, sums_of_rows in ((of_sparse(), sparse, [2, 0, 3]), (of_ragged(L.Lambda(sums)), ragged, [3, 0, 15])):
            model.compile(tf.keras.optimizers.SGD(0.0), "mse")
            targets = np.zeros((3, model.output_shape[-1]), np.float32)
            loss = pytest.approx(np.mean(np.square(sums_of_rows)))
            np.testing.assert_array_equal(model.predict(x, batch_size=2)[:, 0], sums_of_rows)
            data = tf.data.Dataset.from_tensor_slices((x, targets)).batch(3)
            np.testing.assert_array_equal(model.predict(data)[:, 0], sums_of_rows)
            assert model.evaluate(data, verbose=0) == model.test_on_batch(x, targets) == loss
            for further in ({"batch_size": 2}, {"steps_per_epoch": 1}):
                assert model.fit(x, targets, verbose=0, **further).history["loss"] == [loss]
            assert len(model.fit(x, targets, validation_split=0.4, verbose=0).history["val_loss"]) == 1
        with pytest.raises(ValueError, match="explicitly declared"):
            tf.keras.Sequential([L.Dense(1)]).predict(sparse)


def test_rows_of_composite_values():
    rows = rows_of(SPARSE, [2, 0])
    assert (rows.indices.tolist(), rows.values.tolist(), list(rows.dense_shape)) == ([[0, 3], [1, 1]], [3, 2], [2, 5])
    deep = V1.ragged.constant_value([[[1], [2, 3]], [], [[5, 7]]])
    assert rows_of(deep, [2, 0]).to_list() == [[[5, 7]], [[1], [2, 3]]]
    assert rows_of(deep, slice(1, None)).to_list() == [[], [[5, 7]]]
