"""What the core has by now, with the arguments that it has in `tf.contrib`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.estimator.heads.regression import PoissonRegressionHead, RegressionHead
from tfexp.graph.tensor import Tensor
from tfexp.ops import losses
from tfexp.ops.losses import Reduction
from tfexp.train import assignment_maps, checkpoint_utils

# --- `tf.contrib.estimator` --------------------------------------------------------------------------------------------


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> RegressionHead:
    """`tf.estimator.RegressionHead`."""
    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> PoissonRegressionHead:
    """`tf.estimator.PoissonRegressionHead`."""
    return PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)


# --- `tf.contrib.framework` --------------------------------------------------------------------------------------------


def load_checkpoint(filepattern: str) -> Any:
    """`tf.train.load_checkpoint`."""
    return checkpoint_utils.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """`tf.train.load_variable`."""
    return checkpoint_utils.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """`tf.train.list_variables`."""
    return checkpoint_utils.list_variables(checkpoint_dir)


def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[str, Any]) -> None:
    """`tf.train.init_from_checkpoint`."""
    assignment_maps.init_from_checkpoint(checkpoint_dir, assignment_map)


def remove_squeezable_dimensions(predictions: Any, labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(predictions, labels), the one without its last dimension of 1 that has one more dimension than the other."""
    labels, predictions = losses.without_last_ones(labels, predictions, name=name)
    return predictions, labels
