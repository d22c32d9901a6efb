"""What may be fed and how: numbers that fit, composites, nested keys, variables."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("float16", 70000), ("float16", 2049), ("float32", 2**24 + 1), ("float32", 2**130), ("complex64", 2**24 + 1)],
)
def test_an_integer_that_a_float_does_not_hold_is_refused(session, dtype, number):
    x = tf.placeholder(dtype)
    with pytest.raises(TypeError, match=f"Type of feed value {number} .* is not compatible with Tensor type"):
        session.run(x, {x: number})


@pytest.mark.parametrize(
    ("dtype", "number"), [("float16", 2048), ("float32", 2**25), ("float64", 2**53 + 1), ("bfloat16", 257), ("bool", 1)]
)
def test_an_integer_that_fits_is_fed(session, dtype, number):
    x = tf.placeholder(dtype)
    assert session.run(x, {x: number}) == np.asarray(number, tf.as_dtype(dtype).as_numpy_dtype)


def test_a_variable_that_is_fed_is_read_but_not_changed(session):
    v = tf.Variable([1.0, 2.0], use_resource=False)
    session.run(v.initializer)
    assert session.run(v + 1.0, {v: [3.0, 4.0]}).tolist() == [4.0, 5.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Input 0 of node AssignAdd .* expected float32_ref"):
        session.run(v.assign_add([1.0, 1.0]), {v: [3.0, 4.0]})
    assert session.run(v).tolist() == [1.0, 2.0]


def test_the_constant_shape_of_a_sparse_tensor_need_not_be_fed(session):
    x = tf.sparse_placeholder(tf.float32, [2, 3])
    indices, values, _ = session.run(x, {x: ([[0, 1]], [5.0])})
    assert (indices.tolist(), values.tolist()) == ([[0, 1]], [5.0])
    with pytest.raises(ValueError, match="Cannot feed value of shape"):
        session.run(x, {x: [1.0, 2.0]})


def test_a_callable_takes_composites(session):
    x, y = tf.sparse_placeholder(tf.float32), tf.placeholder(tf.float32)
    call = session.make_callable(tf.sparse.to_dense(x) * y, [x, y])
    assert call(tf.SparseTensorValue([[0, 1]], [5.0], [1, 2]), 3.0).tolist() == [[0.0, 15.0]]
    with pytest.raises(TypeError, match="takes 2 values"):
        call(3.0)


def test_nested_keys_take_values_nested_alike(session):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    assert session.run(x - y, {(x, (y,)): (5.0, (3.0,))}) == 2.0
    for value in (3.0, (3.0,)):
        with pytest.raises(ValueError, match="Key had 2 elements, but value had 1 elements"):
            session.run(x - y, {(x, y): value})


def test_structures_of_ones_own_are_fed_and_fetched(session):
    class Named(dict):
        __hash__ = object.__hash__

    class Several(tuple):
        def __new__(cls, *parts):
            return tuple.__new__(cls, parts)

    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    key = Named(b=y, a=(x,))
    fetched = session.run(Several(x - y, Several(y)), {key: {"a": (5.0,), "b": 3.0}})
    assert type(fetched) is Several and fetched == Several(2.0, Several(3.0))
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1 elements"):
        session.run(x, {key: {"a": (5.0,)}})


def test_structures_that_come_again_take_the_feeds_of_their_own_run(session):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    for fetches, wanted in [((x - y, y), (1.0, 2.0)), ({"left": x - y, "right": y}, {"left": 1.0, "right": 2.0})]:
        for feeds in ({x: 3.0, y: 2.0}, {y: 2.0, x: 3.0}, collections.OrderedDict({x: 3.0, y: 2.0})) * 2:
            assert session.run(fetches, feeds) == wanted


def test_feeds_that_are_no_mapping_are_refused_after_any_run(session):
    x = tf.placeholder(tf.float32, [])
    for fetches in (x + 1.0, (x, x)):
        session.run(fetches, {x: 1.0})
        with pytest.raises(TypeError, match="feed_dict must be a dictionary"):
            session.run(fetches, [x])


@pytest.mark.parametrize(("shape", "said"), [(None, "float"), ([], "float"), ([2, None], "float and shape [2,?]")])
def test_what_is_not_fed_is_told_by_its_shape_if_that_has_dimensions(shape, said):
    with tf.Graph().as_default(), tf.Session() as session:
        unfed = tf.placeholder(tf.float32, shape, name="x") + 1.0
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(unfed)
    wanted = f"You must feed a value for placeholder tensor 'x' with dtype {said}"
    assert caught.value.message.splitlines()[0] == wanted
