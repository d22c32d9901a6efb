"""`tf.contrib.estimator`: SavedModels for training and evaluation, too."""

import pytest

import tfexp as tf

estimator = tf.contrib.estimator

pytestmark = pytest.mark.usefixtures("quiet")


def model_fn(features, labels, mode):
    found = tf.get_variable("scale", initializer=2.0) * features["x"]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=found)
    loss = tf.reduce_sum(labels - found)
    return tf.estimator.EstimatorSpec(mode, found, loss, tf.assign_add(tf.train.get_global_step(), 1))


def test_models_are_exported_for_each_way_they_are_used(tmp_path):
    model = tf.estimator.Estimator(model_fn, str(tmp_path / "model"))
    model.train(lambda: ({"x": tf.ones([2])}, tf.ones([2])), steps=1)
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    labelled = estimator.build_raw_supervised_input_receiver_fn({"x": x}, y)
    plain = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    one = estimator.export_saved_model_for_mode(model, str(tmp_path / "one"), labelled, mode=tf.estimator.ModeKeys.EVAL)
    several = estimator.export_all_saved_models(
        model, str(tmp_path / "all"), {tf.estimator.ModeKeys.TRAIN: labelled, tf.estimator.ModeKeys.PREDICT: plain}
    )
    for path, tag, outputs in (
        (one, "eval", ["loss", "predictions"]),
        (several, "train", ["loss", "predictions"]),
        (several, "serve", ["output"]),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            loaded = tf.saved_model.load(session, [tag], path.decode())
            assert session.run("scale:0") == 2
            [signature] = loaded.signature_def.values()
            assert sorted(signature.outputs) == outputs


def test_receivers_are_made_as_an_input_function_gives():
    def input_fn(width):
        return tf.data.Dataset.from_tensors(({"x": tf.zeros([5, width])}, tf.zeros([5], tf.int64)))

    receive = estimator.build_supervised_input_receiver_fn_from_input_fn(input_fn, width=3)
    with tf.Graph().as_default():
        received = receive()
        assert (received.features["x"].op.type, received.features["x"].shape.as_list()) == ("Placeholder", [None, 3])
        assert received.labels.dtype == tf.int64 and sorted(received.receiver_tensors) == ["label", "x"]
