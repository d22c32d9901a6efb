"""tf.contrib.predictor, and other small parts of tf.contrib."""

import numpy as np
import pytest

import tfexp as tf

predictor = tf.contrib.predictor


@pytest.fixture
def saved(tmp_path):
    """x -> 3 x + b, of which the signature "twice" gives the double."""
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        b = tf.Variable(1.0)
        y = tf.add(3.0 * x, b, name="y")
        session.run(tf.global_variables_initializer())
        twice = tf.saved_model.signature_def_utils.predict_signature_def({"in": x}, {"out": 2.0 * y})
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        plain = tf.saved_model.signature_def_utils.predict_signature_def({"in": x}, {"out": y})
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": plain, "twice": twice})
        builder.save()
    return folder


def test_saved_models_are_functions(saved):
    predict = predictor.from_saved_model(saved)
    assert predict({"in": [1.0, 2.0]})["out"].tolist() == [4.0, 7.0]
    assert list(predict.feed_tensors) == ["in"] and predict.session.graph is predict.graph
    assert predictor.from_saved_model(saved, "twice", tags="serve")({"in": [1.0]})["out"].tolist() == [8.0]
    named = predictor.from_saved_model(saved, input_names={"a": "x:0"}, output_names={"b": "y:0"})
    assert named({"a": [0.0]})["b"].tolist() == [1.0] and "Predictor with feed tensors" in repr(named)
    with pytest.raises(ValueError, match=r"Got unexpected keys in input_dict: \['x'\]; the model's inputs are \['in'\]"):
        predict({"x": [1.0]})
    for options, text in (
        ({"signature_def_key": "thrice"}, "has no signature 'thrice'; it has"),
        ({"signature_def_key": "twice", "input_names": {}}, "exclude each other"),
        ({"input_names": {"a": "x:0"}}, "must both be specified"),
    ):
        with pytest.raises(ValueError, match=text):
            predictor.from_saved_model(saved, **options)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", initializer=2.0)
    predictions = {"y": features["x"] * w}
    train = tf.group(w.assign_add(1.0), tf.train.get_global_step().assign_add(1))
    return tf.estimator.EstimatorSpec(
        mode,
        predictions,
        tf.constant(0.0),
        train,
        export_outputs={"named": tf.estimator.export.PredictOutput(predictions)},
    )


def test_estimators_are_functions(tmp_path):
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: ({"x": tf.constant([1.0])}, tf.constant([1.0])), steps=1)

    def receiver_fn():
        x = tf.placeholder(tf.float32, [None], name="x")
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    predict = predictor.from_estimator(estimator, receiver_fn, output_key="named")
    assert predict({"x": [2.0, 3.0]})["y"].tolist() == [6.0, 9.0]
    predict.session.close()
    with pytest.raises(ValueError, match="the model has no export output 'other'"):
        predictor.from_estimator(estimator, receiver_fn, output_key="other")


def test_cells_for_what_cudnn_trained():
    cudnn, x, h = tf.contrib.cudnn_rnn, np.float32([[1.0, -0.5]]), np.float32([[0.5, -1.0, 0.25]])
    with tf.Graph().as_default(), tf.Session() as session:
        _, (c, out) = cudnn.CudnnCompatibleLSTMCell(3)(tf.constant(x), (tf.constant(h), tf.constant(h)))
        gru, _ = cudnn.CudnnCompatibleGRUCell(3)(tf.constant(x), tf.constant(h))
        session.run(tf.global_variables_initializer())
        v = {variable.op.name: session.run(variable) for variable in tf.global_variables()}
        c, out, gru = session.run([c, out, gru])

    def sigmoid(a):
        return 1 / (1 + np.exp(-a))

    both = np.append(x, h, 1)
    i, j, f, o = np.split(both @ v["cudnn_compatible_lstm_cell/kernel"], 4, 1)
    wanted = sigmoid(f) * h + sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(c, wanted, rtol=1e-5)
    np.testing.assert_allclose(out, sigmoid(o) * np.tanh(wanted), rtol=1e-5)
    below = "cudnn_compatible_gru_cell"
    r, u = np.split(sigmoid(both @ v[f"{below}/gates/kernel"] + 1), 2, 1)
    from_inputs = x @ v[f"{below}/candidate/input_projection/kernel"]
    from_state = h @ v[f"{below}/candidate/hidden_projection/kernel"]
    np.testing.assert_allclose(gru, u * h + (1 - u) * np.tanh(from_inputs + r * from_state), rtol=1e-5)
    assert sum(name.startswith(f"{below}/candidate") for name in v) == 4


def test_what_has_moved_into_tensorflow_is_reached_by_its_old_name():
    assert tf.contrib.stateless.stateless_random_uniform is tf.random.stateless_uniform
    assert tf.contrib.staging.StagingArea.__name__ == "StagingArea"
    with pytest.raises(AttributeError, match="tfexp does not have TensorFlow's"):
        tf.contrib.staging.Missing  # noqa: B018
