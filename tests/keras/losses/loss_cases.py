"""Every Keras loss on one batch, for TensorFlow and for tfexp alike: `tf` is either.

`python -m tests.keras.losses.loss_cases`, from the repository's root with a Python that has TensorFlow 1.15, records what
TensorFlow's give.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.training_cases import drawn

RECORDING = Path(__file__).parent / "losses.json"

BATCH, CLASSES = 5, 3
ANY = (drawn(1, BATCH, CLASSES, low=-2, high=2), drawn(2, BATCH, CLASSES, low=-2, high=2))
SIGNS = (np.sign(ANY[0]), ANY[1])
BITS = (np.float32(ANY[0] > 0), drawn(3, BATCH, CLASSES, low=0.05, high=0.95))
ONE_HOT = (np.eye(CLASSES, dtype=np.float32)[[0, 2, 1, 1, 0]], BITS[1])
NUMBERS = (np.array([0, 2, 1, 1, 0], np.int32), BITS[1])
SEQUENCES = (np.array([[0, 2], [1, 1]], np.int32), drawn(4, 2, 2, CLASSES, low=0.05, high=0.95))
COLUMN = (drawn(5, BATCH), drawn(6, BATCH, 1))

# (class, function, arguments, what it is given)
CASES: list[tuple[str, str, dict[str, Any], tuple[np.ndarray, np.ndarray]]] = [
    ("MeanSquaredError", "mean_squared_error", {}, ANY),
    ("MeanSquaredError", "mean_squared_error", {}, COLUMN),
    ("MeanAbsoluteError", "mean_absolute_error", {}, ANY),
    ("MeanAbsolutePercentageError", "mean_absolute_percentage_error", {}, ANY),
    ("MeanAbsolutePercentageError", "mean_absolute_percentage_error", {}, BITS),
    ("MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", {}, ANY),
    ("Hinge", "hinge", {}, SIGNS),
    ("Hinge", "hinge", {}, BITS),
    ("SquaredHinge", "squared_hinge", {}, SIGNS),
    ("SquaredHinge", "squared_hinge", {}, BITS),
    ("CategoricalHinge", "categorical_hinge", {}, ONE_HOT),
    ("LogCosh", "logcosh", {}, ANY),
    ("Poisson", "poisson", {}, BITS),
    ("KLDivergence", "kullback_leibler_divergence", {}, BITS),
    ("CosineSimilarity", "cosine_similarity", {}, ANY),
    ("CosineSimilarity", "cosine_similarity", {"axis": 0}, ANY),
    ("Huber", "", {}, ANY),
    ("Huber", "", {"delta": 0.5}, ANY),
    ("BinaryCrossentropy", "binary_crossentropy", {}, BITS),
    ("BinaryCrossentropy", "binary_crossentropy", {"from_logits": True}, BITS),
    ("BinaryCrossentropy", "binary_crossentropy", {"label_smoothing": 0.2}, BITS),
    ("CategoricalCrossentropy", "categorical_crossentropy", {}, ONE_HOT),
    ("CategoricalCrossentropy", "categorical_crossentropy", {"from_logits": True}, ONE_HOT),
    ("CategoricalCrossentropy", "categorical_crossentropy", {"label_smoothing": 0.2}, ONE_HOT),
    ("SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", {}, NUMBERS),
    ("SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", {"from_logits": True}, NUMBERS),
    ("SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", {}, SEQUENCES),
]


def key(number: int) -> str:
    return f"{number} {CASES[number][0]} {json.dumps(CASES[number][2])}"


def losses(tf: Any, number: int) -> list[Any]:
    """The function's values, the object's mean and sum and all its values, and those with weights for each example."""
    name, function, arguments, (y_true, y_pred) = CASES[number]
    kind = getattr(tf.keras.losses, name)
    with tf.Graph().as_default(), tf.Session() as session:
        true, pred = tf.constant(y_true), tf.constant(y_pred)
        found = [getattr(tf.keras.losses, function)(true, pred, **arguments)] if function else []
        found += [kind(reduction=how, **arguments)(true, pred) for how in ("auto", "sum", "none")]
        unweighted = found[-1]
        if unweighted.shape.ndims and arguments.get("axis") != 0:
            weights = tf.constant(drawn(7, len(y_true), low=0.0))
            if unweighted.shape.ndims == 2:
                weights = tf.expand_dims(weights, 1)
            found += [kind(reduction=how, **arguments)(true, pred, sample_weight=weights) for how in ("auto", "none")]
        return [np.asarray(value, np.float64).tolist() for value in session.run(found)]


def main() -> None:
    import tensorflow.compat.v1 as tf  # type: ignore[import-not-found]

    tf.disable_v2_behavior()
    lines = [f"{json.dumps(key(i))}: {json.dumps(losses(tf, i))}" for i in range(len(CASES))]
    RECORDING.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
