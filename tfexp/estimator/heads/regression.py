"""Heads for numbers: `RegressionHead`, `PoissonRegressionHead`, `LogisticRegressionHead`. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.export_outputs import ExportOutput, PredictOutput, RegressionOutput
from tfexp.estimator.heads.head import Losses, Metrics, SingleHead
from tfexp.estimator.heads.labels import dense_labels, in_range
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.metrics.means import mean
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_non_negative
from tfexp.ops.elementwise_binary import squared_difference
from tfexp.ops.elementwise_unary import exp, sigmoid
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_cross_entropy import log_poisson_loss, sigmoid_cross_entropy_with_logits
from tfexp.train import saved_model_names as names


class RegressionHead(SingleHead):
    """`label_dimension` numbers for each example; the loss is the squared difference.

    `inverse_link_fn(logits)` makes the numbers of the logits, by default they are the same. Labels are
    `[batch, label_dimension]`; `[batch]` will do for one.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._label_dimension = label_dimension
        self._inverse_link = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        return self._label_dimension

    def _checked_labels(self, labels: Any, logits: Tensor) -> Any:
        return cast(dense_labels(labels, logits, self._label_dimension), dtypes.float32)

    def _loss_of_rows(self, labels: Any, logits: Tensor) -> Tensor:
        return squared_difference(logits, labels)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        if self._inverse_link is None:
            return {"predictions": logits}
        return {"predictions": self._inverse_link(logits), "logits": logits}

    def _own_metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> Metrics:
        return {
            "prediction/mean": mean(predictions["predictions"], losses.weights),
            "label/mean": mean(losses.labels, losses.weights),
        }

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        regression = RegressionOutput(predictions["predictions"])
        return {
            names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: regression,
            "regression": regression,
            "predict": PredictOutput(predictions),
        }


class PoissonRegressionHead(RegressionHead):
    """Counts with a Poisson distribution whose mean is the exponential of the logits; the loss is their log likelihood's
    negative, with `compute_full_loss` including Stirling's term. Labels are not negative."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ):
        super().__init__(label_dimension, weight_column, loss_reduction, inverse_link_fn=exp, name=name)
        self._compute_full_loss = compute_full_loss

    def _checked_labels(self, labels: Any, logits: Tensor) -> Any:
        labels = super()._checked_labels(labels, logits)
        return with_dependencies([assert_non_negative(labels, message="Labels must be >= 0")], labels)

    def _loss_of_rows(self, labels: Any, logits: Tensor) -> Tensor:
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=self._compute_full_loss)


class LogisticRegressionHead(RegressionHead):
    """A number between 0 and 1, the sigmoid of one logit; the loss is the sigmoid cross entropy with the label."""

    def __init__(
        self, weight_column: Any = None, loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE, name: str | None = None
    ):
        super().__init__(1, weight_column, loss_reduction, inverse_link_fn=sigmoid, name=name)

    def _checked_labels(self, labels: Any, logits: Tensor) -> Any:
        message = "Labels must be in range [0, 1]"
        return in_range(super()._checked_labels(labels, logits), 1, message, message)

    def _loss_of_rows(self, labels: Any, logits: Tensor) -> Tensor:
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
