"""Weights for losses, and how the losses of a batch become one. Source: `tf.keras.losses.Reduction`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import fitted
from tfexp.ops.array import rank, shape, size
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.losses import without_last_ones
from tfexp.ops.reduce import reduce_sum


class Reduction:
    """How element-wise losses become one. AUTO is SUM_OVER_BATCH_SIZE, but for replicas of a strategy."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError when `key` is no reduction."""
        if key not in cls.all():
            raise ValueError(f'Invalid Reduction Key {key}. Expected keys are "{cls.all()}"')


def of_one_rank(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Both as tensors; a last dimension of 1 that one has and the other has not is gone."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    true_rank, pred_rank = y_true.shape.ndims, y_pred.shape.ndims
    if true_rank is None or pred_rank is None:
        return _of_one_rank_in_each_step(y_true, y_pred)
    if pred_rank - true_rank == 1 and y_pred.shape.as_list()[-1] != 1:
        return y_true, y_pred  # numbers of classes, and predictions for each class
    return without_last_ones(y_true, y_pred)


def _of_one_rank_in_each_step(y_true: Tensor, y_pred: Tensor) -> tuple[Any, Any]:
    difference = rank(y_pred) - rank(y_true)  # type: ignore[operator]
    of_one_class = equal(1, shape(y_pred)[-1])  # type: ignore[index]

    def squeezed() -> Any:
        return without_last_ones(y_true, y_pred)

    def of_classes() -> Any:
        return cond(of_one_class, squeezed, lambda: (y_true, y_pred))

    labels, predictions = cond(equal(1, difference), of_classes, squeezed)
    return labels, predictions


def reduce_weighted_loss(weighted_losses: Tensor, reduction: str = Reduction.SUM_OVER_BATCH_SIZE) -> Any:
    """The losses themselves, their sum, or their sum over their number."""
    if reduction == Reduction.NONE:
        return weighted_losses
    total = reduce_sum(weighted_losses)
    if reduction == Reduction.SUM:
        return total
    with name_scope("num_elements") as scope:
        count = cast(size(weighted_losses, name=scope), total.dtype)
    return div_no_nan(total, count, name="value")


def compute_weighted_loss(
    losses: Any, sample_weight: Any = None, reduction: str = Reduction.SUM_OVER_BATCH_SIZE, name: str | None = None
) -> Any:
    """Losses times weights (scalar, of each example, or of each element), reduced."""
    Reduction.validate(reduction)
    reduction = Reduction.SUM_OVER_BATCH_SIZE if reduction == Reduction.AUTO else reduction
    with name_scope(name or "weighted_loss"):
        # Optimizers of `tf.train` look for this when replicas' losses are added up.
        get_default_graph()._last_loss_reduction = reduction
        losses = convert_to_tensor(losses)
        kind = losses.dtype
        weights = cast(1.0 if sample_weight is None else sample_weight, dtypes.float32)
        losses, _, weights = fitted(cast(losses, dtypes.float32), None, weights)
        return cast(reduce_weighted_loss(mul(losses, weights), reduction), kind)
