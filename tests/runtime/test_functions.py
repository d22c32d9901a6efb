"""Functions as kernels call them."""

import numpy as np
import pytest
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

import tfexp as tf
from tfexp.core.errors import NotFoundError
from tfexp.graph.function_graph import FunctionGraph, function_name
from tfexp.runtime.resources import Resources
from tfexp.runtime.step import NodeContext


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def built(name, body, arguments):
    """The function of a Python function of arguments of these dtypes, shapes and names."""
    graph = FunctionGraph(function_name(name), tf.get_default_graph())
    with graph.as_default():
        inputs = [graph.argument(*argument) for argument in arguments]
        outputs = body(*inputs)
    return graph.finish(inputs, outputs)[0]


def bound(graph, function, resources=None):
    context = NodeContext("node", "/job:localhost/replica:0/task:0/device:CPU:0", resources or Resources(), graph._functions)
    return context.function(NameAttrList(name=function.name))


def test_a_kernel_calls_a_function_with_values_of_any_shape(graph):
    function = built("f", lambda a, b: [a * b, tf.shape(a)], [(tf.float32, None, "a"), (tf.float32, [], "b")])
    call = bound(graph, function)
    for shape in [(), (3,), (2, 5), (3,), (3,)]:
        product, dims = call([np.full(shape, 3.0, np.float32), np.float32(2)])
        np.testing.assert_array_equal(product, np.full(shape, 6.0))
        assert tuple(dims) == shape


def test_what_random_nodes_remember_is_the_calls_own(graph):
    function = built("draw", lambda: [tf.random_uniform([3], seed=7)], [])
    first, second = bound(graph, function), bound(graph, function)
    (a,), (b,), (c,) = first([]), first([]), second([])
    assert (a != b).all()
    np.testing.assert_array_equal(a, c)


def test_an_unknown_function_is_not_found(graph):
    context = NodeContext("node", "", Resources(), graph._functions)
    with pytest.raises(NotFoundError, match="Function nowhere is not defined"):
        context.function(NameAttrList(name="nowhere"))
