"""GraphDefs that transforms make fit for inference; what the outputs are stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.formats.tensor import make_ndarray
from tfexp.train.graph_transforms import TransformGraph, parse_transforms

X = np.arange(30, dtype=np.float32).reshape(1, 2, 5, 3) / 7


@pytest.fixture(name="definition")
def _definition() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, None, 5, 3], name="x")
        weights = tf.constant(np.linspace(-1, 3, 54, dtype=np.float32).reshape(3, 3, 3, 2), name="w")
        conv = tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME", name="conv")
        scaled = tf.identity(tf.multiply(conv, tf.constant([2.0, 3.0]), name="scaled"), name="between")
        with tf.device("/cpu:0"):
            three = tf.add(tf.constant(1.0, name="one"), tf.constant(2.0, name="two"), name="three")
        same = [tf.constant(5, name=name) for name in ("five", "also_five")]
        with tf.control_dependencies([tf.add(*same, name="ten")]):
            tf.multiply(scaled, three, name="z")
    return graph.as_graph_def()


def run(definition: Any) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(definition, name="")
        return session.run("z:0", {"x:0": X})


def nodes(definition: Any) -> dict[str, Any]:
    return {node.name: node for node in definition.node}


@pytest.mark.parametrize(
    ("transform", "gone", "there"),
    [
        ("strip_unused_nodes", [], ["ten"]),
        ("remove_nodes(op=Identity)", ["between"], ["scaled"]),
        ("fold_constants(ignore_errors=true)", ["one", "two", "ten"], ["three"]),
        ("fold_batch_norms", ["conv"], ["scaled"]),
        ("fold_old_batch_norms", [], ["conv"]),
        ("merge_duplicate_nodes", ["also_five"], ["five", "ten"]),
        ("remove_control_dependencies strip_unused_nodes", ["five", "ten"], ["one"]),
        ("sort_by_execution_order", [], ["z"]),
        ("obfuscate_names", ["conv", "scaled"], ["0", "a"]),
        ("add_default_attributes", [], ["conv"]),
        ("remove_device", [], ["three"]),
        ("fold_constants fold_batch_norms, remove_nodes(op=Identity)", ["one", "conv", "between"], ["scaled"]),
    ],
)
def test_the_result_stays(definition, transform, gone, there):
    made = TransformGraph(definition, ["x"], ["z"], [transform])
    assert set(nodes(definition)) >= set(gone) and not set(nodes(made)) & set(gone)
    assert {"x", "z", *there} <= set(nodes(made))
    assert np.allclose(run(made), run(definition), rtol=1e-5)


def test_placeholders_for_inputs(definition):
    made = nodes(TransformGraph(definition, ["conv"], ["z"], ['strip_unused_nodes(type=int32, shape="1,-1,5,2")']))
    assert "x" not in made and (made["conv"].op, made["conv"].attr["dtype"].type) == ("Placeholder", 3)
    assert [dim.size for dim in made["conv"].attr["shape"].shape.dim] == [1, -1, 5, 2]
    chosen = "strip_unused_nodes(name=conv, type_for_name=half, shape_for_name=7)"
    conv = nodes(TransformGraph(definition, ["conv"], ["z"], [chosen]))["conv"]
    assert conv.attr["dtype"].type == 19 and conv.attr["shape"].shape.dim[0].size == 7


def test_rewriting_nodes(definition):
    def after(transform: str) -> dict[str, Any]:
        return nodes(TransformGraph(definition, ["x"], ["z"], [transform]))

    assert after("rename_op(old_op_name=Mul, new_op_name=Div)")["z"].op == "Div"
    renamed = after("rename_attribute(old_attribute_name=T, new_attribute_name=U, op_name=Mul)")
    assert list(renamed["z"].attr) == ["U"] and "T" in renamed["conv"].attr
    assert list(after("remove_attribute(attribute_name=T)")["z"].attr) == []
    assert after('set_device(device="/gpu:0")')["three"].device == "/gpu:0"
    devices = after('set_device(device="/gpu:0", if_default=true)')
    assert devices["z"].device == "/gpu:0" and "CPU" in devices["three"].device


def test_results_of_one_node_are_folded_apart():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.int32, [2], name="x")
        first, second = tf.split(tf.range(4), 2, name="parts")
        tf.add_n([first, second, x, second], name="z")
    made = TransformGraph(graph.as_graph_def(), ["x"], ["z"], ["fold_constants"])
    assert {node.name: node.op for node in made.node} == {
        **{"x": "Placeholder", "z": "AddN", "parts": "Const", "parts/folded_1": "Const"}
    }
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(made, name="")
        assert session.run("z:0", {"x:0": [1, 2]}).tolist() == [5, 9]


def test_random_values_are_not_folded():
    with tf.Graph().as_default() as graph:
        tf.identity(tf.random_uniform([2], name="r"), name="z")
    made = TransformGraph(graph.as_graph_def(), [], ["z"], ["fold_constants"])
    assert "RandomUniform" in {node.op for node in made.node}


def test_rounded_weights(definition):
    made = nodes(TransformGraph(definition, ["x"], ["z"], ["round_weights(num_steps=4)"]))
    assert np.unique(make_ndarray(made["w"].attr["value"].tensor)).tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5]
    assert make_ndarray(made["one"].attr["value"].tensor) == 1.0


def test_weights_in_eight_bits(definition):
    made = TransformGraph(definition, ["x"], ["z"], ["quantize_weights(minimum_size=54)"])
    found = nodes(made)
    assert (found["w"].op, list(found["w"].input)) == (
        "Dequantize",
        ["w_quantized_const", "w_quantized_min", "w_quantized_max"],
    )
    levels = make_ndarray(found["w_quantized_const"].attr["value"].tensor)
    assert (levels.min(), levels.max(), levels.dtype.itemsize) == (0, 255, 1)
    assert np.allclose(run(made), run(definition), atol=4 / 255 * np.abs(X).sum() * 6)
    assert nodes(TransformGraph(definition, ["x"], ["z"], ["quantize_weights"]))["w"].op == "Const"


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        ("nope", "Transform 'nope' not recognized"),
        ("rename_op(old_op_name=Mul)", "rename_op expects exactly one 'old_op_name' and 'new_op_name' argument"),
        ("remove_attribute", "remove_attribute expects exactly one 'attribute_name' argument"),
        ("remove_nodes", "remove_nodes expects at least one 'op'"),
        ("(", r"Looking for transform name, but found \("),
    ],
)
def test_what_is_refused(definition, transform, text):
    with pytest.raises(errors.InvalidArgumentError, match=text):
        TransformGraph(definition, ["x"], ["z"], [transform])


def test_missing_inputs_and_outputs(definition):
    with pytest.raises(errors.InvalidArgumentError, match="Input node q not found in graph"):
        TransformGraph(definition, ["x"], ["q"], ["strip_unused_nodes"])
    made = TransformGraph(definition, ["x"], ["q"], ["strip_unused_nodes(ignore_errors=true)"])
    assert made == definition
    for fed, fetched in (("x", "q"), ("q", "z")):
        with pytest.raises(errors.NotFoundError, match="The node q to be fed or fetched is not found"):
            TransformGraph(definition, [fed], [fetched], ["fold_constants"])


def test_reading_transforms():
    text = 'a(x=1, x="2 3",y=/cpu:0) b, c() d(q=1'
    assert parse_transforms(text) == [("a", {"x": ["1", "2 3"], "y": ["/cpu:0"]}), ("b", {}), ("c", {}), ("d", {"q": ["1"]})]
