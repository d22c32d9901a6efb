"""Heads of the kind that TF 1.15's canned estimators and `tf.contrib.estimator` have. Their loss is to be had in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tfexp.estimator.heads.classification import BinaryClassHead, MultiClassHead
from tfexp.estimator.heads.head import SingleHead
from tfexp.estimator.heads.multi_label import MultiLabelHead
from tfexp.estimator.heads.regression import LogisticRegressionHead, PoissonRegressionHead, RegressionHead
from tfexp.graph.tensor import Tensor
from tfexp.ops.losses import Reduction


class LossSpec(NamedTuple):
    """What `create_loss` gives."""

    training_loss: Tensor
    unreduced_loss: Tensor
    weights: Any
    processed_labels: Any


class OlderHeadBase:
    """`_Head`, what programs derive heads of their own from for the canned estimators of `tf.contrib` and 1.x."""

    @property
    def name(self) -> str | None:
        """What tells it from other heads of a model."""
        raise NotImplementedError("Calling an abstract method.")

    @property
    def logits_dimension(self) -> int:
        """How many logits an example has."""
        raise NotImplementedError("Calling an abstract method.")

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """The loss in parts, a `LossSpec` where the head is one of TensorFlow's own."""
        raise NotImplementedError("Calling an abstract method.")

    def create_estimator_spec(self, *args: Any, **kwargs: Any) -> Any:
        """What a model function returns, of its features, mode, logits and labels, the optimizer or `train_op_fn`, …"""
        raise NotImplementedError(f"{type(self).__name__} has to define create_estimator_spec")


class OlderHead(SingleHead, OlderHeadBase):
    """A head that shows the mean of a sum of losses, and measures areas by trapezoids."""

    is_older = True

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The reduced loss and what it is made of."""
        losses = self.losses_of(labels, logits, features)
        return LossSpec(losses.total, losses.rows, 1.0 if losses.weights is None else losses.weights, losses.labels)


class OlderBinaryClassHead(BinaryClassHead, OlderHead):
    """`tf.contrib.estimator.binary_classification_head`."""


class OlderMultiClassHead(MultiClassHead, OlderHead):
    """`tf.contrib.estimator.multi_class_head`."""


class OlderMultiLabelHead(MultiLabelHead, OlderHead):
    """`tf.contrib.estimator.multi_label_head`: only what it exports has the names of classes."""

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        return {key: value for key, value in super()._predictions(logits).items() if key != "classes"}


class OlderLogisticRegressionHead(LogisticRegressionHead, OlderHead):
    """`tf.contrib.estimator.logistic_regression_head`."""


class OlderRegressionHead(RegressionHead, OlderHead):
    """For numbers."""


class OlderPoissonRegressionHead(PoissonRegressionHead, OlderHead):
    """For counts."""


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> OlderRegressionHead:
    """`tf.estimator.RegressionHead`, with its arguments in another order."""
    return OlderRegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> OlderPoissonRegressionHead:
    """`tf.estimator.PoissonRegressionHead`, with its arguments in another order."""
    return OlderPoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)
