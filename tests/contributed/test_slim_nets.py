"""The models of tf.contrib.slim.nets: the names and sizes of published checkpoints, and what they compute."""

import numpy as np
import pytest

import tfexp as tf

slim = tf.contrib.slim
nets = slim.nets


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def images(size, count=2):
    return tf.placeholder(tf.float32, [count, size, size, 3])


def weights():
    return sum(int(np.prod(v.shape.as_list())) for v in tf.trainable_variables())


@pytest.mark.parametrize(
    ("model", "arg_scope", "size", "first", "last", "count"),
    [
        (nets.alexnet.alexnet_v2, nets.alexnet.alexnet_v2_arg_scope, 224, "conv1/weights", "fc8/biases", 50303912),
        (nets.overfeat.overfeat, nets.overfeat.overfeat_arg_scope, 231, "conv1/weights", "fc8/biases", 145704424),
        (nets.vgg.vgg_a, nets.vgg.vgg_arg_scope, 224, "conv1/conv1_1/weights", "fc8/biases", 132863336),
    ],
)
def test_straight_models_have_the_weights_of_their_papers(model, arg_scope, size, first, last, count):
    with slim.arg_scope(arg_scope()):
        logits, ends = model(images(size))
    name = model.__name__
    assert logits.name == f"{name}/fc8/squeezed:0" and logits.shape == [2, 1000] and ends[f"{name}/fc8"] is logits
    assert ends[f"{name}/pool5"].name == f"{name}/pool5/MaxPool:0"
    variables = [v.op.name for v in tf.model_variables()]
    assert (variables[0], variables[-1], weights()) == (f"{name}/{first}", f"{name}/{last}", count)
    assert len(tf.losses.get_regularization_losses()) == len(variables) // 2


def test_logits_of_larger_images_have_places():
    with slim.arg_scope(nets.vgg.vgg_arg_scope()):
        logits, ends = nets.vgg.vgg_16(images(256), 7, is_training=False, spatial_squeeze=False)
    assert logits.shape == [2, 2, 2, 7] and ends["vgg_16/conv3/conv3_3"].shape == [2, 64, 64, 256]
    assert (nets.vgg.vgg_16.default_image_size, nets.vgg.vgg_d) == (224, nets.vgg.vgg_16)


@pytest.mark.parametrize(
    ("version", "size", "endpoint", "shape"),
    [
        (1, 64, "Mixed_3b", [2, 8, 8, 256]),
        (2, 64, "Mixed_4a", [2, 4, 4, 576]),
        (3, 79, "Mixed_5c", [2, 7, 7, 288]),
    ],
)
def test_inception_up_to_a_step(version, size, endpoint, shape):
    base = getattr(nets.inception, f"inception_v{version}_base")
    with slim.arg_scope(getattr(nets.inception, f"inception_v{version}_arg_scope")()):
        net, ends = base(images(size), endpoint)
    assert net.shape == shape and list(ends)[-1] == endpoint and net.name == f"InceptionV{version}/{endpoint}/concat:0"
    assert len(tf.get_collection("moving_vars")) == len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) > 0
    with pytest.raises(ValueError, match="Unknown final endpoint Mixed_9z"):
        base(images(size), "Mixed_9z", scope="other")


def test_names_of_inception_are_those_of_checkpoints():
    nets.inception.inception_v3_base(images(79), "Mixed_5c")
    names = [v.op.name.removeprefix("InceptionV3/Mixed_5c/") for v in tf.trainable_variables() if "5c" in v.op.name]
    assert names[2:6] == [
        *("Branch_1/Conv2d_0b_1x1/weights", "Branch_1/Conv2d_0b_1x1/biases"),
        *("Branch_1/Conv_1_0c_5x5/weights", "Branch_1/Conv_1_0c_5x5/biases"),
    ]


def test_a_narrow_inception_has_a_classifier_halfway():
    logits, ends = nets.inception.inception_v3(images(139, 3), 5, depth_multiplier=0.1, min_depth=4)
    assert logits.shape == [3, 5] and ends["AuxLogits"].shape == [3, 5] and ends["PreLogits"].shape == [3, 1, 1, 203]
    assert ends["Predictions"].name == "InceptionV3/Predictions/Reshape_1:0"
    assert list(ends)[-4:] == ["AuxLogits", "PreLogits", "Logits", "Predictions"]
    with pytest.raises(ValueError, match="depth_multiplier is not greater than zero"):
        nets.inception.inception_v2(images(32), depth_multiplier=0)


def small(version, inputs, **kwargs):
    model = getattr(nets, f"resnet_v{version}")
    block = getattr(model, f"resnet_v{version}_block")
    blocks = [block("b1", 1, 1, 2), block("b2", 2, 2, 2), block("b3", 4, 1, 2), block("b4", 8, 1, 1)]
    with slim.arg_scope(model.resnet_arg_scope()):
        return getattr(model, f"resnet_v{version}")(inputs, blocks, scope="net", **kwargs)


@pytest.mark.parametrize(("version", "root"), [(1, "net/conv1/Relu:0"), (2, "net/conv1/BiasAdd:0")])
def test_residual_models_name_their_ends(version, root):
    net, ends = small(version, images(33), num_classes=5)
    assert net.shape == [2, 1, 1, 5] and net.name == "net/logits/BiasAdd:0"
    assert ends["net/conv1"].name == root and ends["predictions"].shape == [2, 1, 1, 5]
    assert ends[f"net/b2/unit_2/bottleneck_v{version}"] is ends["net/b2"] and ends["net/b2"].shape == [2, 3, 3, 8]
    assert ends[f"net/b2/unit_1/bottleneck_v{version}/conv2"].shape == [2, 5, 5, 2]


@pytest.mark.parametrize("version", [1, 2])
def test_dilation_computes_what_strides_leave_out(version):
    x = tf.constant(np.random.RandomState(version).rand(1, 81, 81, 3), tf.float32)
    sparse, _ = small(version, x, is_training=False, global_pool=False)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        dense, _ = small(version, x, is_training=False, global_pool=False, output_stride=8, reuse=True)
    assert (sparse.shape, dense.shape) == ([1, 3, 3, 32], [1, 11, 11, 32])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        few, many = session.run([sparse, dense])
    np.testing.assert_allclose(many[:, ::4, ::4], few, atol=1e-5)


def test_output_strides_that_cannot_be_reached():
    for stride, says in ((6, "needs to be a multiple of 4"), (64, "cannot be reached"), (12, "cannot be reached")):
        with pytest.raises(ValueError, match=says):
            small(1, images(33), output_stride=stride, reuse=tf.AUTO_REUSE)


def test_the_residual_model_of_50_layers():
    net, ends = nets.resnet_v1.resnet_v1_50(images(32), is_training=False, output_stride=16)
    assert net.shape == [2, 1, 1, 2048] and ends["resnet_v1_50/block4"].shape == [2, 2, 2, 2048]
    assert "predictions" not in ends and len(tf.model_variables()) == 2 * (1 + 3 * (3 + 4 + 6 + 3) + 4)


def test_residual_models_have_their_parts_beside_them():
    assert nets.resnet_v1.resnet_utils is nets.resnet_v2.resnet_utils is nets.resnet_utils


def test_strides_do_not_depend_on_sizes():
    x = tf.constant(np.random.RandomState(0).rand(1, 6, 7, 2), tf.float32)
    strided = nets.resnet_utils.conv2d_same(x, 3, 3, stride=2, scope="conv")
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        whole = nets.resnet_utils.conv2d_same(x, 3, 3, stride=1, scope="conv")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        a, b = session.run([strided, nets.resnet_utils.subsample(whole, 2)])
    np.testing.assert_allclose(a, b, atol=1e-6)
