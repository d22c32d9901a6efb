"""The models that TensorFlow wrote into `recorded/` when `record_saved_models.py` ran, and the data they saw."""

from typing import Any

import numpy as np

ROWS = np.random.RandomState(2).rand(6, 5, 3).astype("float32")
WORDS = np.random.RandomState(3).randint(0, 7, (6, 5))
TARGETS = np.random.RandomState(4).rand(6, 2).astype("float32")


def sequential(keras: Any) -> Any:
    """Has weights that are not trained, and a state of the optimizer.

    There is no bias before the normalization: its gradient would be rounding alone.
    """
    layers = keras.layers
    model = keras.Sequential(
        [
            layers.Flatten(input_shape=(5, 3), name="flat"),
            layers.Dense(3, activation="relu", use_bias=False, name="first"),
            layers.BatchNormalization(name="normal"),
            layers.Dense(2, name="last"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"], weighted_metrics=["mse"])
    return model


def nested(keras: Any) -> Any:
    """Two inputs, a model within the model, and recurrent layers."""
    layers = keras.layers
    inner_in = keras.Input((5, 4), name="inner_in")
    inner = keras.Model(inner_in, layers.LSTM(3, name="lstm")(inner_in), name="inner")
    words, rows = keras.Input((5,), name="words"), keras.Input((5, 3), name="rows")
    embedded = layers.Embedding(7, 4, name="embedding")(words)
    both = layers.Bidirectional(layers.GRU(2, reset_after=True, name="gru"), name="both")(rows)
    output = layers.Dense(2, activation="softmax", name="output")(layers.concatenate([inner(embedded), both], name="join"))
    model = keras.Model([words, rows], output, name="nested")
    model.compile("sgd", loss={"output": "categorical_crossentropy"}, metrics={"output": ["accuracy"]})
    return model
