"""What published libraries (tensorpack, tensorflow-hub, kfac, mesh-tensorflow) take from TensorFlow's private modules."""

import numpy as np
import pytest
from tensorboard.compat.proto.op_def_pb2 import OpList

import tfexp as tf
from tfexp.stand_ins.modules import stand_for


def module(name):
    return stand_for(f"tensorflow.python.{name}")


def test_fetches_are_taken_apart_and_put_together():
    with tf.Graph().as_default() as graph:
        constant, fed = tf.constant(2.0), tf.placeholder(tf.float32)
        total = constant + fed
        sparse = tf.SparseTensor([[0, 1]], [7.0], [2, 3])
    fetches = {"list": [constant, total.op, constant], "sparse": sparse, "pair": (total, fed)}
    handler = module("client.session")._FetchHandler(graph, fetches, {fed: 5.0})
    assert handler.fetches() == [constant, sparse.indices, sparse.values, sparse.dense_shape, total]
    assert handler.targets() == [total.op]
    results = handler.build_results(None, [1, 2, 3, 4, 5])
    assert results["list"] == [1, None, 1] and tuple(results["sparse"]) == (2, 3, 4) and results["pair"] == (5, 5.0)
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        module("client.session")._FetchHandler(tf.Graph(), constant, {})


def test_all_ops_are_a_list_in_a_buffer():
    library = module("pywrap_tensorflow")
    ops = {op.name: op for op in OpList.FromString(library.TF_GetBuffer(library.TF_GetAllOpList())).op}
    assert [arg.name for arg in ops["MatMul"].input_arg] == ["a", "b"]


def test_wrappers_of_modules_have_their_older_name():
    assert module("util.deprecation_wrapper").DeprecationWrapper is module("util.module_wrapper").TFModuleWrapper


def test_the_state_of_an_optimizer_is_read_from_a_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    model.train_on_batch(np.ones((5, 3)), np.zeros((5, 2)))
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5") as file:
        values = module("keras.saving.hdf5_format").load_optimizer_weights_from_hdf5_group(file)
    expected = model.optimizer.get_weights()
    assert len(values) == len(expected) == 3
    for value, other in zip(values, expected, strict=True):
        np.testing.assert_array_equal(value, other)


def test_states_of_columns_keep_resources_without_a_layer():
    states = module("feature_column.feature_column_v2")._StateManagerImpl(layer=None, trainable=False)
    states.add_resource("column", "name", 3)
    assert states.get_resource("column", "name") == 3


def test_estimators_are_exported_by_the_function_for_tpus(tmp_path):
    export = stand_for("tensorflow_estimator.python.estimator.tpu.tpu_estimator").export_estimator_savedmodel

    def model(features, labels, mode, params):
        product = tf.get_variable("w", []) * features["x"]
        outputs = {"serving_default": tf.estimator.export.PredictOutput({"product": product})}
        step = tf.assign_add(tf.train.get_global_step(), 1)
        return tf.estimator.tpu.TPUEstimatorSpec(
            mode, loss=tf.reduce_sum(product), predictions={"product": product}, train_op=step, export_outputs=outputs
        )

    config = tf.estimator.tpu.RunConfig(model_dir=str(tmp_path / "model"))
    estimator = tf.estimator.tpu.TPUEstimator(model, config=config, use_tpu=False, train_batch_size=2)
    estimator.train(lambda params: tf.data.Dataset.from_tensors({"x": [1.0, 2.0]}), steps=1)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None])})
    exported = export(estimator, str(tmp_path / "exported"), receiver)
    assert tf.saved_model.contains_saved_model(exported.decode())


def test_estimators_tell_the_settings_of_their_sessions(tmp_path):
    settings = tf.ConfigProto(log_device_placement=True)
    given = tf.estimator.RunConfig(model_dir=str(tmp_path), session_config=settings)
    assert tf.estimator.Estimator(lambda features: None, config=given)._session_config == settings
    assert tf.estimator.Estimator(lambda features: None, model_dir=str(tmp_path))._session_config.allow_soft_placement
