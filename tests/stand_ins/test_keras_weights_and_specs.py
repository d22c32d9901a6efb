"""What private modules of Keras ask about layers."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

layer_utils = stand_for("tensorflow.python.keras.utils.layer_utils")
input_spec = stand_for("tensorflow.python.keras.engine.input_spec")
generic_utils = stand_for("tensorflow.python.keras.utils.generic_utils")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(
    ("trainable", "dense_trains", "trained", "others"),
    [
        (True, True, "kernel bias gamma beta w", "moving_mean moving_variance fixed"),
        (True, False, "gamma beta w", "kernel bias moving_mean moving_variance fixed"),
        (False, True, "", "kernel bias gamma beta w moving_mean moving_variance fixed"),
        (False, False, "", "gamma beta w kernel bias moving_mean moving_variance fixed"),
    ],
)
def test_weights_of_layers_and_variables_together(trainable, dense_trains, trained, others):
    layers = [tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization()]
    for layer in layers:
        layer.build((None, 3))
    layers[0].trainable = dense_trains
    variables = [tf.Variable(1.0, name="w"), tf.Variable(1.0, trainable=False, name="fixed")]
    gather = layer_utils.gather_trainable_weights, layer_utils.gather_non_trainable_weights
    found = [[weight.op.name for weight in one(trainable, layers, variables)] for one in gather]
    assert found == [trained.split(), others.split()]


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"ndim": 3, "axes": {1: 5, -1: 7}}, [None, 5, 7]),
        ({"shape": (None, 3)}, [None, 3]),
        ({"ndim": 2}, [None, None]),
        ({"min_ndim": 2}, None),
    ],
)
def test_the_shape_that_a_layer_takes(arguments, shape):
    spec = tf.keras.layers.InputSpec(**arguments)
    assert input_spec.to_tensor_shape(spec) == tf.TensorShape(shape)
    assert input_spec.to_tensor_spec(spec, "float16") == tf.TensorSpec(shape, tf.float16)


def test_specs_keep_their_own_type():
    assert input_spec.to_tensor_spec(tf.keras.layers.InputSpec(ndim=1, dtype="int32")).dtype == tf.int32
    assert input_spec.to_tensor_spec(None) == tf.TensorSpec(None, tf.float32)


def test_objects_are_told_apart_and_written_down():
    first, second = [1], [2]
    assert generic_utils.object_list_uid([*first, *second]) == generic_utils.object_list_uid({"k": [*first, *second]})
    assert generic_utils.object_list_uid(first) != generic_utils.object_list_uid(second)
    written = generic_utils.serialize_keras_class_and_config("Dense", {"units": 2})
    assert tf.keras.layers.deserialize(written).units == 2


def test_layers_of_the_older_kind_are_refused():
    check = stand_for("tensorflow.python.keras.utils.tf_utils").assert_no_legacy_layers
    check([tf.keras.layers.Dense(2)])
    with pytest.raises(TypeError, match=r"legacy tf\.layers\.Layers"):
        check([tf.layers.Dense(2)])
