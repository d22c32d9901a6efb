"""What features see of the input: values that TensorFlow 1.15 gives."""

import numpy as np
import pytest

import tfexp as tf

receptive_field = tf.contrib.receptive_field
slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def image(channels=3):
    return tf.placeholder(tf.float32, [None, None, None, channels], name="x")


def two_paths(padding="VALID"):
    """A window of 1 and one of 3, both with a stride of 4, that meet."""
    x = image()
    short = slim.conv2d(x, 1, 1, stride=4, scope="short", padding="VALID")
    long = tf.pad(x, [[0, 0], [1, 0], [1, 0], [0, 0]])
    long = slim.conv2d(long, 1, 3, stride=2, scope="first", padding=padding)
    tf.nn.relu(short + slim.conv2d(long, 1, 1, stride=2, scope="second", padding="VALID"), name="out")


def deep():
    net = slim.conv2d(image(), 4, [3, 5], stride=2)
    net = slim.avg_pool2d(slim.max_pool2d(net, [2, 2]), 3, 1, padding="SAME")
    return slim.separable_conv2d(net, None, 3, 1, scope="last")


def found(output="out", **options):
    field = receptive_field.compute_receptive_field_from_graph_def(tf.get_default_graph(), "x", output, **options)
    return field, list(field)


def test_paths_that_meet_see_the_widest_window():
    two_paths()
    field, values = found()
    assert values == [3, 3, 4, 4, 1, 1]
    assert field.compute_input_center_coordinates([[1, 2], [0, 3]]).tolist() == [[4, 8], [0, 12]]
    assert field.compute_input_center_coordinates([3], axis=[0]).tolist() == [12]
    assert field.compute_feature_coordinates([4, 5]).tolist() == [1, 1.25]
    with pytest.raises(ValueError, match="does not match dimensionality of `axis`"):
        field.compute_feature_coordinates([4, 5, 6])


def test_paths_are_left_out_by_name():
    two_paths()
    assert found(stop_propagation=["second"])[1] == [1, 1, 4, 4, 0, 0]


def test_padding_may_depend_on_the_resolution():
    two_paths("SAME")
    assert found()[1] == [3, 3, 4, 4, None, None]
    with pytest.raises(ValueError, match=r"not aligned since center shift .* horizontal"):
        found(input_resolution=[224, 224])


def test_a_network_of_many_layers():
    output = deep()
    assert found(output)[1] == [23, 21, 4, 4, None, None]
    assert found(output, input_resolution=[65, 64])[1] == [23, 21, 4, 4, 9, 9]
    nodes, _ = receptive_field.get_compute_order(tf.get_default_graph().as_graph_def(), "x", [65, 64])
    assert nodes[output.op.name].output_size == [16, 16]


def test_channels_may_come_first_and_filters_be_constants():
    x = tf.placeholder(tf.float32, [None, 2, None, None], name="x")
    net = tf.nn.conv2d(x, np.ones([3, 5, 2, 2], np.float32), [1, 1, 2, 1], "VALID", data_format="NCHW")
    tf.nn.max_pool(net, [1, 1, 2, 1], [1, 1, 2, 1], "VALID", data_format="NCHW", name="out")
    assert found()[1] == [5, 5, 1, 4, 0, 0]


def test_strides_of_paths_have_to_be_the_same():
    x = image()
    tf.nn.relu(slim.conv2d(x, 1, 1, stride=2) + slim.conv2d(x, 1, 1, stride=3), name="out")
    with pytest.raises(ValueError, match="effective stride from different paths"):
        found()


@pytest.mark.parametrize(
    ("output", "message"), [("nowhere", "Output node was not found"), ("mean", "Unknown layer for operation 'mean': Mean")]
)
def test_what_is_not_found(output, message):
    tf.reduce_mean(image(), [1, 2], name="mean")
    with pytest.raises(ValueError, match=message):
        found(output)


def test_what_does_not_see_the_input():
    image()
    tf.identity(tf.constant(1.0), name="out")
    with pytest.raises(ValueError, match="Input node was not found"):
        found()
