"""Keras models' files as TensorFlow Lite's."""

import numpy as np
import pytest

import tfexp as tf
from tests.lite.lite_models import random_values, run_model
from tfexp.formats.lite_model import read_model

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")
pytest.importorskip("h5py", reason="HDF5 files need the extra `hdf5`")


def test_a_keras_model(tmp_path):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(3, 3, activation="relu", input_shape=(7, 5, 2)),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Flatten(),
            layers.Dense(4, activation="softmax"),
        ]
    )
    path = str(tmp_path / "model.h5")
    model.save(path)
    (value,) = random_values((1, 7, 5, 2))
    expected = model.predict(value)
    file = tf.lite.TFLiteConverter.from_keras_model_file(path).convert()
    assert [step.op for step in read_model(file).operators] == [
        "CONV_2D",
        "MUL",
        "ADD",
        "FULLY_CONNECTED",
        "SOFTMAX",
    ]
    np.testing.assert_allclose(run_model(file, value)[0], expected, rtol=1e-5, atol=1e-6)
    tf.keras.backend.clear_session()
