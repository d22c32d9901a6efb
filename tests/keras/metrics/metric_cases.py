"""Every Keras metric over three batches, for TensorFlow and for tfexp alike: `tf` is either.

`python -m tests.keras.metrics.metric_cases`, from the repository's root with a Python that has TensorFlow 2.15 (used through
`compat.v1`), records what TensorFlow's give.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.training_cases import drawn

RECORDING = Path(__file__).parent / "metrics.json"
BATCHES, BATCH, CLASSES = 3, 7, 3


def _values(i: int) -> tuple[np.ndarray, ...]:
    return (drawn(i, BATCH),)


def _any(i: int) -> tuple[np.ndarray, ...]:
    return drawn(i, BATCH, CLASSES, low=-2, high=2), drawn(10 + i, BATCH, CLASSES, low=-2, high=2)


def _equal(i: int) -> tuple[np.ndarray, ...]:
    return np.int32(drawn(i, BATCH, low=0, high=1.999)), np.int32(drawn(20 + i, BATCH, low=0, high=1.999))


def _bits(i: int) -> tuple[np.ndarray, ...]:
    return np.float32(_any(i)[0] > 0), drawn(30 + i, BATCH, CLASSES, low=0.05, high=0.95)


def _one_hot(i: int) -> tuple[np.ndarray, ...]:
    return np.eye(CLASSES, dtype=np.float32)[_classes(i)[0]], _bits(i)[1]


def _classes(i: int) -> tuple[np.ndarray, ...]:
    return np.int32(drawn(40 + i, BATCH, low=0, high=CLASSES - 0.001)), _bits(i)[1]


def _numbers(i: int) -> tuple[np.ndarray, ...]:
    return _classes(i)[0], _classes(i + 5)[0]


def _predicted(i: int) -> tuple[np.ndarray, ...]:
    return np.float32(drawn(50 + i, BATCH) > 0), drawn(60 + i, BATCH, low=0.0, high=1.0)


_GIVEN = {
    "values": _values,
    "any": _any,
    "equal": _equal,
    "bits": _bits,
    "one hot": _one_hot,
    "classes": _classes,
    "numbers": _numbers,
    "predicted": _predicted,
}

# (class, arguments, what it is given)
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("Sum", {}, "values"),
    ("Mean", {}, "values"),
    ("Mean", {"dtype": "float64"}, "values"),
    ("MeanTensor", {}, "values"),
    ("RootMeanSquaredError", {}, "any"),
    ("MeanRelativeError", {"normalizer": [[0.5, 0.0, 2.0]]}, "any"),
    ("Accuracy", {}, "equal"),
    ("BinaryAccuracy", {}, "bits"),
    ("BinaryAccuracy", {"threshold": 0.2}, "bits"),
    ("CategoricalAccuracy", {}, "one hot"),
    ("SparseCategoricalAccuracy", {}, "classes"),
    ("TopKCategoricalAccuracy", {"k": 2}, "one hot"),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, "classes"),
    ("CosineSimilarity", {}, "any"),
    ("MeanAbsoluteError", {}, "any"),
    ("MeanAbsolutePercentageError", {}, "any"),
    ("MeanSquaredError", {}, "any"),
    ("MeanSquaredLogarithmicError", {}, "any"),
    ("Hinge", {}, "bits"),
    ("SquaredHinge", {}, "bits"),
    ("CategoricalHinge", {}, "one hot"),
    ("LogCoshError", {}, "any"),
    ("Poisson", {}, "bits"),
    ("KLDivergence", {}, "bits"),
    ("BinaryCrossentropy", {"label_smoothing": 0.1}, "bits"),
    ("CategoricalCrossentropy", {"from_logits": True}, "one hot"),
    ("SparseCategoricalCrossentropy", {}, "classes"),
    ("TruePositives", {}, "predicted"),
    ("FalsePositives", {"thresholds": [0.3, 0.6]}, "predicted"),
    ("TrueNegatives", {"thresholds": 0.3}, "predicted"),
    ("FalseNegatives", {}, "bits"),
    ("Precision", {}, "predicted"),
    ("Precision", {"thresholds": [0.3, 0.6]}, "predicted"),
    ("Precision", {"top_k": 2}, "one hot"),
    ("Precision", {"class_id": 1, "thresholds": 0.3}, "one hot"),
    ("Recall", {}, "predicted"),
    ("Recall", {"top_k": 2, "class_id": 2}, "one hot"),
    ("AUC", {}, "predicted"),
    ("AUC", {"curve": "PR"}, "predicted"),
    ("AUC", {"curve": "PR", "summation_method": "majoring", "num_thresholds": 9}, "predicted"),
    ("AUC", {"summation_method": "minoring", "thresholds": [0.6, 0.2, 0.5]}, "bits"),
    ("MeanIoU", {"num_classes": 4}, "numbers"),
]


def key(case: tuple[str, dict[str, Any], str]) -> str:
    return f"{case[0]} {json.dumps(case[1])} {case[2]}"


def results(tf: Any, case: tuple[str, dict[str, Any], str]) -> list[list[Any]]:
    """For a metric without weights and one with them: the result after each batch, by calling it; then after a reset and
    a batch by `update_state`.
    """
    name, arguments, given = case
    batches = [_GIVEN[given](i) for i in range(BATCHES)]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        kinds = [getattr(tf.keras.metrics, name)(**arguments) for _ in range(2)]
        inputs = [tf.placeholder(array.dtype, array.shape) for array in batches[0]]
        weights = tf.placeholder(tf.float32, [BATCH])
        keywords: list[dict[str, Any]] = [{}, {"sample_weight": weights}]
        called = [metric(*inputs, **extra) for metric, extra in zip(kinds, keywords)]
        updates = [metric.update_state(*inputs, **extra) for metric, extra in zip(kinds, keywords)]
        reset = [metric.result() for metric in kinds]
        session.run([variable.initializer for metric in kinds for variable in metric.weights])
        feeds = [{**dict(zip(inputs, arrays, strict=True)), weights: _weights(i)} for i, arrays in enumerate(batches)]
        seen = [session.run(called, feed) for feed in feeds]
        for metric in kinds:
            metric.reset_states()
        session.run(updates, feeds[0])
        seen.append(session.run(reset))
        tf.keras.backend.set_session(None)
        return [[np.asarray(value, np.float64).tolist() for value in values] for values in zip(*seen)]


def _weights(i: int) -> np.ndarray:
    return drawn(70 + i, BATCH, low=0.0)


def main() -> None:
    import tensorflow.compat.v1 as tf  # type: ignore[import-not-found]

    tf.disable_v2_behavior()
    lines = [f"{json.dumps(key(case))}: {json.dumps(results(tf, case))}" for case in CASES]
    RECORDING.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
