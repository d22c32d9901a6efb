"""tf.contrib.layers, tf.contrib.framework and slim: names, collections and values that models rely on."""

import numpy as np
import pytest

import tfexp as tf

layers, framework, slim = tf.contrib.layers, tf.contrib.framework, tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def names(values):
    return [value.op.name for value in values]


def test_a_convolution_with_batch_normalization(graph):
    x = tf.zeros([2, 5, 7, 3])
    h = layers.conv2d(x, 4, 3, stride=2, normalizer_fn=layers.batch_norm, weights_regularizer=layers.l2_regularizer(0.1))
    assert h.name == "Conv/Relu:0" and h.shape == [2, 3, 4, 4]
    made = ["Conv/weights", "Conv/BatchNorm/beta", "Conv/BatchNorm/moving_mean", "Conv/BatchNorm/moving_variance"]
    assert names(tf.model_variables()) == names(tf.global_variables()) == made
    assert names(tf.trainable_variables()) == made[:2]
    assert names(tf.losses.get_regularization_losses()) == ["Conv/kernel/Regularizer/l2_regularizer"]
    updates = ["Conv/BatchNorm/AssignMovingAvg", "Conv/BatchNorm/AssignMovingAvg_1"]
    assert [op.name for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)] == updates
    assert graph.get_operation_by_name("Conv/BatchNorm/FusedBatchNormV3")


def test_updates_may_run_in_place_or_be_kept_elsewhere():
    x = tf.constant(np.arange(6.0).reshape(3, 2), tf.float32)
    y = layers.batch_norm(x, decay=0.5, updates_collections=None)
    layers.batch_norm(x, updates_collections="mine")
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == [] and len(tf.get_collection("mine")) == 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y).mean(0), [0, 0], atol=1e-6)
        np.testing.assert_allclose(session.run(framework.get_unique_variable("BatchNorm/moving_mean")), [1.0, 1.5])


def test_matrices_are_normalised_by_the_fused_op(graph):
    x = np.array([[1.0, 2.0], [3.0, 8.0], [5.0, 5.0]], np.float32)
    y = layers.batch_norm(tf.constant(x), decay=0.5, scale=True)
    assert y.op.type == "Reshape" and graph.get_operation_by_name("BatchNorm/FusedBatchNormV3")
    assert names(tf.trainable_variables()) == ["BatchNorm/beta", "BatchNorm/gamma"]
    variance = framework.get_unique_variable("BatchNorm/moving_variance")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y), (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3), rtol=1e-5, atol=1e-6)
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        np.testing.assert_allclose(session.run(variance), (1 + x.var(0, ddof=1)) / 2, rtol=1e-6)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("is_last", [False, True])
def test_the_phase_of_batch_normalization_may_be_fed(data_format, fused, is_last):
    x = np.random.RandomState(0).rand(3, 2, 5, 7).astype(np.float32)
    phase = tf.placeholder(tf.bool, [])
    where = None if is_last else "mine"
    y = layers.batch_norm(x, 0.5, fused=fused, is_training=phase, updates_collections=where, data_format=data_format)
    axes = (0, 1, 2) if data_format == "NHWC" else (0, 2, 3)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y, {phase: False}), x / np.sqrt(1.001), rtol=1e-5)
        trained = session.run([y, tf.get_collection("mine")], {phase: True})[0]
        np.testing.assert_allclose(trained, (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            session.run(framework.get_unique_variable("BatchNorm/moving_mean")), mean.ravel() / 2, 1e-5
        )


def test_examples_count_by_weight_and_averages_without_bias():
    x = np.array([[[1.0, 2.0]], [[3.0, 8.0]], [[5.0, 5.0]]], np.float32)
    y = layers.batch_norm(x, 0.9, batch_weights=[1.0, 2.0, 0.0], zero_debias_moving_mean=True, updates_collections=None)
    mean = np.array([7.0, 18.0]) / 3
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        variance = ((x - mean) ** 2 * np.reshape([1, 2, 0], [3, 1, 1])).sum((0, 1)) / 3
        np.testing.assert_allclose(session.run(y), (x - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(session.run(framework.get_unique_variable("BatchNorm/moving_mean")), mean, rtol=1e-5)
    with pytest.raises(ValueError, match="renorm is not supported"):
        layers.batch_norm(x, renorm=True, updates_collections=None)
    with pytest.raises(ValueError, match="undefined `C` dimension"):
        layers.batch_norm(tf.placeholder(tf.float32, [3, None]))


def test_dense_layers_share_what_they_are_told_to():
    x = tf.ones([2, 3])
    first = layers.fully_connected(x, 5, scope="fc", outputs_collections="ends")
    second = layers.fully_connected(x, 5, scope="fc", reuse=True)
    third = layers.linear(x, 5, biases_initializer=None)
    assert names([first, second, third]) == ["fc/Relu", "fc_1/Relu", "fully_connected/MatMul"]
    assert names(tf.model_variables()) == ["fc/weights", "fc/biases", "fully_connected/weights"]
    assert layers.convert_collection_to_dict("ends") == {"fc": first}
    with pytest.raises(ValueError, match="num_outputs type should be one of an integer"):
        layers.fully_connected(x, 5.5)


def test_other_convolutions_have_contribs_names():
    x = tf.zeros([2, 5, 7, 3])
    assert layers.conv2d_transpose(x, 4, 3, 2).shape == [2, 10, 14, 4]
    assert layers.separable_conv2d(x, 6, 3, 2).shape == [2, 5, 7, 6]
    assert layers.separable_conv2d(x, None, 3, 2, stride=2, rate=1, scope="depthwise").shape == [2, 3, 4, 6]
    assert layers.conv3d(tf.zeros([2, 3, 5, 7, 3]), 2, [1, 1, 3], activation_fn=None).name == "Conv/BiasAdd:0"
    assert names(tf.model_variables()) == [
        *("Conv2d_transpose/weights", "Conv2d_transpose/biases"),
        *("SeparableConv2d/depthwise_weights", "SeparableConv2d/pointwise_weights", "SeparableConv2d/biases"),
        *("depthwise/depthwise_weights", "depthwise/biases", "Conv/weights", "Conv/biases"),
    ]
    with pytest.raises(ValueError, match="Convolution expects input with rank 5"):
        layers.conv3d(x, 2, 3)


def test_normalizations_of_examples():
    values = np.random.RandomState(1).rand(2, 5, 7, 3).astype(np.float32)
    outputs = [layers.layer_norm(values), layers.instance_norm(values), layers.unit_norm(tf.constant(values), 3)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        by_layer, by_instance, unit = session.run(outputs)
    np.testing.assert_allclose(by_layer.mean((1, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(by_layer.std((1, 2, 3)), 1, atol=1e-4)
    np.testing.assert_allclose(by_instance.std((1, 2)), 1, atol=1e-4)
    np.testing.assert_allclose((unit**2).sum(3), 1, atol=1e-4)


def test_layers_without_weights():
    x = tf.constant(np.arange(32.0).reshape(2, 4, 4, 1), tf.float32)
    pooled, averaged = layers.max_pool2d(x, 2), layers.avg_pool2d(x, [2, 2], scope="mean")
    kept = layers.dropout(x, 0.9, is_training=False)
    flat = layers.flatten(pooled)
    encoded, soft = layers.one_hot_encoding([1, 0], 3), layers.softmax(tf.zeros([2, 3, 5]))
    assert pooled.op.name.startswith("MaxPool2D/") and averaged.op.name.startswith("mean/") and flat.shape == [2, 4]
    with tf.Session() as session:
        assert session.run(pooled).ravel()[:2].tolist() == [5, 7]
        assert (session.run(kept) == np.arange(32.0).reshape(2, 4, 4, 1)).all()
        assert session.run(encoded).tolist() == [[0, 1, 0], [1, 0, 0]]
        np.testing.assert_allclose(session.run(soft), 0.2, rtol=1e-6)


def test_repeat_and_stack():
    x = tf.zeros([2, 4, 4, 3])
    h = slim.repeat(x, 2, slim.conv2d, 5, [3, 3], scope="conv")
    slim.stack(slim.flatten(h), slim.fully_connected, [7, (5, None)], scope="fc")
    made = ["conv/conv_1/weights", "conv/conv_1/biases", "conv/conv_2/weights", "conv/conv_2/biases"]
    assert names(slim.get_model_variables()) == [
        *made,
        *("fc/fc_1/weights", "fc/fc_1/biases", "fc/fc_2/weights", "fc/fc_2/biases"),
    ]


def test_embeddings_of_sequences():
    ids = [[1, 2], [3, 4]]
    first = layers.embed_sequence(ids, 7, 5, scope="embedded")
    again = layers.embed_sequence(ids, scope="embedded", reuse=True)
    assert first.shape == [2, 2, 5] and names(tf.model_variables()) == ["embedded/embeddings"] and again.shape == first.shape


@framework.add_arg_scope
def shown(first, second=2, third=3):
    return first, second, third


def test_scopes_give_default_arguments():
    with framework.arg_scope([shown], second=5):
        assert shown(0) == (0, 5, 3)
        with framework.arg_scope([shown], third=7) as kept:
            assert shown(0) == (0, 5, 7) and shown(0, second=9) == (0, 9, 7)
        assert shown(0) == (0, 5, 3)
    with framework.arg_scope(kept):
        assert shown(1) == (1, 5, 7)
    assert shown(1) == (1, 2, 3) and framework.has_arg_scope(shown)
    assert framework.arg_scoped_arguments(shown) == ("second", "third")
    with pytest.raises(ValueError, match="is not decorated with @add_arg_scope"), framework.arg_scope([len], second=1):
        pass
    with pytest.raises(TypeError, match="must either be a list/tuple"), framework.arg_scope(shown, second=1):
        pass


def test_variables_are_found_by_name():
    layers.fully_connected(tf.ones([2, 3]), 5, scope="one/fc")
    layers.fully_connected(tf.ones([2, 3]), 5, scope="two/fc")
    assert names(framework.get_variables("two")) == ["two/fc/weights", "two/fc/biases"]
    assert names(framework.get_variables_by_suffix("weights")) == ["one/fc/weights", "two/fc/weights"]
    assert names(framework.get_variables_by_name("biases", "one")) == ["one/fc/biases"]
    assert names(framework.get_variables_to_restore(exclude=["one"])) == ["two/fc/weights", "two/fc/biases"]
    assert names(framework.filter_variables(tf.global_variables(), ["fc"], ["biases"])) == [
        "one/fc/weights",
        "two/fc/weights",
    ]
    with pytest.raises(ValueError, match="Variable three not found"):
        framework.get_unique_variable("three")


def test_values_come_from_checkpoints(tmp_path):
    v = tf.get_variable("v", [2, 3])
    with tf.Session() as session:
        session.run(v.initializer)
        path, before = tf.train.Saver().save(session, str(tmp_path / "model")), session.run(v)
        w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer())
        operation, feeds = framework.assign_from_checkpoint(path, {"v": w})
        session.run(operation, feeds)
        assert (session.run(w) == before).all()
        framework.assign_from_values_fn({"w": np.ones([2, 3])})(session)
        assert (session.run(w) == 1).all()
        with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[w\]"):
            framework.assign_from_checkpoint(path, [v, w])
        framework.assign_from_checkpoint_fn(path, [v, w], ignore_missing_vars=True)(session)
        assert (session.run(v) == before).all()


def test_regularizers_add_up():
    weights = tf.constant([3.0, -4.0])
    both = layers.l1_l2_regularizer(0.5, 0.1)(weights)
    total = layers.apply_regularization(layers.sum_regularizer([None, layers.l2_regularizer(2.0)]), [weights, weights])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run([both, total]), [3.5 + 1.25, 50.0], rtol=1e-6)
    assert tf.losses.get_regularization_losses() == [total] and layers.sum_regularizer([None]) is None


def test_initializers_have_the_variance_of_their_fans():
    one = layers.variance_scaling_initializer(2.0, "FAN_IN", uniform=True, seed=1)([500, 300])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(one).var(), 2.0 / 500, rtol=0.05)
    with pytest.raises(TypeError, match="Unknown mode"):
        layers.variance_scaling_initializer(mode="FAN")


@pytest.mark.parametrize(
    ("layer", "more", "made"),
    [
        (layers.conv2d, {}, ["weights"]),
        (layers.separable_conv2d, {"depth_multiplier": 1}, ["depthwise_weights", "pointwise_weights"]),
    ],
)
def test_collections_have_what_the_layer_computes_with(graph, layer, more, made):
    def doubled(getter, name, *args, **kwargs):
        found = getter(name, *args, **kwargs)
        return tf.multiply(found, 2.0, name=name.rpartition("/")[2]) if name.endswith("weights") else found

    with tf.variable_scope("a", custom_getter=doubled, reuse=tf.AUTO_REUSE):
        for _ in range(2):
            collections = {"weights": ["w"], "biases": ["b"]}
            layer(tf.zeros([2, 5, 7, 3]), 3, 3, variables_collections=collections, scope="layer", **more)
    assert [value.op.type for value in graph.get_collection("w")] == ["Mul"] * len(made) * 2
    assert names(graph.get_collection("b")) == ["a/layer/biases"]  # once, though it was made use of twice
    assert names(tf.global_variables()) == [*(f"a/layer/{name}" for name in made), "a/layer/biases"]


@pytest.mark.parametrize(
    ("layer", "made"),
    [
        (layers.fully_connected, ["layer/weights"]),
        (layers.conv2d_transpose, ["layer/weights"]),
        (layers.separable_conv2d, ["layer/depthwise_weights", "layer/pointwise_weights"]),
        (layers.conv2d_in_plane, ["layer/weights"]),
        (tf.contrib.model_pruning.masked_conv2d, ["layer/weights"]),
    ],
)
def test_collections_of_a_layer_are_not_those_of_its_normaliser(graph, layer, made):
    def normalized(x):
        return layers.batch_norm(x, variables_collections={"beta": ["its own"]})

    sizes = {"fully_connected": [4], "separable_conv2d": [4, 3, 1], "conv2d_in_plane": [3]}.get(layer.__name__, [4, 3])
    layer(tf.zeros([2, 5, 7, 3]), *sizes, variables_collections=["v"], normalizer_fn=normalized, scope="layer")
    assert names(graph.get_collection("v")) == made
    assert names(graph.get_collection("its own")) == ["layer/BatchNorm/beta"]


def test_collections_by_name(graph):
    layers.bias_add(tf.zeros([2, 3]), variables_collections={"biases": ["b"], "weights": ["w"]})
    layers.spatial_softmax(tf.zeros([2, 3, 5, 1]), variables_collections={"temperature": ["t"]})
    assert [names(graph.get_collection(key)) for key in "bwt"] == [["BiasAdd/biases"], [], ["spatial_softmax/temperature"]]
