"""Graphs that learn with numbers of few bits: their nodes and values are those of TensorFlow 1.15."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def quantized(bits=8):
    return tf.train.do_quantize_training_on_graphdef(tf.get_default_graph().as_graph_def(), bits)


def rounding(definition):
    """{what is rounded: (whether it is signed, its limits or the nodes that they come from)}."""
    nodes = {node.name: node for node in definition.node}

    def limit(name):
        node = nodes[name]
        return tf.make_ndarray(node.attr["value"].tensor).item() if node.op == "Const" else node.op

    return {
        node.input[0]: (node.attr["signed_input"].b, *map(limit, node.input[1:]))
        for node in definition.node
        if node.op == "QuantizeAndDequantizeV2"
    }


MOVING = ("Assign", "Assign")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (tf.nn.relu, (False, *MOVING)),
        (tf.nn.elu, (True, *MOVING)),
        (tf.nn.relu6, (False, 0.0, 6.0)),
        (tf.sigmoid, (False, 0.0, 1.0)),
        (tf.tanh, (True, -1.0, 1.0)),
        (lambda x: tf.reshape(tf.identity(tf.concat([tf.nn.relu6(x), tf.tanh(x)], 0)), [3, 4]), (False, 0.0, 6.0)),
        (lambda x: tf.squeeze(tf.nn.relu6(x)), (True, *MOVING)),
    ],
)
def test_limits_follow_from_what_made_the_values(make, expected):
    values = make(tf.placeholder(tf.float32, [2, 3]))
    tf.matmul(values, tf.ones([values.shape[1].value, 2]))
    assert rounding(quantized())[values.op.name] == expected


def test_what_is_rounded_is_rounded_once_and_gradients_are_not():
    weights = tf.get_variable("w", [3, 3])
    first, second = tf.split(tf.placeholder(tf.float32, [3, 6]), 2, 1)
    tf.gradients([tf.matmul(first, weights), tf.matmul(second, weights), tf.matmul(first, first)], weights)
    definition = quantized()
    assert set(rounding(definition)) == {"split", "split:1", "w/read"}
    takers = {node.name: list(node.input[:2]) for node in definition.node if node.op == "MatMul"}
    assert takers["MatMul_1"] == ["split_1/QuantizeAndDequantizeV2", "w/read/QuantizeAndDequantizeV2"]
    assert all("Quantize" not in name for node, given in takers.items() if "gradients" in node for name in given)


def test_moving_means_begin_with_the_first_values():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    weights = tf.get_variable("w", initializer=tf.ones([3, 2]))
    hidden = tf.nn.relu6(tf.matmul(tf.nn.relu(x), weights))
    tf.matmul(hidden, tf.constant([[1.0], [2.0]]), name="out")
    definition = quantized()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(definition, name="")
        session.run("w/Assign")
        found = [
            session.run(["out:0", "Relu/QuantizeAndDequantizeV2:0", "Relu/Max/Variable:0"], {"x:0": [row]})
            for row in ([0.11, 0.22, 0.37], [5.0, 0.1, 0.0], [0.11, 0.22, 0.37])
        ]
        limits = [session.run("Relu/Max/Variable:0")]
    np.testing.assert_allclose([out.item() for out, _, _ in found], [2.12321, 1.41547, 2.12321], rtol=1e-5)
    np.testing.assert_allclose(found[1][1], [[0.37463, 0.0999, 0.0]], atol=1e-5)
    np.testing.assert_allclose(limits, [0.37463], atol=1e-5)


@pytest.mark.parametrize("bits", [0, 64])
def test_bits_that_there_are_not(bits):
    with pytest.raises(tf.errors.OutOfRangeError, match=rf"in range \[1, 63\] but is: {bits}"):
        quantized(bits)
