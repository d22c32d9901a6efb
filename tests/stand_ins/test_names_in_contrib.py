"""Modules within `tensorflow.contrib`, of the estimators and of few lines, as programs import from them."""

import importlib
import json

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def _installed(installed):
    pass


def test_optimizers_of_contrib_train_from_their_own_modules():
    from tensorflow.contrib.optimizer_v2 import adam, gradient_descent, optimizer_v2

    assert issubclass(adam.AdamOptimizer, optimizer_v2.OptimizerV2)
    with tf.Graph().as_default(), tf.Session() as session:
        weight = tf.Variable(2.0)
        step = gradient_descent.GradientDescentOptimizer(0.25).minimize(weight * weight, var_list=[weight])
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(weight) == 1.0


def test_generated_functions_of_contrib_make_their_ops():
    from tensorflow.contrib.image.ops import gen_image_ops
    from tensorflow.contrib.resampler.ops import gen_resampler_ops
    from tensorflow.contrib.seq2seq.ops import gen_beam_search_ops

    with tf.Graph().as_default(), tf.Session() as session:
        tree = gen_beam_search_ops.gather_tree([[[2, 3]], [[4, 5]]], [[[0, 0]], [[1, 0]]], [2], end_token=9)
        parts = gen_image_ops.image_connected_components([[[1, 0, 1]]])
        sampled = gen_resampler_ops.resampler(tf.constant([[[[1.0], [3.0]]]]), tf.constant([[[0.5, 0.0]]]))
        assert session.run(tree).tolist() == [[[3, 2]], [[4, 5]]]
        assert session.run(parts).tolist() == [[[1, 0, 3]]] and session.run(sampled).tolist() == [[[2.0]]]
    assert tree.op.type == "GatherTree" and parts.op.type == "ImageConnectedComponents"


def test_contrib_modules_that_answer_with_their_library():
    from tensorflow.contrib.receptive_field import receptive_field_api
    from tensorflow.contrib.summary import summary
    from tensorflow.contrib.testing.python.framework import fake_summary_writer
    from tensorflow.contrib.tfprof import tfprof_logger
    from tensorflow.contrib.util import loader

    contrib = tf.contrib
    assert receptive_field_api.compute_receptive_field_from_graph_def is (
        contrib.receptive_field.compute_receptive_field_from_graph_def
    )
    assert summary.scalar is contrib.summary.scalar and tfprof_logger.write_op_log is tf.profiler.write_op_log
    writer = fake_summary_writer.FakeSummaryWriter("folder")
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=3.0)]), 1)
    writer.assert_summaries(self_of_test(), expected_summaries={1: {"a": 3.0}})
    with pytest.raises(tf.errors.NotFoundError, match=r"/no/such\.so"):
        loader.load_op_library("/no/such.so")


def self_of_test():
    """What a test of TensorFlow's hands over: it has `assertEqual` and so on."""
    return tf.test.TestCase()


def test_estimators_by_their_generated_packages():
    from tensorflow_estimator.python.estimator.api._v1 import estimator
    from tensorflow_estimator.python.estimator.api._v1.estimator import export, inputs
    from tensorflow_estimator.python.estimator.api._v2 import estimator as estimator_v2
    from tensorflow_estimator.python.estimator.canned.saved_model_estimator import SavedModelEstimator

    assert estimator.Estimator is tf.estimator.Estimator and inputs.numpy_input_fn is tf.estimator.inputs.numpy_input_fn
    assert export.ServingInputReceiver is tf.estimator.export.ServingInputReceiver
    assert estimator_v2.DNNClassifier is tf.compat.v2.estimator.DNNClassifier
    assert SavedModelEstimator is tf.contrib.estimator.SavedModelEstimator


def test_time_series_among_the_canned_estimators():
    from tensorflow_estimator.python.estimator.canned.timeseries import ar_model, feature_keys, head, math_utils, model

    contrib = tf.contrib.timeseries
    assert math_utils.Moments._fields == ("mean", "variance") and feature_keys.TrainEvalFeatures is contrib.TrainEvalFeatures
    assert head.OneShotPredictionHead is contrib.OneShotPredictionHead and issubclass(
        ar_model.ARModel, model.TimeSeriesModel
    )
    with tf.Graph().as_default():
        recurrent = ar_model.ARModel(periodicities=7, input_window_size=3, output_window_size=2, num_features=1)
        recurrent.initialize_graph()
        times, values = tf.constant([[0, 1, 2, 3, 4]], tf.int64), tf.constant(np.ones([1, 3, 1], np.float32))
        recurrent.prediction_ops(times, values, tf.zeros([1, 5, 0]))
        # A flat network, which `tf.contrib.timeseries` has in its place, has no cell.
        assert any("lstm" in variable.name.lower() for variable in tf.trainable_variables())


def test_modules_of_few_lines():
    from tensorflow.python.platform import control_imports, remote_utils, status_bar
    from tensorflow.python.tools import module_util

    assert control_imports.USE_OSS is True and remote_utils.get_default_communication_protocol() == "grpc"
    assert status_bar.SetupStatusBarInsideGoogle("text", 0) is None
    assert module_util.get_parent_dir(json) == module_util.get_parent_dir(importlib)
    from tensorflow.python.distribute import distribute_config

    assert distribute_config.DistributeConfig is tf.contrib.distribute.DistributeConfig
