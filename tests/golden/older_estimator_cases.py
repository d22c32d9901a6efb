"""Trainings of the estimators that later TensorFlows changed or dropped, recorded from TensorFlow 1.15 itself.

Each case takes the `tf` module to use and a folder, so that the recorder and the tests run the same programs. K-means runs
on whole batches: with small ones, what a training comes to differs from run to run in TensorFlow. Dual ascent runs until it
has converged: TensorFlow takes examples in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RECORDING = Path(__file__).parent / "estimators" / "older_estimators.json"
SEED = 5

_random = np.random.RandomState(3)
POINTS = _random.rand(30, 3).astype(np.float32) * 10


def _input(tf: Any, features: Any, labels: Any, epochs: int | None, batch: int) -> Any:
    return tf.estimator.inputs.numpy_input_fn(features, labels, batch, num_epochs=epochs, shuffle=False)


def _config(tf: Any, folder: str) -> Any:
    return tf.estimator.RunConfig(model_dir=folder, tf_random_seed=SEED)


def _kmeans(**settings: Any) -> Callable[[Any, str], dict[str, Any]]:
    def run(tf: Any, folder: str) -> dict[str, Any]:
        model = tf.estimator.experimental.KMeans(use_mini_batch=False, config=_config(tf, folder), **settings)

        def input_fn(epochs: int | None) -> Any:
            return _input(tf, POINTS, None, epochs, len(POINTS))

        model.train(input_fn(None), steps=3)
        return {
            "centers": model.cluster_centers().tolist(),
            "score": float(model.score(input_fn(1))),
            "nearest": [int(one) for one in model.predict_cluster_index(input_fn(1))],
            "distances": next(model.transform(input_fn(1))).tolist(),
        }

    return run


ROWS = 40
FEATURES = {
    "x": _random.randn(ROWS, 2).astype(np.float32),
    "c": np.array(list("abcd"))[_random.randint(0, 4, ROWS)],
    "w": (1 + np.arange(ROWS) % 3).astype(np.float32),
    "id": np.array([str(i) for i in range(ROWS)]),
}
NUMBERS = (FEATURES["x"] @ [1.0, -0.5] + 1.5 * (FEATURES["c"] == "a") + 0.3 * _random.randn(ROWS)).astype(np.float32)
CLASSES = (NUMBERS > 0).astype(np.int64)


def _ascent(kind: str, labels: np.ndarray, l1: float, **settings: Any) -> Callable[[Any, str], dict[str, Any]]:
    def run(tf: Any, folder: str) -> dict[str, Any]:
        of = tf.feature_column
        columns = [
            of.numeric_column("x", shape=2),
            of.categorical_column_with_vocabulary_list("c", ["a", "b", "c"]),
            of.bucketized_column(of.numeric_column("w"), [1.5, 2.5]),
        ]
        optimizer = tf.estimator.experimental.LinearSDCA(
            "id", symmetric_l1_regularization=l1, symmetric_l2_regularization=20.0
        )
        model = getattr(tf.estimator, kind)(columns, optimizer=optimizer, config=_config(tf, folder), **settings)
        model.train(_input(tf, FEATURES, labels, None, ROWS), steps=25)
        metrics = model.evaluate(_input(tf, FEATURES, labels, 1, ROWS))
        names = [name for name in model.get_variable_names() if "Hash" not in name]
        return {
            "names": sorted(model.get_variable_names()),
            **{name: np.asarray(model.get_variable_value(name)).tolist() for name in names},
            "average_loss": float(metrics["average_loss"]),
        }

    return run


def _trees(kind: str, labels: np.ndarray, batches: int = 1, **settings: Any) -> Callable[[Any, str], dict[str, Any]]:
    """`batches` make a layer. Values are few: TensorFlow 1.15 writes outside of its arrays where there are as many values as
    buckets."""

    def run(tf: Any, folder: str) -> dict[str, Any]:
        of = tf.feature_column
        columns = [
            of.numeric_column("x", shape=2),
            of.indicator_column(of.categorical_column_with_vocabulary_list("c", ["a", "b", "c"])),
            of.bucketized_column(of.numeric_column("w"), [1.5, 2.5]),
        ]
        features = {**FEATURES, "x": np.round(FEATURES["x"])}
        model = getattr(tf.estimator, kind)(columns, batches, n_trees=3, max_depth=3, config=_config(tf, folder), **settings)

        def data() -> Any:
            return tf.data.Dataset.from_tensor_slices((features, labels)).batch(ROWS // batches, drop_remainder=True)

        model.train(lambda: data().repeat())
        metrics = model.evaluate(data)
        importances = model.experimental_feature_importances(normalize=True)
        found = {
            "names": sorted(name for name in model.get_variable_names() if "cached" not in name),
            "predictions": [
                [float(n) for key in sorted(p) for n in np.ravel(p[key]) if p[key].dtype == np.float32]
                for p in model.predict(data)
            ],
            "loss": float(metrics["loss"]),
            "importances": [importances[name] for name in sorted(importances)],
        }
        if settings.get("center_bias"):
            explained = list(model.experimental_predict_with_explanations(data))
            found["bias"] = [float(one["bias"]) for one in explained]
            found["contributions"] = [[float(one["dfc"][name]) for name in sorted(one["dfc"])] for one in explained]
        return found

    return run


CASES: dict[str, Callable[[Any, str], dict[str, Any]]] = {
    "k-means, random": _kmeans(num_clusters=4),
    "k-means, cosines, careful seeds": _kmeans(
        num_clusters=3, seed=2, distance_metric="cosine", initial_clusters="kmeans_plus_plus"
    ),
    "k-means, given centers, until it is stable": _kmeans(
        num_clusters=2, initial_clusters=POINTS[:2], relative_tolerance=0.5
    ),
    "dual ascent, two classes, weighted": _ascent("LinearClassifier", CLASSES, l1=0.0, weight_column="w"),
    "dual ascent, numbers, with l1": _ascent("LinearRegressor", NUMBERS, l1=4.0),
    "trees in memory, two classes": _trees("BoostedTreesClassifier", CLASSES, train_in_memory=True),
    "trees by batches, weighted, with l1 and l2": _trees(
        *("BoostedTreesClassifier", CLASSES, 2),
        weight_column="w",
        l1_regularization=0.001,
        l2_regularization=0.01,
        min_node_weight=0.02,
    ),
    "centered trees in memory": _trees("BoostedTreesRegressor", NUMBERS, center_bias=True, train_in_memory=True),
    "trees that are pruned as they grow": _trees(
        "BoostedTreesRegressor", NUMBERS, pruning_mode="pre", tree_complexity=0.05, train_in_memory=True
    ),
    "trees that are pruned when they have grown": _trees(
        "BoostedTreesRegressor", NUMBERS, pruning_mode="post", tree_complexity=0.05, train_in_memory=True
    ),
}
