"""Quantised graphs: where nodes are put, what they compute, and what they learn."""

import numpy as np
import pytest

import tfexp as tf

slim = tf.contrib.slim
quantize = tf.contrib.quantize


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        yield graph


def images(seed=5):
    return tf.constant(np.random.default_rng(seed).normal(size=[2, 5, 5, 3]), tf.float32)


def conv(x, outputs, scope, activation=tf.nn.relu6, training=True, norm=True, layer=slim.conv2d, **params):
    params = {"is_training": training, "decay": 0.9, "scale": True, **params}
    normed = {"normalizer_fn": slim.batch_norm, "normalizer_params": params} if norm else {}
    if layer is slim.separable_conv2d:
        return layer(x, None, [3, 3], 1, activation_fn=activation, scope=scope, **normed)
    return layer(x, outputs, [3, 3], activation_fn=activation, scope=scope, **normed)


def taken_in(graph, name):
    """The names of what an operation takes in."""
    return [tensor.op.name for tensor in graph.get_operation_by_name(name).inputs]


def fakes(graph):
    return {op.name.rpartition("/")[0] for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"}


def test_a_layer_has_quantised_weights_and_activations(graph):
    conv(images(), 7, "c", norm=False)
    quantize.create_training_graph(graph)
    assert taken_in(graph, "c/Conv2D")[1] == "c/weights_quant/FakeQuantWithMinMaxVars"
    assert taken_in(graph, "c/weights_quant/FakeQuantWithMinMaxVars") == [
        *("c/weights/read", "c/weights_quant/AssignMinLast", "c/weights_quant/AssignMaxLast")
    ]
    assert taken_in(graph, "c/act_quant/FakeQuantWithMinMaxVars") == [
        *("c/Relu6", "c/act_quant/AssignMinEma", "c/act_quant/AssignMaxEma")
    ]
    assert graph.get_operation_by_name("c/weights_quant/FakeQuantWithMinMaxVars").get_attr("narrow_range")


def test_evaluation_reads_limits_of_training(graph):
    conv(images(), 7, "c", norm=False)
    quantize.create_eval_graph()
    limits = ["c/weights_quant/min/read", "c/weights_quant/max/read"]
    assert taken_in(graph, "c/weights_quant/FakeQuantWithMinMaxVars")[1:] == limits
    assert {v.op.name for v in tf.global_variables()} == {
        *("c/weights", "c/biases", "c/weights_quant/min", "c/weights_quant/max", "c/act_quant/min", "c/act_quant/max")
    }


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layer", [slim.conv2d, slim.separable_conv2d, slim.fully_connected])
def test_folded_batch_norms_give_what_they_gave(graph, layer, training, fused):
    x = images()
    if layer is slim.fully_connected:
        params = {"is_training": training, "fused": fused, "scale": True}
        x = tf.reshape(x, [10, 15])
        y = layer(x, 7, normalizer_fn=slim.batch_norm, normalizer_params=params, activation_fn=None, scope="c")
    else:
        y = conv(x, 7, "c", None, training, layer=layer, fused=fused)
    end = tf.identity(y, "end")
    with tf.Session() as session:
        variables = tf.global_variables()
        session.run(tf.global_variables_initializer())
        for i, variable in enumerate(variables[1:]):
            variable.load(np.linspace(0.5, 1.5 + i, variable.shape[0]), session)
        before = session.run(y)
        quantize.experimental_create_training_graph(weight_bits=16, activation_bits=16)
        session.run(tf.variables_initializer([v for v in tf.global_variables() if v not in variables]))
        after = session.run(end)
    np.testing.assert_allclose(after, before, atol=2e-3)


def test_gradients_go_through_statistics(graph):
    """Where the averages are those of the batch, folding changes nothing of the gradient."""
    x = images()
    y = tf.reduce_sum(tf.square(conv(x, 7, "c", None, decay=0.5) + 0.3), name="loss")
    weights = tf.trainable_variables()[0]
    plain = tf.gradients(y, weights)[0]
    quantize.experimental_create_training_graph(weight_bits=16, activation_bits=16, quant_delay=1000)
    folded = tf.gradients(y, weights)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run([folded, plain]), atol=2e-3)


def test_values_are_whole_until_the_delay_is_over(graph):
    end = tf.identity(tf.nn.avg_pool(conv(images(), 7, "c", norm=False), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"))
    quantize.experimental_create_training_graph(graph, activation_bits=4, quant_delay=3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        levels = [len(np.unique(session.run(end))) for _ in range(4)]
    assert levels[0] == levels[1] > 100 and max(levels[2:]) <= 16


def test_frozen_batch_norms_take_and_keep_their_averages(graph):
    y = conv(images(), 7, "c")
    quantize.experimental_create_training_graph(graph, freeze_bn_delay=2)
    update = tf.group(y, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    mean = next(v for v in tf.global_variables() if v.op.name == "c/BatchNorm/moving_mean")
    correction = "c/BatchNorm_Fold/batch_norm_correction"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        means = []
        for _ in range(4):
            session.run(update)
            means.append(session.run(mean))
        assert np.abs(means[0]).max() > 0
        assert np.array_equal(means[2], means[3])
        assert np.array_equal(session.run(f"{correction}/correction_recip/Merge:0"), np.ones(7))


def test_additions_to_layers_are_quantised_on_both_sides(graph):
    x = images()
    with tf.variable_scope("u"):
        tf.nn.relu(conv(x, 3, "a", None) + x, name="out")
    with tf.variable_scope("v"):
        tf.exp(conv(x, 3, "b", tf.nn.relu) + x)
    quantize.create_training_graph(graph)
    assert fakes(graph) == {
        *("u/a/weights_quant", "u/a/conv_quant", "u/act_quant"),
        *("v/b/weights_quant", "v/b/act_quant", "v/post_activation_bypass_quant"),
    }


def test_what_is_made_of_quantised_values_is_quantised(graph):
    x = conv(images(), 3, "a", norm=False)
    pooled = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "SAME")
    tf.exp(tf.multiply(pooled, 2.0, name="scaled"))
    tf.nn.relu(tf.multiply(pooled, 3.0, name="clipped_after"))
    tf.exp(tf.multiply(tf.exp(x), 2.0, name="of_others"))
    quantize.create_training_graph(graph)
    assert fakes(graph) == {"a/weights_quant", "a/act_quant", "scaled/activation_Mul_quant"}


def test_shared_weights_are_quantised_once_and_only_in_their_scope(graph):
    with tf.variable_scope("q", reuse=tf.AUTO_REUSE):
        x = conv(images(), 3, "a", norm=False)
        x = conv(x, 3, "a", norm=False)
    conv(x, 3, "other", norm=False)
    quantize.experimental_create_training_graph(graph, scope="q")
    assert fakes(graph) == {"q/a/weights_quant", "q/a/act_quant", "q/a_1/act_quant"}
    assert taken_in(graph, "q/a_1/Conv2D")[1] == "q/a/weights_quant/FakeQuantWithMinMaxVars"


def test_symmetric_limits(graph):
    conv(images(), 7, "c", norm=False)
    quantize.experimental_create_training_graph(graph, symmetric=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        low, high = session.run(["c/weights_quant/AssignMinLast:0", "c/weights_quant/AssignMaxLast:0"])
        assert low == -high < 0
