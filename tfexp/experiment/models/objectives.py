"""What the models minimize and report, for labels that are numbers and for labels that are classes."""

from __future__ import annotations

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec

__all__ = ["confusion", "cross_entropy", "mean_squared_error", "of_classes", "of_numbers", "regression_metrics", "share_of"]

_NO_VARIANCE = 1e-12


def mean_squared_error(outputs: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Outputs and labels are float32 [rows, 1]."""
    return tf.reduce_mean(tf.square(outputs - labels), name="squared_error")


def regression_metrics(outputs: tf.Tensor, labels: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
    """mse and rmse in the data's own unit, and r2; outputs and labels are float32 [rows, 1].

    Labels that are all equal, as of one row, leave nothing to explain: r2 is then 1 for outputs that are right and 0 for
    others, as scikit-learn's `r2_score` has it for several rows.
    """
    error = tf.reduce_mean(tf.square(outputs - labels))
    variance = tf.reduce_mean(tf.square(labels - tf.reduce_mean(labels)))
    mse = tf.multiply(error, spec.label_scale**2, name="mse")
    explained = 1.0 - error / tf.maximum(variance, _NO_VARIANCE)
    r2 = tf.where(variance > _NO_VARIANCE, explained, tf.cast(error <= _NO_VARIANCE, tf.float32), name="r2")
    return {"mse": mse, "rmse": tf.sqrt(mse, name="rmse"), "r2": r2}


def cross_entropy(scores: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Scores (logits) are float32 [rows, classes], labels int64 [rows]."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
    return tf.reduce_mean(losses, name="cross_entropy")


def of_numbers(outputs: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
    """The predictions in the data's own unit, float32 [rows, 1]."""
    return {"predictions": tf.add(outputs * spec.label_scale, spec.label_shift, name="predictions")}


def of_classes(scores: tf.Tensor, spec: Spec) -> dict[str, tf.Tensor]:
    """The class of each row, int64 [rows, 1], what it is called, if it is, and how probable each class is; scores are
    float32 [rows, classes].
    """
    ids = tf.expand_dims(tf.argmax(scores, 1), 1, name="class_ids")
    named = {"classes": tf.gather(tf.constant(spec.class_names), ids, name="classes")} if spec.class_names else {}
    return {"class_ids": ids, **named, "probabilities": tf.nn.softmax(scores, name="probabilities")}


def confusion(chosen: tf.Tensor, labels: tf.Tensor, classes: int) -> tf.Tensor:
    """How many rows of each class were taken for each, int64 [classes, classes]; `chosen` and `labels` are int64 [rows]."""
    pairs = labels * classes + chosen
    counts = tf.unsorted_segment_sum(tf.ones_like(pairs), pairs, classes * classes)
    return tf.reshape(counts, [classes, classes], name="counts")


def share_of(right: tf.Tensor) -> tf.Tensor:
    """The accuracy: which part of the bool vector `right` is true."""
    return tf.reduce_mean(tf.cast(right, tf.float32), name="accuracy")
