"""Estimators of SavedModels: what was exported is evaluated, trained on, and predicts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf

estimator = tf.estimator
pytestmark = pytest.mark.usefixtures("quiet")
X = np.arange(6, dtype=np.float32).reshape(6, 1)
Y = 2 * X


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    weight = tf.get_variable("weight", initializer=1.0)
    found = features["x"] * weight
    if mode == "infer":
        return estimator.EstimatorSpec(mode, {"y": found})
    loss = tf.losses.mean_squared_error(labels, found)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return estimator.EstimatorSpec(mode, {"y": found}, loss, step, {"mae": tf.metrics.mean_absolute_error(labels, found)})


def data() -> tuple[dict[str, Any], Any]:
    return {"x": tf.constant(X)}, tf.constant(Y)


def supervised() -> Any:
    x, y = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
    return estimator.experimental.build_raw_supervised_input_receiver_fn({"x": x}, y)()


def served() -> Any:
    features = {"x": tf.placeholder(tf.float32, [None, 1])}
    return estimator.export.ServingInputReceiver(features, features)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    folder = tmp_path_factory.mktemp("models")
    model = estimator.Estimator(model_fn, str(folder / "model"))
    model.train(data, steps=2)
    receivers = {"train": supervised, "eval": supervised, "infer": served}
    return model, model.experimental_export_all_saved_models(str(folder / "exports"), receivers).decode()


def test_it_goes_on_where_the_model_was(exported: tuple[Any, str], tmp_path: Path) -> None:
    model, folder = exported
    loaded = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path))
    weight = float(model.get_variable_value("weight"))
    wanted = model.evaluate(data, steps=1)
    assert loaded.evaluate(data, steps=1) == {
        "global_step": 2,
        "loss": pytest.approx(wanted["loss"]),
        "metrics/mae": pytest.approx(wanted["mae"]),
    }
    rows = list(loaded.predict(lambda: tf.data.Dataset.from_tensors({"x": X})))
    np.testing.assert_allclose([row["y"] for row in rows], X * weight, rtol=1e-6)
    loaded.train(data, steps=1)
    assert loaded.get_variable_names() == ["global_step", "weight"]
    assert loaded.get_variable_value("weight") == pytest.approx(weight + 0.02 * (2 - weight) * float(np.mean(X**2)))


def test_what_does_not_fit(exported: tuple[Any, str], tmp_path: Path) -> None:
    model, folder = exported
    loaded = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path / "model"))
    for given, error, message in (
        (lambda: ({"z": tf.constant(X)}, tf.constant(Y)), ValueError, "'x' not found in features or labels"),
        (lambda: ({"x": tf.constant(X, tf.float64)}, tf.constant(Y)), ValueError, "Expected float32 .* Got: float64"),
        (lambda: ({"x": tf.constant(X[:, 0])}, tf.constant(Y)), ValueError, "validation failed for input x"),
        (lambda: (tf.train.get_or_create_global_step(), data())[1], RuntimeError, "must make no global step"),
    ):
        with pytest.raises(error, match=message):
            loaded.evaluate(given, steps=1)
    for_serving = model.export_saved_model(str(tmp_path / "serving"), served).decode()
    with pytest.raises(RuntimeError, match="train mode is not available in the SavedModel"):
        tf.contrib.estimator.SavedModelEstimator(for_serving).train(data, steps=1)
    with pytest.raises(ValueError, match="invalid SavedModel format"):
        tf.contrib.estimator.SavedModelEstimator(str(tmp_path))
