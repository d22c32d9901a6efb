"""SavedModels of Keras models that TensorFlow wrote: architecture, weights, training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto import saved_object_graph_pb2

import tfexp as tf
from tests.keras.saving.saved_models import ROWS, TARGETS
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.keras.saving.tensorflow_metadata import tensorflow_metadata

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
