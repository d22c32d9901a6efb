"""Trees of operations, found as TensorFlow's own rewriting finds them."""

from __future__ import annotations

import pytest

import tfexp as tf
from tfexp.contributed.quantize.patterns import GraphMatcher, MatchResult, OneofPattern, OpTypePattern


def test_a_layer_is_found_with_its_parts_by_name() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3, 5])
        weights = tf.identity(tf.ones([5, 2]), "weights")
        plain = tf.nn.relu(tf.matmul(x, weights))
        tf.nn.relu6(tf.add(tf.ones([2]), tf.matmul(x, weights)))
        product = OpTypePattern("MatMul", name="product", inputs=["*", OpTypePattern("Identity", name="weights")])
        sum_of = OpTypePattern("Add|AddV2", inputs=["Const|Fill", product], ordered_inputs=False)
        root = OpTypePattern("Relu|Relu6", name="root", inputs=[OneofPattern([product, sum_of])])
        found = list(GraphMatcher(root).match_graph(graph))
        assert [one.get_op("root").type for one in found] == ["Relu", "Relu6"]
        assert found[0].get_op(root) is plain.op and found[0].get_tensor(root) is None
        assert found[0].get_tensor("weights") is weights and found[0].get_op("product").type == "MatMul"
        assert found[0].get_op(sum_of) is None and found[1].get_op(sum_of).type == "AddV2"
        assert found[0].get_op("no such") is None
        assert GraphMatcher(OpTypePattern("Relu", inputs=[product, product])).match_op(plain.op) is None


def test_the_output_that_is_taken_is_known_and_names_are_given_once() -> None:
    with tf.Graph().as_default():
        first, second = tf.split(tf.ones([4]), 2)
        part = OpTypePattern("Split", name="part")
        found = GraphMatcher(OpTypePattern("Neg", inputs=[part])).match_op(tf.negative(second).op)
        assert isinstance(found, MatchResult) and found.get_tensor(part) is second
        with pytest.raises(ValueError, match="already been bound"):
            found.add(part, first.op, first)
        with pytest.raises(ValueError, match="must be a Pattern"):
            found.get_op(3)  # type: ignore[arg-type]
