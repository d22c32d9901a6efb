"""`tf.keras.estimator.model_to_estimator`: a model trains in an Estimator as it does by itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.api import keras

X = np.random.RandomState(1).rand(12, 3).astype("float32")
Y = np.random.RandomState(2).rand(12, 1).astype("float32")


def compiled(optimizer: Any = None) -> Any:
    normal = keras.layers.BatchNormalization(name="normal")
    layers = [keras.layers.Dense(4, activation="relu", input_shape=(3,), name="first"), normal]
    model = keras.Sequential([*layers, keras.layers.Dense(1, name="last")])
    model.compile(
        optimizer or keras.optimizers.SGD(0.1, momentum=0.5), "mse", metrics=["mae", keras.metrics.MeanSquaredError()]
    )
    return model


def batches(as_dict: bool = False) -> Any:
    features = {"first_input": X} if as_dict else X
    return tf.data.Dataset.from_tensor_slices((features, {"last": Y} if as_dict else Y)).batch(6)


@pytest.mark.parametrize("as_dict", [False, True])
def test_it_trains_as_the_model_does(as_dict: bool, tmp_path: Path) -> None:
    model = compiled()
    estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(lambda: batches(as_dict), steps=2)
    assert estimator.get_variable_value("training/SGD/decay") == 0
    model.fit(X, Y, batch_size=6, shuffle=False, verbose=0)
    for weight, value in zip(model.weights, model.get_weights(), strict=True):
        np.testing.assert_allclose(
            estimator.get_variable_value(weight.op.name), value, rtol=1e-4, atol=1e-5, err_msg=weight.name
        )
    found = estimator.evaluate(lambda: batches(as_dict))
    wanted = dict(zip(model.metrics_names, model.evaluate(X, Y, batch_size=6, verbose=0), strict=True))
    assert found["global_step"] == 2
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, rel=1e-4)
    predictions = [one["last"] for one in estimator.predict(lambda: batches(as_dict))]
    np.testing.assert_allclose(predictions, model.predict(X), rtol=1e-4, atol=1e-5)


def test_it_goes_on_and_exports(tmp_path: Path) -> None:
    model = compiled(tf.train.AdagradOptimizer(0.1))
    for _ in range(2):
        estimator = keras.estimator.model_to_estimator(model, model_dir=str(tmp_path / "model"))
        estimator.train(lambda: batches(), steps=1)
    assert estimator.get_variable_value("global_step") == 2
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"first_input": tf.placeholder(tf.float32, [None, 3])}
    )
    path = estimator.export_saved_model(str(tmp_path / "served"), receiver)
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.loader.load(session, ["serve"], path.decode()).signature_def["serving_default"]
        served = session.run(signature.outputs["last"].name, {signature.inputs["first_input"].name: X})
    wanted = [one["last"] for one in estimator.predict(lambda: batches())]
    np.testing.assert_allclose(served, wanted, rtol=1e-5)


def test_what_is_no_model_to_convert(tmp_path: Path) -> None:
    convert = keras.estimator.model_to_estimator
    with pytest.raises(ValueError, match="needs to be provided"):
        convert()
    with pytest.raises(ValueError, match="not both"):
        convert(compiled(), "path")
    with pytest.raises(ValueError, match="has not been compiled"):
        convert(keras.Sequential([keras.layers.Dense(1, input_shape=(2,))]))
    with pytest.raises(ValueError, match="checkpoint_format"):
        convert(compiled(), checkpoint_format="checkpoint")
    estimator = convert(compiled(), model_dir=str(tmp_path))
    with pytest.raises(ValueError, match='Cannot find input with name "other" in Keras Model'):
        estimator.train(lambda: tf.data.Dataset.from_tensor_slices(({"other": X}, Y)).batch(6), steps=1)
