"""Names that TensorFlow's estimators have in common, and the heads of its canned ones. Source: tensorflow_estimator 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.contributed.older_heads import LossSpec as LossSpec
from tfexp.contributed.older_heads import (
    OlderBinaryClassHead,
    OlderHead,
    OlderMultiClassHead,
    OlderRegressionHead,
)
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.heads.classification import BinaryClassHead, MultiClassHead
from tfexp.estimator.heads.head import SingleHead
from tfexp.ops.losses import Reduction
from tfexp.train.optimizer import Optimizer

LOSS, AVERAGE_LOSS = "loss", "average_loss"
SINGLE_FEATURE, SINGLE_LABEL, SINGLE_RECEIVER = "feature", "label", "input"


class MetricKeys:
    """The keys of what `evaluate` gives."""

    LOSS = LOSS
    LOSS_MEAN = AVERAGE_LOSS
    LOSS_REGULARIZATION = "regularization_loss"
    ACCURACY = "accuracy"
    PRECISION = "precision"
    RECALL = "recall"
    ACCURACY_BASELINE = "accuracy_baseline"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    LABEL_MEAN = "label/mean"
    PREDICTION_MEAN = "prediction/mean"
    ACCURACY_AT_THRESHOLD = "accuracy/positive_threshold_%g"
    PRECISION_AT_THRESHOLD = "precision/positive_threshold_%g"
    RECALL_AT_THRESHOLD = "recall/positive_threshold_%g"
    PROBABILITY_MEAN_AT_CLASS = "probability_mean/class%d"
    AUC_AT_CLASS = "auc/class%d"
    AUC_PR_AT_CLASS = "auc_precision_recall/class%d"
    PROBABILITY_MEAN_AT_NAME = "probability_mean/%s"
    AUC_AT_NAME = "auc/%s"
    AUC_PR_AT_NAME = "auc_precision_recall/%s"


class PredictionKeys:
    """The keys of what `predict` gives."""

    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"
    TOP_K = "top_k"


class TaskType:
    """What the tasks of a cluster are called."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Optimizer:
    """An optimizer, what a function gives, or one by name. ValueError for others, and a name without a rate."""
    if isinstance(opt, str) and learning_rate is None:
        raise ValueError(f"learning_rate must be specified when opt is a string. Given: {opt}")
    return optimizer_of(opt, learning_rate or 0.0)


def _multi_class_head_with_softmax_cross_entropy_loss(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> OlderHead:
    return OlderMultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> OlderHead:
    return OlderBinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def _regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> OlderHead:
    return OlderRegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def _binary_logistic_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> OlderHead:
    if n_classes == 2:
        return _binary_logistic_head_with_sigmoid_cross_entropy_loss(weight_column, None, label_vocabulary, loss_reduction)
    return _multi_class_head_with_softmax_cross_entropy_loss(n_classes, weight_column, label_vocabulary, loss_reduction)


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> SingleHead:
    """A head of TensorFlow 2's kind: for two classes, or for more."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
