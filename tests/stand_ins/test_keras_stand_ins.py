"""Private modules of Keras that other libraries' layers and tests are written with."""

import unittest

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins import keras_layer_test, keras_tensors, keras_test_models, keras_tests
from tfexp.stand_ins.modules import stand_for


@pytest.mark.usefixtures("installed")
def test_private_modules_beside_public_ones_are_found_from_their_parents():
    from tensorflow.python.keras import backend
    from tensorflow.python.keras.utils import generic_utils, tf_utils

    assert backend.get_graph() is tf.get_default_graph() and backend.dot is tf.keras.backend.dot
    assert tf_utils.shape_type_conversion is keras_tensors.shape_type_conversion
    assert generic_utils.Progbar is tf.keras.utils.Progbar
    assert stand_for("tensorflow.python.keras").backend is backend


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_is_computed_from_tensors_and_variables(use_resource):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        v = tf.get_variable("v", [2], use_resource=use_resource)
        y = x + 1.0
        z = y * v
        from_x, from_v = (keras_tensors.get_reachable_from_inputs([given]) for given in (x, v))
        assert from_x == {x, y.op, y, z.op, z}
        assert {z, v.op, v} <= from_v and y not in from_v
        assert keras_tensors.get_reachable_from_inputs(x, [y.op]) == {x, y.op}


@pytest.mark.parametrize(
    ("given", "seen", "result"),
    [
        (None, None, None),
        (tf.TensorShape([None, 3]), (None, 3), tf.TensorShape([None, 3])),
        ([[1, 2], tf.TensorShape([3])], [(1, 2), (3,)], [tf.TensorShape([1, 2]), tf.TensorShape([3])]),
        ({"a": [1, None]}, {"a": (1, None)}, {"a": tf.TensorShape([1, None])}),
    ],
)
def test_output_shapes_computed_with_tuples(given, seen, result):
    class Same:
        @keras_tensors.shape_type_conversion
        def compute_output_shape(self, input_shape):
            assert input_shape == seen
            return input_shape

    found = Same().compute_output_shape(given)
    assert str(found) == str(result) and type(found) is type(result)


def test_a_test_of_keras_runs_in_each_mode():
    seen = []

    class Modes(keras_tests.TestCase):
        @keras_tests.run_with_all_model_types(exclude_models="sequential")
        @keras_tests.run_all_keras_modes
        def test_modes(self):
            modes = tf.executing_eagerly(), keras_tests.should_run_eagerly(), keras_tests.should_run_tf_function()
            seen.append((*modes, keras_test_models.get_model_type()))

    @keras_tests.run_all_keras_modes(always_skip_eager=True)
    class Classes(keras_tests.TestCase):
        def test_classes(self):
            seen.append(tf.executing_eagerly())

    for case in (Modes, Classes):
        for name in unittest.TestLoader().getTestCaseNames(case):
            case(name).debug()
    for_each_mode = [(True, True, True), (True, False, True), (False, False, False)]
    assert sorted(seen[:6]) == sorted((*mode, kind) for mode in for_each_mode for kind in ("functional", "subclass"))
    assert sorted(seen[6:]) == [False, True]
    with pytest.raises(ValueError, match="run_all_keras_modes"):
        keras_tests.should_run_eagerly()
    with pytest.raises(ValueError, match="run_all_keras_modes"):
        keras_tests.should_run_tf_function()
    with pytest.raises(ValueError, match="run_with_all_model_types"):
        keras_test_models.get_model_type()


@pytest.mark.parametrize("kind", ["sequential", "functional", "subclass", "subclass_custom_build"])
def test_models_of_each_kind(kind):
    x, y = np.ones((4, 3), np.float32), np.ones((4, 2), np.float32)
    dense = tf.keras.layers.Dense
    with keras_test_models.model_type_scope(kind):
        models = [keras_test_models.get_small_mlp(5, 2, 3), keras_test_models.get_model_from_layers([dense(2)], (3,))]
        for model in models:
            model.compile(keras_tests.get_v2_optimizer("sgd", learning_rate=0.1), "mse")
            model.train_on_batch(x, y)
        assert [len(model.weights) for model in models] == [4, 2]
        branches = [tf.keras.Input((3,)), dense(2)], [tf.keras.Input((3,)), dense(2)]
        if kind == "sequential":
            with pytest.raises(ValueError, match="sequential"):
                keras_test_models.get_multi_io_model(*branches)
            return
        model = keras_test_models.get_multi_io_model(*branches, shared_output_branch=[tf.keras.layers.Add()])
        assert model.predict([x, x]).shape == (4, 2) and len(model.weights) == 4
        shared = [tf.keras.Input((3,)), dense(2)]
        model = keras_test_models.get_multi_io_model([dense(1)], [dense(2)], shared_input_branch=shared)
        assert [one.shape for one in model.predict(x)] == [(4, 1), (4, 2)]


def test_what_a_layer_has_to_do():
    output = keras_layer_test.layer_test(tf.keras.layers.Dense, {"units": 2}, (None, 3))
    assert output.shape[1:] == (2,)

    class OfAnotherShape(tf.keras.layers.Layer):
        def compute_output_shape(self, input_shape):
            return tf.TensorShape((7, 7))

    with pytest.raises(AssertionError, match=r"the output has shape \(2, 3\), not \(7, 7\)"):
        keras_layer_test.layer_test(OfAnotherShape, input_shape=(2, 3))
    with pytest.raises(AssertionError, match="float32, not float64"):
        keras_layer_test.layer_test(tf.keras.layers.Dense, {"units": 2}, (2, 3), expected_output_dtype="float64")
    with pytest.raises(ValueError, match="input_shape is None"):
        keras_layer_test.layer_test(tf.keras.layers.Dense, {"units": 2})


def test_data_to_train_with_are_those_of_the_seed():
    (x, y), (x_test, y_test) = keras_tests.get_test_data(5, 2, (3,), 2, random_seed=1)
    np.testing.assert_allclose(x[0], [1.2034017, 3.7431252, -2.6538045], rtol=1e-6)  # recorded from TensorFlow
    np.testing.assert_allclose(x_test[1], [2.599646, 4.588233, -0.89145625], rtol=1e-6)
    assert x.dtype == np.float32 and [*y, *y_test] == [0, 1, 1, 0, 0, 1, 0]


def test_utilities_of_keras():
    utilities = stand_for("tensorflow.python.keras.utils.generic_utils")

    def takes(a, *, b, **others):
        return a, b, others

    assert [utilities.has_arg(takes, name) for name in ("a", "b", "c", "others")] == [True, True, False, False]
    assert utilities.has_arg(takes, "c", accept_all=True)
    assert utilities.make_batches(7, 3) == [(0, 3), (3, 6), (6, 7)]
    x = np.arange(5)
    assert utilities.slice_arrays(x, 1, 3).tolist() == [1, 2] and utilities.slice_arrays(None) == [None]
    assert [one if one is None else one.tolist() for one in utilities.slice_arrays([x, None], [0, 4])] == [[0, 4], None]
    with pytest.raises(ValueError, match="has to be None"):
        utilities.slice_arrays(x, [0], 2)
    assert utilities.to_list(1) == utilities.to_list([1]) == [1]
    assert utilities.is_all_none([None, None]) and not utilities.is_all_none(1)
    with pytest.raises(ValueError, match=r"Unknown entries in loss dictionary: \['b'\]"):
        utilities.check_for_unexpected_keys("loss", {"a": 1, "b": 2}, ["a"])
    with pytest.raises(TypeError, match="understood"):
        utilities.validate_kwargs({"a": 1}, ["b"])
    utilities.validate_kwargs({"b": 1}, ["b"])
    assert utilities.to_snake_case("LeakyReLU") == "leaky_re_lu"
    layer = tf.keras.layers.Dense(2)
    layer.build((None, 3))
    assert stand_for("tensorflow.python.keras.utils.layer_utils").count_params([*layer.weights, layer.bias]) == 8


def test_a_policy_for_a_block():
    policy = stand_for("tensorflow.python.keras.mixed_precision.experimental.policy")
    before = policy.global_policy()
    with policy.policy_scope("float64"):
        assert tf.keras.layers.Dense(1).dtype == "float64"
    assert policy.global_policy() is before


@pytest.mark.parametrize(
    ("place", "name", "ours"),
    [
        ("layers.pooling", "Pooling2D", "MaxPooling2D"),
        ("layers.pooling", "GlobalPooling1D", "GlobalMaxPooling1D"),
        ("layers.merge", "_Merge", "Add"),
        ("layers.normalization", "BatchNormalizationBase", "BatchNormalization"),
        ("layers.cudnn_recurrent", "_CuDNNRNN", "CuDNNGRU"),
        ("wrappers.scikit_learn", "BaseWrapper", "KerasClassifier"),
    ],
)
def test_classes_that_others_are_made_of(place: str, name: str, ours: str):
    found = stand_for(f"tensorflow.python.keras.{place}")
    assert issubclass(getattr(found, ours), getattr(found, name))


def test_places_of_further_names_of_keras():
    assert stand_for("tensorflow.python.keras.utils.mode_keys").ModeKeys.TEST == "test"
    assert stand_for("tensorflow.python.keras.layers.normalization_v2").BatchNormalization is (
        tf.compat.v2.keras.layers.BatchNormalization
    )
    optimizers = stand_for("tensorflow.python.keras.optimizers")
    assert optimizers.sgd is optimizers.SGD is not tf.keras.optimizers.SGD
    assert issubclass(optimizers.SGD, optimizers.Optimizer)
    made = optimizers.TFOptimizer(tf.train.GradientDescentOptimizer(0.1))
    assert isinstance(made.optimizer, tf.train.GradientDescentOptimizer)


def test_places_of_tensors_count_as_one_element():
    places = (["a", 2, 3], {"x": [["b", 5, 7, {}]]})
    wrapped = keras_tensors.convert_inner_node_data(places, wrap=True)
    assert isinstance(wrapped[0], keras_tensors.ListWrapper)
    assert wrapped[1]["x"][0].as_list() == ["b", 5, 7, {}]
    assert keras_tensors.convert_inner_node_data(wrapped) == places


def test_what_a_mode_says_can_be_read():
    said = stand_for("tensorflow.python.keras.testing_utils")._thread_local_data
    assert said.run_eagerly is None
    with keras_tests.run_eagerly_scope(True):
        assert said.run_eagerly
    assert said.run_eagerly is None


def test_functions_are_put_together_again():
    utils = stand_for("tensorflow.python.keras.utils.generic_utils")

    def scaled_by(k):
        return lambda x, y=3: k * x + y

    dumped = utils.func_dump(scaled_by(2))
    assert dumped[1:] == ((3,), (2,)) and utils.func_load(dumped)(4) == utils.func_load(list(dumped))(4) == 11
    assert utils.func_load(dumped[0], defaults=(7,), closure=(5,))(1) == 12
    assert utils.func_load(utils.func_dump(lambda x: x + given), globs={"given": 9})(1) == 10  # noqa: F821
