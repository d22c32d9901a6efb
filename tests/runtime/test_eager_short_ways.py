"""The short ways of eager execution give what the ops give, and take what these take."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


KEYS = [
    1,
    -1,
    (1, 2),
    slice(1, None),
    slice(5, 1, -2),
    (slice(None), 2),
    (Ellipsis, 0),
    (None, 3),
    (2, slice(None, None, 2)),
    (),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_slices_and_their_gradients_are_what_the_op_gives(key):
    value = np.arange(35, dtype=np.float32).reshape(7, 5)
    x = tf.constant(value)
    np.testing.assert_array_equal(x[key].numpy(), value[key])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[key] ** 3)
        gradient = tape.gradient(y, x)
    chosen = np.zeros_like(value)
    chosen[key] = 1
    np.testing.assert_allclose(gradient.numpy(), 3 * value**2 * chosen)
    np.testing.assert_allclose(outer.gradient(gradient, x).numpy(), 6 * value * chosen)


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (7, tf.errors.InvalidArgumentError, "slice index 7 of dimension 0 out of bounds"),
        ((0, -6), tf.errors.InvalidArgumentError, "slice index -6 of dimension 1 out of bounds"),
        ((0, 0, 0), tf.errors.InvalidArgumentError, "input has only 2 dims"),
        (slice(0, 3, 0), tf.errors.InvalidArgumentError, "must be non-zero"),
        (1.5, TypeError, "Only integers, slices"),
    ],
    ids=str,
)
def test_slices_that_do_not_fit(key, error, text):
    with pytest.raises(error, match=text):
        tf.zeros([7, 5])[key]


def test_slices_of_values_within_a_graph_are_nodes():
    x = tf.constant([1.0, 2.0])
    with tf.Graph().as_default() as graph:
        node = tf.constant(x.numpy())[1]
        assert node.graph is graph
    assert tf.constant([b"a", b"b"])[1].numpy() == b"b"


def test_products_of_matrices_and_of_batches():
    a, b = np.ones([2, 3], np.float32), np.full([5, 3], 2, np.float32)
    np.testing.assert_array_equal(tf.matmul(a, b, transpose_b=True).numpy(), a @ b.T)
    x, y = tf.constant(a), tf.constant(b)
    with tf.GradientTape() as tape:
        tape.watch(x)
        product = tf.matmul(x, y, transpose_b=True)
    np.testing.assert_array_equal(product.numpy(), a @ b.T)
    np.testing.assert_array_equal(tape.gradient(product, x).numpy(), np.ones([2, 5]) @ b)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"In\[0\]: \[2,3\], In\[1\]: \[5,3\]"):
        tf.matmul(x, y)
    batch = tf.constant(np.ones([7, 2, 3], np.float32))
    assert tf.matmul(batch, tf.ones([7, 3, 5])).shape == (7, 2, 5)


def test_a_variable_takes_only_values_of_its_shape():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^Shapes \(2,\) and \(3,\) are incompatible"):
        v.assign([1.0, 2.0, 3.0])
    assert v.assign([3.0, 4.0]).numpy().tolist() == [3, 4]


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (
            lambda: tf.constant(1.0, tf.float64) * tf.constant(1.0),
            "#1.zero-based. was expected to be a double tensor but is a float",
        ),
        (lambda: tf.constant(1) * 2.5, "expected to be a int32 tensor but is a float"),
        (lambda: tf.logical_not(tf.constant(1)), "#0.zero-based. was expected to be a bool tensor"),
        (lambda: tf.concat([tf.constant([1.0]), tf.constant([1])], 0), "compute ConcatV2 as input #1"),
        (lambda: tf.nn.max_pool(np.ones((1, 2, 2, 1), "f"), 1, 1, "X"), "'padding' of 'MaxPool' Op passed string 'X'"),
        (lambda: tf.raw_ops.Unpack(value=tf.constant([1.0]), num=-1), "less than minimum 0"),
    ],
)
def test_dtypes_and_attributes_that_do_not_fit(act, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        act()


def test_a_constant_of_a_tensor_is_the_tensor() -> None:
    value = tf.constant([1.0, 2.0])
    assert tf.constant(value) is value
    assert tf.constant(value, shape=[2, 1]).numpy().tolist() == [[1.0], [2.0]]
    with pytest.raises(TypeError, match=r"Expected tensor with type tf\.int32 not tf\.float32"):
        tf.constant(value, tf.int32)
