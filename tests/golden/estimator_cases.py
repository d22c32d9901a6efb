"""Canned estimators, heads and what becomes of them, recorded from TensorFlow 2.15, the last that has estimators.

`outcome` takes the `tf` module to use, so that the recorder and the tests run the same programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

RECORDING = Path(__file__).parent / "estimators" / "estimators.json"
STEPS = 2
ROWS, BATCH = 11, 5

_random = np.random.RandomState(3)
FEATURES = {
    "a": _random.randn(ROWS).astype(np.float32),
    "b": _random.randn(ROWS, 2).astype(np.float32),
    "c": np.array(list("xyzxyzxyzxw")),
    "weight": np.arange(1, ROWS + 1, dtype=np.float32),
}
BINARY = (_random.rand(ROWS) > 0.5).astype(np.int64)
WORDS = np.array(["p", "q", "r"])[_random.randint(0, 3, ROWS)]
MANY = (_random.rand(ROWS, 3) > 0.5).astype(np.int64)
COUNTS = _random.randint(0, 5, ROWS).astype(np.float32)
PAIRS = _random.randn(ROWS, 2).astype(np.float32)


def _categories(tf: Any) -> Any:
    return tf.feature_column.categorical_column_with_vocabulary_list("c", ["x", "y", "z"])


def _wide(tf: Any) -> list[Any]:
    return [tf.feature_column.numeric_column("a"), _categories(tf)]


def _deep(tf: Any) -> list[Any]:
    columns = tf.feature_column
    return [columns.numeric_column("b", shape=2), columns.embedding_column(_categories(tf), 2)]


@dataclass(frozen=True)
class Case:
    """`make(tf, config)` is an estimator; `labels` are what it is trained on. Some are exported too."""

    make: Callable[[Any, Any], Any]
    labels: Any
    is_exported: bool = True


def _with_head(make_head: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Of the linear part of the combined model: TensorFlow 2.15's others take optimizers of Keras with such heads."""
    return lambda tf, config: tf.estimator.DNNLinearCombinedEstimator(
        make_head(tf.estimator), linear_feature_columns=_wide(tf), config=config
    )


CASES = {
    "linear binary, weighted": Case(
        lambda tf, config: tf.estimator.LinearClassifier(_wide(tf), weight_column="weight", config=config),
        BINARY,
        is_exported=False,
    ),
    "linear regression of two, mean loss": Case(
        lambda tf, config: tf.estimator.LinearRegressor(
            _wide(tf), label_dimension=2, loss_reduction="weighted_mean", optimizer="SGD", config=config
        ),
        PAIRS,
        is_exported=False,
    ),
    "deep, words, normalized": Case(
        lambda tf, config: tf.estimator.DNNClassifier(
            [4, 3],
            _deep(tf),
            n_classes=3,
            label_vocabulary=["p", "q", "r"],
            batch_norm=True,
            optimizer="Adam",
            config=config,
        ),
        WORDS,
    ),
    "wide and deep": Case(
        lambda tf, config: tf.estimator.DNNLinearCombinedClassifier(
            linear_feature_columns=_wide(tf), dnn_feature_columns=_deep(tf), dnn_hidden_units=[4], config=config
        ),
        BINARY,
        is_exported=False,
    ),
    "baseline": Case(lambda tf, config: tf.estimator.BaselineRegressor(config=config), COUNTS),
    "several classes at once": Case(
        _with_head(lambda e: e.MultiLabelHead(3, thresholds=[0.45], classes_for_class_based_metrics=[2])), MANY
    ),
    "several heads": Case(
        _with_head(
            lambda e: e.MultiHead(
                [
                    e.BinaryClassHead(name="first", weight_column="weight", thresholds=[0.3]),
                    e.PoissonRegressionHead(name="second"),
                ],
                head_weights=[1.0, 2.0],
            )
        ),
        {"first": BINARY, "second": COUNTS},
    ),
}


def outcome(tf: Any, case: Case, folder: str) -> dict[str, Any]:
    """Variables after a short training, metrics, predictions of one row, tags of summaries, signatures of an export."""
    config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=5, save_summary_steps=1)
    estimator = case.make(tf, config)

    def input_fn(epochs: int | None) -> Any:
        return tf.estimator.inputs.numpy_input_fn(FEATURES, case.labels, BATCH, num_epochs=epochs, shuffle=False)

    estimator.train(input_fn(None), steps=STEPS)
    values = {name: np.asarray(estimator.get_variable_value(name)).tolist() for name in estimator.get_variable_names()}
    metrics = {name: float(value) for name, value in estimator.evaluate(input_fn(1)).items()}
    predictions = estimator.predict(input_fn(1))
    first = {str(key): _plain(value) for key, value in next(predictions).items()}
    predictions.close()
    return {
        "variables": values,
        "metrics": metrics,
        "prediction": first,
        "tags": _tags(tf, folder),
        "signatures": _signatures(tf, estimator, folder) if case.is_exported else {},
    }


def _plain(value: Any) -> Any:
    listed = np.asarray(value).tolist()
    return [one.decode() if isinstance(one, bytes) else one for one in (listed if isinstance(listed, list) else [listed])]


def _tags(tf: Any, folder: str) -> list[str]:
    events = (event for file in Path(folder).glob("events*") for event in tf.train.summary_iterator(str(file)))
    return sorted({value.tag for event in events for value in event.summary.value})


def _signatures(tf: Any, estimator: Any, folder: str) -> dict[str, Any]:
    spec = tf.feature_column.make_parse_example_spec([*_wide(tf), *_deep(tf)])
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = estimator.export_saved_model(f"{folder}/exported", receiver)
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.load(session, ["serve"], path.decode())
    return {
        name: [
            signature.method_name,
            *({key: info.dtype for key, info in sorted(part.items())} for part in _parts(signature)),
        ]
        for name, signature in sorted(loaded.signature_def.items())
    }


def _parts(signature: Any) -> tuple[Any, Any]:
    return signature.inputs, signature.outputs
