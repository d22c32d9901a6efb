"""Heads for numbers, counts and classes. Source: `tf.contrib.learn`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.contributed.learn.constants import PredictionKey, ProblemType
from tfexp.contributed.learn.heads import losses
from tfexp.contributed.learn.heads.head import Head, Predictions, SingleHead
from tfexp.contributed.learn.heads.metrics import Metric, MetricKey, area, at_threshold, mean_of, share_of
from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.metrics.means import accuracy
from tfexp.ops.argmax import argmax
from tfexp.ops.array import expand_dims, shape, squeeze
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater
from tfexp.ops.elementwise_unary import exp, sigmoid
from tfexp.ops.lookup_vocabulary import index_table_from_tensor, index_to_string_table_from_tensor
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.sparse_values import sparse_to_indicator
from tfexp.ops.strings import as_string


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> Head:
    """For `label_dimension` numbers, by squared errors. link_fn: from logits to `scores`."""
    link, loss = identity if link_fn is None else link_fn, losses.mean_squared_loss
    return _RegressionHead(link, label_dimension, loss, label_name, weight_column_name, enable_centered_bias, head_name)


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """For `label_dimension` counts, whose expected values are `scores`, the exponentials of the logits."""
    loss = losses.poisson_loss
    return _RegressionHead(exp, label_dimension, loss, label_name, weight_column_name, enable_centered_bias, head_name)


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """For one of `n_classes`, by a softmax; for one of two by a sigmoid of one logit.

    label_keys: the classes' words, which are then labels and predictions. metric_class_ids: the classes that have metrics of
    their own. Neither of them for two classes, which have metrics at `thresholds` (0.5). loss_fn: from labels, logits and
    weights to a number. ValueError for what is not so.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if n_classes > 2:
        loss = losses.custom_loss(loss_fn, losses.softmax_loss)
        settings = label_name, weight_column_name, enable_centered_bias, head_name
        return _MultiClassHead(_class_ids(metric_class_ids, n_classes), label_keys, n_classes, loss, *settings)
    loss = losses.custom_loss(loss_fn, losses.logistic_loss)
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    return _BinaryHead(thresholds, 1, loss, label_name, weight_column_name, enable_centered_bias, head_name)


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """For one of two classes, by the hinge loss. thresholds: not used, as in 1.15."""
    return _SvmHead(1, losses.hinge_loss, label_name, weight_column_name, enable_centered_bias, head_name)


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """For any of `n_classes`, each by a sigmoid; labels are 0 or 1, [batch, n_classes], or a SparseTensor of the numbers of
    classes. thresholds: not used, as in 1.15. The rest as `multi_class_head`."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    loss = losses.custom_loss(loss_fn, losses.sigmoid_loss)
    settings = label_name, weight_column_name, enable_centered_bias, head_name
    return _MultiLabelHead(_class_ids(metric_class_ids, n_classes), n_classes, loss, *settings)


def _class_ids(given: Sequence[int] | None, count: int) -> tuple[int, ...]:
    for class_id in given or ():
        if not 0 <= class_id < count:
            raise ValueError(f"Class ID {class_id} not in [0, {count}).")
    return tuple(given or ())


def _two_logits(logits: Tensor) -> Tensor:
    return concat([zeros_like(logits), logits], 1)


def _with_words(predictions: Predictions, words: Sequence[str] | None) -> Predictions:
    """What is exported of classes: the words of all of them, or their numbers as strings, for each example."""
    probabilities = predictions[PredictionKey.PROBABILITIES]
    with name_scope(None, "_classification_output_alternatives", [probabilities]):
        sizes: Any = shape(probabilities)
        if words is None:
            ids = tile(expand_dims(range_(sizes[1]), 0), [sizes[0], 1])
            classes = as_string(ids, name="classes_tensor")
        else:
            classes = tile(expand_dims(constant(list(words)), 0), [sizes[0], 1], name="classes_tensor")
    return {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}


class _RegressionHead(SingleHead):
    kind, problem_type = "regression_head", ProblemType.LINEAR_REGRESSION

    def __init__(self, link_fn: Callable[[Any], Any], *settings: Any):
        super().__init__(*settings)
        self._link_fn = link_fn

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        if self.logits_dimension == 1:
            logits = squeeze(logits, axis=[1], name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}

    def _metrics(self, predictions: Predictions, labels: Any, ids: Any, weights: Any) -> dict[str, Metric]:
        return {}


class _SvmHead(SingleHead):
    kind, problem_type = "binary_svm_head", ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        classes = argmax(_two_logits(logits), 1, name=PredictionKey.CLASSES)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes}

    def _metrics(self, predictions: Predictions, labels: Any, ids: Any, weights: Any) -> dict[str, Metric]:
        return {MetricKey.ACCURACY: accuracy(labels, predictions[PredictionKey.CLASSES], weights)}


class _BinaryHead(_SvmHead):
    kind = "binary_logistic_head"

    def __init__(self, thresholds: Sequence[float] | None, *settings: Any):
        super().__init__(*settings)
        self._thresholds = tuple(thresholds or (0.5,))

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        return {
            PredictionKey.LOGISTIC: sigmoid(logits, name=PredictionKey.LOGISTIC),
            PredictionKey.PROBABILITIES: softmax(_two_logits(logits), name=PredictionKey.PROBABILITIES),
            **super()._predictions(logits),
        }

    def _metrics(self, predictions: Predictions, labels: Any, ids: Any, weights: Any) -> dict[str, Metric]:
        logistic = predictions[PredictionKey.LOGISTIC]
        found = {
            **super()._metrics(predictions, labels, ids, weights),
            MetricKey.PREDICTION_MEAN: mean_of(logistic, weights),
            MetricKey.LABEL_MEAN: mean_of(labels, weights),
            MetricKey.ACCURACY_BASELINE: mean_of(labels, weights),
            MetricKey.AUC: area(labels, logistic, weights),
            MetricKey.AUC_PR: area(labels, logistic, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            found |= at_threshold(labels, logistic, weights, threshold)
        return found

    def _exported(self, predictions: Predictions) -> Predictions:
        return _with_words(predictions, None)


class _MultiClassHead(SingleHead):
    kind, problem_type = "multi_class_head", ProblemType.CLASSIFICATION

    def __init__(self, metric_class_ids: Sequence[int], label_keys: Sequence[str] | None, *settings: Any):
        super().__init__(*settings)
        self._metric_class_ids = metric_class_ids
        self._label_keys = list(label_keys) if label_keys else None
        if self._label_keys and len(self._label_keys) != self.logits_dimension:
            raise ValueError("Length of label_keys must equal n_classes.")

    def _ids(self, labels: Any) -> Any:
        if self._label_keys is None:
            return labels
        return index_table_from_tensor(self._label_keys, name="label_id_lookup").lookup(labels)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        classes: Any = argmax(logits, 1, name=PredictionKey.CLASSES)
        if self._label_keys is not None:
            classes = index_to_string_table_from_tensor(self._label_keys, name="class_string_lookup").lookup(classes)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: softmax(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: classes,
        }

    def _metrics(self, predictions: Predictions, labels: Any, ids: Any, weights: Any) -> dict[str, Metric]:
        classes = predictions[PredictionKey.CLASSES]
        found = {MetricKey.ACCURACY: accuracy(labels, classes, weights)}
        if self._label_keys is not None:
            return found
        for one in self._metric_class_ids:
            found |= {
                MetricKey.CLASS_PREDICTION_MEAN % one: share_of(classes, weights, one),
                MetricKey.CLASS_LABEL_MEAN % one: share_of(ids, weights, one),
                **_means_of_class(predictions, weights, one),
            }
        return found

    def _exported(self, predictions: Predictions) -> Predictions:
        return _with_words(predictions, self._label_keys)


def _means_of_class(predictions: Predictions, weights: Any, class_id: int) -> dict[str, Metric]:
    return {
        MetricKey.CLASS_PROBABILITY_MEAN % class_id: mean_of(predictions[PredictionKey.PROBABILITIES], weights, class_id),
        MetricKey.CLASS_LOGITS_MEAN % class_id: mean_of(predictions[PredictionKey.LOGITS], weights, class_id),
    }


class _MultiLabelHead(SingleHead):
    kind, problem_type = "multi_label_head", ProblemType.CLASSIFICATION

    def __init__(self, metric_class_ids: Sequence[int], *settings: Any):
        super().__init__(*settings)
        self._metric_class_ids = metric_class_ids

    def _checked_labels(self, labels: Any) -> Any:
        if isinstance(labels, SparseTensor):
            return cast(sparse_to_indicator(labels, self.logits_dimension), dtypes.int64)
        return labels

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: sigmoid(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: cast(greater(logits, 0), dtypes.int64, name=PredictionKey.CLASSES),
        }

    def _metrics(self, predictions: Predictions, labels: Any, ids: Any, weights: Any) -> dict[str, Metric]:
        classes, probabilities = predictions[PredictionKey.CLASSES], predictions[PredictionKey.PROBABILITIES]
        found = {
            MetricKey.ACCURACY: accuracy(labels, classes, weights),
            MetricKey.AUC: area(labels, probabilities, weights),
            MetricKey.AUC_PR: area(labels, probabilities, weights, curve="PR"),
        }
        for one in self._metric_class_ids:
            found |= {
                MetricKey.CLASS_PREDICTION_MEAN % one: mean_of(classes, weights, one),
                MetricKey.CLASS_LABEL_MEAN % one: mean_of(labels, weights, one),
                **_means_of_class(predictions, weights, one),
                MetricKey.CLASS_AUC % one: area(labels, probabilities, weights, one),
                MetricKey.CLASS_AUC_PR % one: area(labels, probabilities, weights, one, curve="PR"),
            }
        return found

    def _exported(self, predictions: Predictions) -> Predictions:
        return _with_words(predictions, None)
