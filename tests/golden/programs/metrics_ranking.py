"""`tf.metrics` of the k classes that are predicted first."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values

SOURCE = "issue 4.1, metrics at k"
LABELS = np.int64([[2, 4], [1, 1], [0, 9], [-1, 3], [2, 3]])


def _streamed(tf: Any, results: list[tuple[Any, Any]], feeds: dict[Any, Any]) -> Outcome:
    found = [value for value, _ in results]
    updates = [update for _, update in results]
    steps = Run(tf.local_variables_initializer()), Run(updates, feeds), Run(updates, feeds), Run(found, feeds)
    return runs(*steps, variables=[v.name for v in tf.local_variables()])


@program(SOURCE)
def plain(tf: Any) -> Outcome:
    labels = tf.placeholder(tf.int64, [5, 2], name="labels")
    scores = tf.placeholder(tf.float32, [5, 7], name="scores")
    kinds = tf.metrics.precision_at_k, tf.metrics.recall_at_k, tf.metrics.average_precision_at_k
    made = [kind(labels, scores, k) for kind in kinds for k in (1, 3)]
    return _streamed(tf, made, {labels: LABELS, scores: values("scores", 5, 7)})


@program(SOURCE)
def weighted(tf: Any) -> Outcome:
    labels = tf.placeholder(tf.int64, [None, 2], name="labels")
    scores = tf.placeholder(tf.float32, [None, 7], name="scores")
    weights = tf.placeholder(tf.float32, [None], name="weights")
    kinds = tf.metrics.precision_at_k, tf.metrics.recall_at_k, tf.metrics.sparse_average_precision_at_k
    made = [kind(labels, scores, 2, weights=weights) for kind in kinds]
    feeds = {labels: LABELS, scores: values("scores", 5, 7), weights: values("w", 5, low=0.5, high=2.0)}
    return _streamed(tf, made, feeds)


@program(SOURCE)
def of_one_class(tf: Any) -> Outcome:
    labels = tf.placeholder(tf.int64, [5], name="labels")
    scores = tf.placeholder(tf.float32, [5, 7], name="scores")
    top = tf.placeholder(tf.int64, [5, 3], name="top")
    made = [
        tf.metrics.sparse_precision_at_k(labels, scores, 3, class_id=2, name="own"),
        tf.metrics.recall_at_top_k(labels, top, class_id=1),
        tf.metrics.precision_at_top_k(labels, top, 3, metrics_collections=["values"]),
    ]
    feeds = {labels: LABELS[:, 0], scores: values("scores", 5, 7), top: np.int64([[2, 1, 0], [3, 1, 4], *[[0, 2, 6]] * 3])}
    return _streamed(tf, made, feeds)


@program(SOURCE)
def sparse_labels(tf: Any) -> Outcome:
    where = np.int64([[0, 0], [0, 2], [1, 0], [2, 1], [4, 0], [4, 1]])
    labels = tf.SparseTensor(where, np.int64([2, 4, 1, 9, 3, 0]), [5, 3])
    scores = tf.placeholder(tf.float32, [5, 7], name="scores")
    made = [
        tf.metrics.precision_at_k(labels, scores, 2, class_id=3),
        tf.metrics.recall_at_k(labels, scores, 2),
        tf.metrics.average_precision_at_k(labels, scores, 2),
        tf.metrics.average_precision_at_k(labels, scores, 1),
    ]
    return _streamed(tf, made, {scores: values("scores", 5, 7)})
