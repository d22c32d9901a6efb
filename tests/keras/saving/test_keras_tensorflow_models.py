"""SavedModels of Keras models that TensorFlow wrote: architecture, weights, training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto import saved_object_graph_pb2

import tfexp as tf
from tests.keras.saving.saved_models import ROWS, TARGETS
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.keras.saving.tensorflow_metadata import tensorflow_metadata
from tfexp.runtime.eager import eager_mode

RECORDED = Path(__file__).with_name("recorded")
FOUND = json.loads((RECORDED / "found.json").read_text())


@pytest.mark.parametrize("version", ["1.15", "2.15"])
def test_a_model_comes_back_and_goes_on(version: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(RECORDED / "saved_model", folder)
    if version == "1.15":  # which has the same text with the objects
        metadata = json.dumps(tensorflow_metadata(str(folder)))
        (folder / "keras_metadata.pb").unlink()
        saved = SavedModel()
        node = saved_object_graph_pb2.SavedObject()
        node.user_object.identifier, node.user_object.metadata = "_tf_keras_sequential", metadata
        saved.meta_graphs.add().object_graph_def.nodes.append(node)
        (folder / "saved_model.pb").write_bytes(saved.SerializeToString())
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.models.load_model(str(folder))
        np.testing.assert_allclose(model.predict(ROWS), FOUND["sequential"], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(model.evaluate(ROWS, TARGETS, verbose=0), FOUND["evaluated"], rtol=1e-5)
        model.train_on_batch(ROWS, TARGETS)
        np.testing.assert_allclose(model.predict(ROWS), FOUND["a_step_later"], rtol=1e-4, atol=1e-5)


def test_a_folder_without_an_architecture_is_refused(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(OSError, match="has no architecture of a Keras model"):
        tf.keras.models.load_model(str(tmp_path))


# --- what TensorFlow makes models of that were written here ------------------------------------------------------------


class _Subclass(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense, self.normalized = tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization()

    def call(self, inputs: Any, training: Any = None) -> Any:
        return self.normalized(self.dense(inputs), training=training)


def _networks() -> list[Any]:
    layers = tf.keras.layers
    a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
    dense = layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")
    functional = tf.keras.Model([a, b], layers.add([dense(a), layers.Dropout(0.5)(dense(b))]))
    return [functional, tf.keras.Sequential([layers.Dense(2), layers.Dense(1)]), _Subclass()]


@pytest.mark.parametrize("number", range(3), ids=["functional", "sequential", "subclass"])
def test_each_layer_is_written_with_its_functions(number: int, tmp_path: Path) -> None:
    folder, rows = str(tmp_path / "model"), np.ones((2, 3), np.float32)
    with eager_mode():
        model = _networks()[number]
        x = [rows, rows] if number == 0 else rows
        predicted = model.predict(x)
        before = len(model.losses), len(model.updates), [len(layer.inbound_nodes) for layer in model.layers]
        model.save(folder, save_format="tf")
        assert before == (len(model.losses), len(model.updates), [len(layer.inbound_nodes) for layer in model.layers])
        assert not any(hasattr(layer, "keras_api") for layer in (model, *model.layers))

        kept = tf.saved_model.load_v2(folder).keras_api
        arguments = (False,) if model._takes("training") else ()
        given = [tf.constant(one) for one in x] if number == 0 else tf.constant(x)
        outputs, losses = kept.call_and_return_conditional_losses(given, *arguments)
        np.testing.assert_allclose(outputs.numpy(), predicted, rtol=1e-6)
        assert len(losses) == (2 if number == 0 else 0)  # the activity regularizer's, of either call
        if number == 0:
            dense = kept.layers[2].keras_api
            (loss,) = (dense.layer_regularization_losses[0](),)
            np.testing.assert_allclose(loss.numpy(), 0.01 * np.square(model.get_weights()[0]).sum(), rtol=1e-6)
        if number == 1:
            hidden, _ = kept.layers[0].keras_api.call_and_return_conditional_losses(given)
            np.testing.assert_allclose(hidden.numpy(), model.layers[0](given).numpy(), rtol=1e-6)


def test_a_model_that_was_built_by_data_comes_back_ready_to_train(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session().as_default():
        tf.set_random_seed(7)
        model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)])
        model.compile("adam", "mse")
        model.fit(ROWS, TARGETS, verbose=0)
        model.save(str(tmp_path / "model"), save_format="tf")
        again = tf.keras.models.load_model(str(tmp_path / "model"))
        np.testing.assert_allclose(again.predict(ROWS), model.predict(ROWS), rtol=1e-6)
        for one in (model, again):
            one.train_on_batch(ROWS, TARGETS)
        np.testing.assert_allclose(again.predict(ROWS), model.predict(ROWS), rtol=1e-5)
