"""Private modules of Keras's that TensorFlow's tests of layers, metrics, training and saving import."""

import unittest

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins import keras_gradients, keras_layer_parts, keras_saving, keras_subclasses, keras_tests, keras_training
from tfexp.stand_ins.modules import stand_for

keras = tf.keras


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


# --- base_layer_utils ---------------------------------------------------------------------------------------------------


def test_a_call_knows_its_layer():
    seen = []

    class Asks(keras.layers.Layer):
        def call(self, inputs):
            context = keras_layer_parts.call_context()
            seen.append((context.in_call, context.layer is self, context.frozen))
            return inputs

    Asks()(keras.Input((2,)))
    assert seen == [(True, True, False)]
    assert not keras_layer_parts.call_context().in_call


def test_what_comes_from_layers():
    made = keras.layers.Dense(3)(keras.Input((2,)))
    after = made * 2.0
    assert keras_layer_parts.have_all_keras_metadata([made])
    assert keras_layer_parts.needs_keras_history(after)
    assert not keras_layer_parts.needs_keras_history(made)
    assert not keras_layer_parts.uses_keras_history(tf.ones([2]))
    checked = made + 1.0
    keras_layer_parts.mark_checked([checked])
    assert not keras_layer_parts.needs_keras_history(checked) and not keras_layer_parts.uses_keras_history(checked * 3.0)
    layers = keras_layer_parts.create_keras_history(after)
    assert [type(layer).__name__ for layer in layers] == ["TensorFlowOpLayer"]
    assert keras_layer_parts.have_all_keras_metadata([after])


def test_layers_follow_floatx_where_that_is_asked_for():
    keras_layer_parts.enable_v2_dtype_behavior()
    try:
        assert keras.layers.Layer().dtype == "float32"
        assert keras.layers.Dense(3)(tf.ones([2, 5], tf.float64)).dtype == tf.float32
        assert keras.layers.Dense(3, autocast=False, dtype="float64")(tf.ones([2, 5], tf.float64)).dtype == tf.float64
    finally:
        keras_layer_parts.disable_v2_dtype_behavior()
    assert keras.layers.Layer().dtype is None
    assert keras.layers.Dense(3)(tf.ones([2, 5], tf.float64)).dtype == tf.float64


def test_whose_class_a_layer_has():
    assert not keras_layer_parts.is_subclassed(keras.layers.Dense(1))
    assert keras_layer_parts.is_subclassed(type("Own", (keras.layers.Layer,), {})())


# --- metrics_utils ------------------------------------------------------------------------------------------------------

metrics_utils = stand_for("tensorflow.python.keras.utils.metrics_utils")


def test_confusions_are_counted_by_kind():
    with eager_mode():
        count = tf.Variable([0.0])
        metrics_utils.update_confusion_matrix_variables(
            {metrics_utils.ConfusionMatrix.FALSE_NEGATIVES: count}, [1.0, 1.0, 0.0], [0.2, 0.7, 0.1], [0.5]
        )
        np.testing.assert_array_equal(count.numpy(), [1])
        with pytest.raises(ValueError, match="at least one valid confusion matrix variable"):
            metrics_utils.update_confusion_matrix_variables({"x": count}, [1.0], [1.0], [0.5])


def test_counts_of_ones_own_say_what_they_count():
    counting = stand_for("tensorflow.python.keras.metrics")._ConfusionMatrixConditionCount
    with eager_mode():
        count = counting(metrics_utils.ConfusionMatrix.TRUE_NEGATIVES, thresholds=[0.3, 0.6], name="rejected")
        assert count([1.0, 0.0, 0.0], [0.2, 0.5, 0.1]).numpy().tolist() == [1, 2]
    assert metrics_utils.parse_init_thresholds(None, default_threshold=0.7) == [0.7]


def test_ragged_values_are_flat():
    with eager_mode():
        ragged = tf.ragged.constant([[1], [2, 3]])
        (first, second), mask = metrics_utils.ragged_assert_compatible_and_get_flat_values([ragged, ragged], ragged)
        assert first.numpy().tolist() == second.numpy().tolist() == mask.numpy().tolist() == [[1], [2], [3]]
        with pytest.raises(TypeError, match="acceptable types"):
            metrics_utils.ragged_assert_compatible_and_get_flat_values([ragged, tf.ones([2])])
        with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
            metrics_utils.ragged_assert_compatible_and_get_flat_values([ragged, tf.ragged.constant([[1, 3], [2]])])


def test_a_sum_over_the_batch_counts_what_weighs_nothing():
    metrics = stand_for("tensorflow.python.keras.metrics")
    with eager_mode():
        mean = metrics.SumOverBatchSizeMetricWrapper(lambda y_true, y_pred: y_true - y_pred)
        assert mean([1.0, 3.0], [0.0, 0.0], sample_weight=[1.0, 0.0]).numpy() == 0.5


# --- training_utils -----------------------------------------------------------------------------------------------------


def test_inputs_become_placeholders_in_their_structure():
    inputs = keras_training.ModelInputs({"b": np.ones(5), "a": np.ones((5, 2))})
    assert inputs.get_input_names() == ["a", "b"]
    made = inputs.get_symbolic_inputs()
    assert made["a"].shape.as_list() == [None, 2]
    assert made["b"].shape.as_list() == [None, 1]
    assert keras_training.ModelInputs(np.ones(3)).get_symbolic_inputs(return_single_as_list=True)[0].dtype == tf.float32


def test_outputs_and_losses_of_batches_come_together():
    outputs = keras_training.OutputsAggregator(use_steps=True, steps=2)
    outputs.create({"x": np.ones((3, 2))})
    for factor in (1, 2):
        outputs.aggregate({"x": np.ones((3, 2)) * factor})
    outputs.finalize()
    assert outputs.results["x"][:, 0].tolist() == [1, 1, 1, 2, 2, 2]
    metrics = keras_training.MetricsAggregator(use_steps=False, num_samples=5)
    metrics.create([1.0, 0.0])
    metrics.aggregate([1.0, 7.0], 0, 3)
    metrics.aggregate([2.0, 11.0], 3, 5)
    metrics.finalize()
    assert metrics.results == [7 / 5, 11.0]


def test_when_there_is_a_validation():
    assert keras_training.should_run_validation(3, 2)
    assert not keras_training.should_run_validation([3], 0)
    with pytest.raises(ValueError, match="can not be less than 1"):
        keras_training.should_run_validation(0, 5)


def test_what_is_counted_by_steps():
    x, numbers = np.ones((3, 2)), tf.data.Dataset.range(3)
    assert not keras_training.check_steps_argument(x, None, "steps")
    assert keras_training.check_steps_argument(numbers, None, "steps")
    assert keras_training.check_steps_argument([], 2, "steps")
    for data in ([], [tf.ones([2])], tf.compat.v1.data.make_one_shot_iterator(numbers)):
        with pytest.raises(ValueError, match="should specify the `steps` argument"):
            keras_training.check_steps_argument(data, None, "steps")
    assert not keras_training.is_eager_dataset_or_iterator(numbers)
    with eager_mode():
        assert keras_training.is_eager_dataset_or_iterator(iter(tf.data.Dataset.range(3)))


def test_data_of_training_and_validation():
    x = np.arange(6).reshape(3, 2)
    parts = keras_training.split_training_and_validation_data([x], [x], None, 1 / 3)
    assert [part and part[0].tolist() for part in parts] == [[[0, 1], [2, 3]]] * 2 + [None] + [[[4, 5]]] * 2 + [None]
    with pytest.raises(ValueError, match="must contain 2 items"):
        keras_training.unpack_validation_data((x,))


def test_weights_of_samples_and_classes():
    weights = keras_training.standardize_weights(np.eye(3), np.array([0.5, 1.0, 2.0]), {0: 0.5, 1: 1.0, 2: 1.5})
    np.testing.assert_allclose(weights, [0.25, 1, 3])


# --- saving_utils -------------------------------------------------------------------------------------------------------


def test_a_model_as_a_function_of_its_inputs():
    with eager_mode():
        model = keras.Sequential([keras.layers.Dense(3, input_shape=(2,), kernel_initializer="ones")])
        (spec,) = keras_saving.model_input_signature(model)
        assert spec.shape.as_list() == [None, 2]
        (made,) = keras_saving.trace_model_call(model)(tf.ones([5, 2])).values()
        np.testing.assert_array_equal(made, np.full([5, 3], 2.0))
        with pytest.raises(ValueError, match="input shapes have not been set"):
            keras_saving.trace_model_call(keras_subclasses.SimpleTestModel())


def test_what_is_told_of_a_model():
    model = keras.Sequential([keras.layers.Dense(3, input_shape=(2,))])
    assert "training_config" not in keras_saving.model_metadata(model)
    model.compile("sgd", "mse", metrics=["mae"])
    told = keras_saving.model_metadata(model)
    assert told["model_config"]["class_name"] == "Sequential"
    assert told["training_config"]["loss"] == "mse"
    assert list(keras_saving.extract_model_metrics(model)) == ["mean_absolute_error"]


# --- models, gradients, modes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SimpleTestModel", "NestedTestModel1", "NestedTestModel2"])
def test_subclasses_train(name):
    model = getattr(keras_subclasses, name)(num_classes=2)
    model.compile("rmsprop", "mse")
    model.train_on_batch(np.ones((3, 32)), np.ones((3, 2)))
    assert model.predict(np.ones((3, 32))).shape == (3, 2)


def test_gradients_are_looked_at():
    with eager_mode():
        x = tf.constant([1.0, 2.0])
        for wanted in (3.0, 5.0):
            function = keras_gradients.create_identity_with_grad_check_fn(wanted, tf.float32)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x) * 3.0
            if wanted == 3.0:
                np.testing.assert_array_equal(tape.gradient(y, x), [3, 3])
            else:
                with pytest.raises(tf.errors.InvalidArgumentError):
                    tape.gradient(y, x)


def test_each_mode_of_keras_has_its_test():
    seen = []

    class Case(keras_tests.TestCase):
        @keras_tests.run_all_keras_modes
        def test_it(self):
            functions = keras_tests.should_run_tf_function()
            seen.append((tf.executing_eagerly(), keras_tests.should_run_eagerly(), functions))

    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(unittest.TestResult())
    assert sorted(seen) == [(False, False, False), (True, False, False), (True, False, True), (True, True, True)]


# --- training_generator, saving.saved_model -----------------------------------------------------------------------------


def test_data_of_any_kind_give_batches():
    convert = stand_for("tensorflow.python.keras.engine.training_generator").convert_to_generator_like
    x, y = np.arange(10).reshape(5, 2), np.arange(5)
    made, steps = convert((x, {"y": y}), batch_size=2, epochs=2)
    every = list(made)
    assert steps == 3 and [len(one[1]["y"]) for one in every] == [2, 2, 1, 2, 2, 1]
    np.testing.assert_array_equal(every[1][0], x[2:4])
    shuffled, _ = convert((x, y), batch_size=5, shuffle=True)
    assert sorted(next(shuffled)[1]) == list(y)
    generator = iter([1])
    assert convert(generator, steps_per_epoch=4) == (generator, 4)
    with pytest.raises(ValueError, match="batch_size"):
        convert((x, y))


def test_models_are_saved_and_loaded_by_the_private_modules(tmp_path):
    saved_model = stand_for("tensorflow.python.keras.saving.saved_model")
    x = keras.Input((2,))
    with tf.Session().as_default():
        saved_model.save.save(keras.Model(x, keras.layers.Add()([x, x])), str(tmp_path / "m"))  # without any variable
        loaded = saved_model.load.load(str(tmp_path / "m"))
        np.testing.assert_array_equal(loaded.predict(np.ones((1, 2))), [[2, 2]])
