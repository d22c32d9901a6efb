"""`MultiLabelHead`: any number of classes at once. Source: `tf.estimator`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.export_outputs import ClassificationOutput, ExportOutput, PredictOutput
from tfexp.estimator.heads.head import Losses, Metrics, SingleHead
from tfexp.estimator.heads.labels import Classes, multi_hot
from tfexp.estimator.heads.thresholds import areas, checked_thresholds, threshold_metrics
from tfexp.graph.tensor import Tensor
from tfexp.metrics.means import mean
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import sigmoid
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_cross_entropy import sigmoid_cross_entropy_with_logits
from tfexp.ops.reduce import reduce_mean
from tfexp.train import saved_model_names as names


class MultiLabelHead(SingleHead):
    """`n_classes` logits; the sigmoid of each is the probability that an example is of that class.

    Labels are `[batch, n_classes]` of 0 and 1, or a SparseTensor with the numbers, or words of `label_vocabulary`, of each
    example's classes. `classes_for_class_based_metrics` (numbers or words) get metrics of their own.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[int | str] | None = None,
        name: str | None = None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        self._classes = Classes(n_classes, label_vocabulary)
        self._thresholds = checked_thresholds(thresholds)
        self._watched = [self._watched_class(one) for one in classes_for_class_based_metrics or ()]

    def _watched_class(self, given: int | str) -> tuple[int, str]:
        """(number, what its metrics are called)."""
        vocabulary = self._classes.vocabulary
        if isinstance(given, str):
            if vocabulary is None:
                raise ValueError("label_vocabulary must be provided when classes_for_class_based_metrics are sting.")
            if given not in vocabulary:
                raise ValueError(f"{given!r} of classes_for_class_based_metrics is not in label_vocabulary: {vocabulary}")
            return vocabulary.index(given), f"class:{given}"
        if not 0 <= given < self._classes.count:
            largest = self._classes.count - 1
            raise ValueError(f"All classes_for_class_based_metrics must be in range [0, {largest}]. Given: {given}")
        return given, f"class{given}" if vocabulary is None else f"class:{vocabulary[given]}"

    @property
    def logits_dimension(self) -> int:
        return self._classes.count

    def _checked_labels(self, labels: Any, logits: Tensor) -> Any:
        return multi_hot(labels, logits, self._classes)

    def _loss_of_rows(self, labels: Any, logits: Tensor) -> Tensor:
        rows = sigmoid_cross_entropy_with_logits(labels=cast(labels, dtypes.float32), logits=logits)
        return reduce_mean(rows, axis=-1, keepdims=True)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        return {
            "logits": logits,
            "probabilities": sigmoid(logits, name="probabilities"),
            "classes": self._classes.all_words(logits),
        }

    def _own_metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> Metrics:
        labels, weights, probabilities = losses.labels, losses.weights, predictions["probabilities"]
        metrics: Metrics = {
            **areas(labels, probabilities, weights, self.is_older),
            **threshold_metrics(labels, probabilities, weights, self._thresholds),
        }
        for number, name in self._watched:
            own_labels, own = labels[:, number : number + 1], probabilities[:, number : number + 1]
            metrics[f"probability_mean/{name}"] = mean(own, weights)
            metrics |= {f"{key}/{name}": pair for key, pair in areas(own_labels, own, weights, self.is_older).items()}
        return metrics

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        classification = ClassificationOutput(predictions["probabilities"], self._classes.all_words(predictions["logits"]))
        return {
            names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: classification,
            "classification": classification,
            "predict": PredictOutput(predictions),
        }
