"""GraphDefs cut down to what inference needs."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph import inference_graph as tools

IMAGE = np.arange(1 * 3 * 5 * 2, dtype=np.float32).reshape(1, 3, 5, 2)
FLOAT = tf.float32.as_datatype_enum


def normalised(depthwise=False, old=False, between=False, training=False):
    """The GraphDef of a convolution with a batch normalisation behind it."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, IMAGE.shape, name="in")
        weights = tf.constant(np.linspace(-1, 1, 24).reshape(2, 3, 2, 2), tf.float32, name="weights")
        convolve = tf.nn.depthwise_conv2d if depthwise else tf.nn.conv2d
        y = convolve(tf.check_numerics(x, "x"), weights, strides=[1, 1, 1, 1], padding="SAME", name="conv")
        y = tf.negative(y) if between else y
        count = 4 if depthwise else 2
        mean, variance, beta, gamma = (
            tf.constant(np.arange(count) + i, tf.float32, name=name)
            for i, name in enumerate(("mean", "variance", "beta", "gamma"), start=1)
        )
        if old:
            z = tf.nn.batch_norm_with_global_normalization(y, mean, variance, beta, gamma, 0.001, True, name="norm")
        elif training:
            z, _, _ = tf.nn.fused_batch_norm(y, gamma, beta, epsilon=0.001, name="norm")
        else:
            z, _, _ = tf.nn.fused_batch_norm(y, gamma, beta, mean, variance, epsilon=0.001, is_training=False, name="norm")
        tf.nn.relu(z, name="out")
        tf.nn.tanh(z, name="unused")
        return graph.as_graph_def()


def value(graph_def):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run("out:0", {"in:0": IMAGE})


def ops(graph_def):
    return [node.op for node in graph_def.node]


@pytest.mark.parametrize("depthwise", [False, True])
def test_a_batch_normalisation_goes_into_the_convolution_before_it(depthwise):
    before = normalised(depthwise)
    after = tools.optimize_for_inference(before, ["in"], ["out"], FLOAT)
    convolution = "DepthwiseConv2dNative" if depthwise else "Conv2D"
    assert ops(after) == ["Placeholder", "Relu", "Const", convolution, "Const", "BiasAdd"]
    names = ["in", "out", "conv_weights", "conv", "conv_bn_offset", "norm"]
    assert [node.name.removesuffix("/depthwise") for node in after.node] == names or depthwise
    np.testing.assert_allclose(value(after), value(before), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["between", "training"])
def test_what_cannot_be_folded_stays(kind):
    before = normalised(**{kind: True})
    after = tools.fold_batch_norms(before)
    assert ops(after) == ops(before)


def test_a_convolution_that_others_need_stays():
    before = normalised()
    before.node.add(name="other", op="Identity", input=["conv"]).attr["T"].type = FLOAT
    assert "FusedBatchNormV3" in ops(tools.fold_batch_norms(before))


def test_inputs_become_placeholders():
    definition = normalised()
    stripped = tools.strip_unused(definition, ["conv"], ["out"], FLOAT)
    assert (stripped.node[0].op, stripped.node[0].name, len(stripped.node)) == ("Placeholder", "conv", 7)
    both = tools.strip_unused(definition, ["conv", "gamma"], ["out"], [FLOAT, tf.half.as_datatype_enum])
    assert [node.attr["dtype"].type for node in both.node if node.op == "Placeholder"] == [1, 19]


def test_files(tmp_path):
    source, target = tmp_path / "graph.pb", tmp_path / "stripped.pbtxt"
    source.write_bytes(normalised().SerializeToString())
    tools.strip_unused_from_files(str(source), True, str(target), False, "conv", "out", FLOAT)
    assert target.read_text().startswith("node {") and "unused" not in target.read_text()
    with pytest.raises(ValueError, match="output_node_names"):
        tools.strip_unused_from_files(str(source), True, str(target), True, "conv", "", FLOAT)


def test_what_is_refused():
    definition = normalised()
    for wrong, error, message in (
        (["conv:0"], ValueError, "appears to refer to a Tensor"),
        (["nothing"], KeyError, "not found: {'nothing'}"),
    ):
        with pytest.raises(error, match=message):
            tools.strip_unused(definition, wrong, ["out"], FLOAT)
    with pytest.raises(ValueError, match="No node named 'b'"):
        tools.node_from_map({}, "b:1")
    with pytest.raises(ValueError, match="not Const"):
        tools.values_from_const(definition.node[0])
    definition.node[-1].input[0] = "nothing"
    with pytest.raises(ValueError, match="not found"):
        tools.ensure_graph_is_valid(definition)
    definition.node.add().CopyFrom(definition.node[0])
    with pytest.raises(ValueError, match="Duplicate node names"):
        tools.ensure_graph_is_valid(definition)
