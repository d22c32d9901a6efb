"""Each op of TensorFlow's that can be converted: its model gives what its graph does."""

import numpy as np
import pytest

import tfexp as tf
from tests.lite.lite_models import converted, random_values, run_model

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")

ELEMENTS = {
    "Abs": tf.abs,
    "AddN": lambda x, y: tf.add_n([x, y, x]),
    "AddV2": lambda x, y: x + y[:, :1],
    "ArgMax": lambda x, y: tf.argmax(x, 1),
    "ArgMin": lambda x, y: tf.argmin(x, -1, output_type=tf.int32),
    "BatchMatMulV2": lambda x, y: tf.matmul(x, y, transpose_b=True),
    "Cast": lambda x, y: tf.cast(x * 10, tf.int32),
    "ConcatV2": lambda x, y: tf.concat([x, y], -1),
    "Cos": tf.cos,
    "Elu": tf.nn.elu,
    "Equal": lambda x, y: tf.equal(x, tf.maximum(x, y)),
    "Exp": tf.exp,
    "ExpandDims": lambda x, y: tf.expand_dims(x, 1),
    "FloorDiv": lambda x, y: tf.floordiv(x, tf.abs(y) + 0.5),
    "FloorMod": lambda x, y: tf.floormod(x, tf.abs(y) + 0.5),
    "GatherNd": lambda x, y: tf.gather_nd(x, [[0, 1], [1, 2]]),
    "GatherV2": lambda x, y: tf.gather(x, [2, 0], axis=1),
    "LeakyRelu": lambda x, y: tf.nn.leaky_relu(x, 0.3),
    "Log": lambda x, y: tf.log(tf.abs(x) + 0.5),
    "LogSoftmax": tf.nn.log_softmax,
    "LogicalAnd": lambda x, y: tf.logical_and(x > y, x >= 0),
    "LogicalOr": lambda x, y: tf.logical_or(x < y, tf.logical_not(x <= 0)),
    "MatMul": lambda x, y: tf.matmul(x[0], y[0], transpose_a=True),
    "Max": lambda x, y: tf.reduce_max(x, [0, 2]),
    "Mean": lambda x, y: tf.reduce_mean(x, [1]),
    "MirrorPad": lambda x, y: tf.pad(x, [[0, 0], [1, 1], [2, 2]], "REFLECT"),
    "NotEqual": lambda x, y: tf.not_equal(x, tf.minimum(x, y)),
    "OneHot": lambda x, y: tf.one_hot(tf.argmax(x, 2), 5),
    "Pack": lambda x, y: tf.stack([x, y], 1),
    "Pad": lambda x, y: tf.pad(x, [[0, 1], [1, 0], [0, 0]]),
    "PadV2": lambda x, y: tf.pad(x, [[0, 1], [1, 0], [0, 0]], constant_values=2.5),
    "Pow": lambda x, y: tf.pow(tf.abs(x) + 0.5, y),
    "Prod": lambda x, y: tf.reduce_prod(x, 2, keepdims=True),
    "RealDiv": lambda x, y: x / (tf.abs(y) + 0.5),
    "Relu6": lambda x, y: tf.nn.relu6(x * 8),
    "Reshape": lambda x, y: tf.reshape(x, [-1, 15]),
    "ReverseV2": lambda x, y: tf.reverse(x, [1]),
    "Round": lambda x, y: tf.round(x * 3.3),
    "Rsqrt": lambda x, y: tf.rsqrt(tf.abs(x) + 0.5),
    "Select": lambda x, y: tf.where(x > y, x, y),
    "Sigmoid": tf.sigmoid,
    "Slice": lambda x, y: tf.slice(x, [0, 1, 0], [2, 2, 3]),
    "Softmax": tf.nn.softmax,
    "Split": lambda x, y: tf.split(x, 5, 2)[3],
    "SplitV": lambda x, y: tf.split(x, [1, 2], 1)[1],
    "SquaredDifference": lambda x, y: tf.squared_difference(x, y),
    "Squeeze": lambda x, y: tf.squeeze(x[:1]),
    "StridedSlice": lambda x, y: x[:, 1:, ::2],
    "StridedSlice of some axes": lambda x, y: x[1, 0],
    "Sub": lambda x, y: 1.0 - x,
    "Sum over no axes": lambda x, y: tf.reduce_sum(x, tf.zeros([0], tf.int32)),
    "Sum": lambda x, y: tf.reduce_sum(x, -1),
    "Tanh": tf.tanh,
    "Tile": lambda x, y: tf.tile(x, [1, 2, 1]),
    "TopKV2": lambda x, y: tf.nn.top_k(x, 2)[1],
    "Transpose": lambda x, y: tf.transpose(x, [2, 0, 1]),
    "Unpack": lambda x, y: tf.unstack(x, axis=1)[2],
    "ZerosLike": tf.zeros_like,
}


def weights(*shape):
    return tf.constant(random_values(shape, seed=11)[0])


IMAGES = {
    "AvgPool": lambda x: tf.nn.avg_pool(x, [1, 2, 3, 1], [1, 1, 2, 1], "SAME"),
    "Conv2D": lambda x: tf.nn.conv2d(x, weights(2, 3, 8, 5), [1, 2, 1, 1], "VALID"),
    "Conv2D with dilations": lambda x: tf.nn.conv2d(x, weights(2, 2, 8, 5), 1, "SAME", dilations=[1, 2, 2, 1]),
    "Conv2DBackpropInput": lambda x: tf.nn.conv2d_transpose(x, weights(3, 3, 5, 8), [1, 8, 12, 5], [1, 2, 2, 1], "SAME"),
    "DepthToSpace": lambda x: tf.depth_to_space(x, 2),
    "DepthwiseConv2dNative": lambda x: tf.nn.depthwise_conv2d(x, weights(3, 2, 8, 2), [1, 2, 2, 1], "VALID"),
    "LRN": lambda x: tf.nn.lrn(x, 2, 1.0, 0.1, 0.5),
    "MaxPool": lambda x: tf.nn.max_pool(x, [1, 2, 3, 1], [1, 2, 2, 1], "VALID"),
    "ResizeBilinear": lambda x: tf.image.resize_bilinear(x, [7, 11], align_corners=True),
    "ResizeBilinear of half pixels": lambda x: tf.raw_ops.ResizeBilinear(images=x, size=[7, 9], half_pixel_centers=True),
    "ResizeNearestNeighbor of half pixels": lambda x: tf.raw_ops.ResizeNearestNeighbor(
        images=x, size=[8, 12], half_pixel_centers=True
    ),
    "ResizeNearestNeighbor": lambda x: tf.image.resize_nearest_neighbor(x, [8, 3]),
    "SpaceToBatchND": lambda x: tf.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]),
    "SpaceToDepth": lambda x: tf.space_to_depth(x, 2),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def check(inputs, output, values):
    with tf.Session() as session:
        expected = session.run(output, dict(zip(inputs, values)))
    (got,) = run_model(converted(inputs, [output]), *values)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_op_of_elements(name):
    inputs = [tf.placeholder(tf.float32, [2, 3, 5]) for _ in range(2)]
    function = ELEMENTS[name]
    output = function(*inputs) if getattr(function, "__name__", "") == "<lambda>" else function(inputs[0])
    check(inputs, output, random_values((2, 3, 5), (2, 3, 5)))


@pytest.mark.parametrize("name", IMAGES)
def test_an_op_of_images(name):
    x = tf.placeholder(tf.float32, [1, 4, 6, 8])
    check([x], IMAGES[name](x), random_values((1, 4, 6, 8)))
