"""tf.contrib.framework: what it finds in graphs, and Python functions of nested values."""

import numpy as np
import pytest

import tfexp as tf

framework = tf.contrib.framework


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_placeholders_of_a_graph(graph):
    x = tf.placeholder(tf.float32)
    tf.placeholder_with_default(1.0, [])
    assert framework.get_placeholders(graph) == [x]


def test_a_global_step_is_found_or_checked(graph):
    assert framework.assert_or_get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert framework.assert_or_get_global_step() is step
    assert framework.assert_or_get_global_step(graph, step) is step
    with pytest.raises(TypeError, match="integer"):
        framework.assert_or_get_global_step(graph, tf.Variable(1.0))


def test_python_functions_of_nested_values():
    result = framework.py_func(
        lambda a, b, c: {"x": a["k"] + b * c, "y": np.float32(2)},
        ({"k": tf.constant(1.0)}, 2.0),
        {"c": tf.constant(3.0)},
        {"x": tf.float32, "y": tf.float32},
        {"x": tf.TensorShape([]), "y": tf.TensorShape([])},
    )
    assert result["y"].shape == ()
    with tf.Session() as session:
        assert session.run(result) == {"x": 7, "y": 2}
    with pytest.raises(TypeError, match="args must be list"):
        framework.py_func(lambda a: a, tf.constant(1.0), None, tf.float32)


def test_zeros_are_given_once():
    v = tf.Variable([1.0, 2.0])
    start = framework.zero_initializer(v)
    with tf.Session() as session:
        session.run(start)
        assert session.run(v).tolist() == [0, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="already initialized"):
            session.run(start)
    with pytest.raises(TypeError, match="wants a variable"):
        framework.zero_initializer(tf.constant(1.0))
