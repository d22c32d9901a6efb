"""Heads for one class out of two, `BinaryClassHead`, or out of more, `MultiClassHead`. Source: `tf.estimator`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.export_outputs import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from tfexp.estimator.heads.head import Losses, Metrics, SingleHead
from tfexp.estimator.heads.labels import Classes, class_ids, dense_labels
from tfexp.estimator.heads.thresholds import areas, checked_thresholds, threshold_metrics
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.metrics.counts import precision, recall
from tfexp.metrics.means import accuracy, mean
from tfexp.ops.argmax import argmax
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum, sub
from tfexp.ops.elementwise_unary import sigmoid
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_cross_entropy import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from tfexp.ops.nn_softmax import softmax
from tfexp.train import saved_model_names as names


class BinaryClassHead(SingleHead):
    """One logit, whose sigmoid is the probability of class 1; the loss is the sigmoid cross entropy.

    Labels are 0 and 1, or the two words of `label_vocabulary`. For each of `thresholds`, between 0 and 1, there are metrics
    of their own. `loss_fn(labels, logits[, features, loss_reduction])` gives another loss of each example.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds = checked_thresholds(thresholds)
        self._classes = Classes(2, label_vocabulary, as_many=False)

    @property
    def logits_dimension(self) -> int:
        return 1

    def _checked_labels(self, labels: Any, logits: Tensor) -> Any:
        ids = cast(self._classes.ids(dense_labels(labels, logits, 1)), dtypes.float32, name="labels")
        return class_ids(ids, 2, self.is_older)

    def _loss_of_rows(self, labels: Any, logits: Tensor) -> Tensor:
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        logistic = sigmoid(logits, name="logistic")
        two_logits = concat([zeros_like(logits), logits], axis=-1, name="two_class_logits")
        ids = expand_dims(argmax(two_logits, axis=-1, name="class_ids"), axis=-1)
        return {
            "logits": logits,
            "logistic": logistic,
            "probabilities": softmax(two_logits, name="probabilities"),
            "class_ids": ids,
            "classes": self._classes.words(ids),
            "all_class_ids": self._classes.all_ids(logits),
            "all_classes": self._classes.all_words(logits),
        }

    def _own_metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> Metrics:
        labels, ids, logistic = losses.labels, predictions["class_ids"], predictions["logistic"]
        weights = losses.weights
        label_mean = mean(labels, weights)
        return {
            "accuracy": accuracy(labels, ids, weights),
            "precision": precision(labels, ids, weights),
            "recall": recall(labels, ids, weights),
            "prediction/mean": mean(logistic, weights),
            "label/mean": label_mean,
            "accuracy_baseline": (
                maximum(label_mean[0], sub(1.0, label_mean[0])),
                maximum(label_mean[1], sub(1.0, label_mean[1])),
            ),
            **areas(labels, logistic, weights, by_trapezoids=self.is_older),
            **threshold_metrics(labels, logistic, weights, self._thresholds),
        }

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        classification = ClassificationOutput(predictions["probabilities"], predictions["all_classes"])
        return {
            names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification,
            "classification": classification,
            "regression": RegressionOutput(predictions["logistic"]),
            "predict": PredictOutput(predictions),
        }


class MultiClassHead(SingleHead):
    """`n_classes` logits, whose softmax is the classes' probabilities; the loss is the softmax cross entropy.

    Labels are below `n_classes`, or words of `label_vocabulary`. ValueError for fewer than three classes.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}. For two classes there is BinaryClassHead.")
        self._classes = Classes(n_classes, label_vocabulary, as_many=not self.is_older)

    @property
    def logits_dimension(self) -> int:
        return self._classes.count

    def _checked_labels(self, labels: Any, logits: Tensor) -> Any:
        given = dense_labels(labels, logits, 1)
        if self._classes.vocabulary is None and not convert_to_tensor(given).dtype.base_dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {given.dtype.base_dtype}. Labels that are words need "
                "label_vocabulary."
            )
        return class_ids(cast(self._classes.ids(given), dtypes.int64), self._classes.count, self.is_older)

    def _loss_of_rows(self, labels: Any, logits: Tensor) -> Tensor:
        rows = sparse_softmax_cross_entropy_with_logits(labels=squeeze(labels, axis=-1), logits=logits)
        return expand_dims(rows, axis=-1)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        ids = expand_dims(argmax(logits, axis=-1, name="class_ids"), axis=-1)
        return {
            "logits": logits,
            "probabilities": softmax(logits, name="probabilities"),
            "class_ids": ids,
            "classes": self._classes.words(ids),
            "all_class_ids": self._classes.all_ids(logits),
            "all_classes": self._classes.all_words(logits),
        }

    def _own_metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> Metrics:
        return {"accuracy": accuracy(losses.labels, predictions["class_ids"], losses.weights)}

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        classification = ClassificationOutput(predictions["probabilities"], predictions["all_classes"])
        return {
            names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification,
            "classification": classification,
            "predict": PredictOutput(predictions),
        }
