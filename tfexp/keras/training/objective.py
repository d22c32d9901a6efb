"""What is minimized, and what is reported beside it: losses of the outputs, masks and weights in them, metrics.

The same code builds a graph and computes values at once. Source: `tf.keras.Model.compile`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.graph.scopes import executing_eagerly, name_scope
from tfexp.keras.training.outputs import Output
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import add_n

NOTHING_TO_MINIMIZE = "The model cannot be {} because it has no loss to optimize."


@dataclass(frozen=True)
class Objective:
    """total_loss: what to minimize. results: the values to report beside it, in the order of the names."""

    total_loss: Any
    results: list[Any]


def objective(
    outputs: Sequence[Output],
    predictions: Sequence[Any],
    masks: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    further_losses: Sequence[Any],
) -> Objective:
    """The loss of a batch, and the metrics, which take the batch into account as they are computed.

    masks, weights: None where all samples count the same. further_losses: those of layers, regularization. ValueError where
    there is nothing to minimize.
    """
    total, of_losses = None, []
    with name_scope("loss"):
        for output, prediction, mask, target, weight in zip(outputs, predictions, masks, targets, weights, strict=True):
            if output.loss is None:
                continue
            with name_scope(f"{output.name}_loss"):
                value = output.loss(target, prediction, sample_weight=_masked(weight, mask, prediction))
            if output.loss_metric is not None:
                of_losses.append(output.loss_metric(value))
            weighted = output.loss_weight * value
            total = weighted if total is None else total + weighted
        if further_losses:
            further = add_n(list(further_losses))
            total = further if total is None else total + further
    if total is None:
        raise ValueError(NOTHING_TO_MINIMIZE.format("run" if executing_eagerly() else "compiled"))
    results = []
    with name_scope("metrics"):
        for output, prediction, mask, target, weight in zip(outputs, predictions, masks, targets, weights, strict=True):
            if not output.metrics and not output.weighted_metrics:
                continue
            masked = _masked(None, mask, prediction)
            results += [_of_metric(metric, target, prediction, masked) for metric in output.metrics]
            masked = _masked(weight, mask, prediction)
            results += [_of_metric(metric, target, prediction, masked) for metric in output.weighted_metrics]
    return Objective(total, of_losses + results)


def _of_metric(metric: Any, target: Any, prediction: Any, weight: Any) -> Any:
    with name_scope(metric.name):
        return metric(target, prediction, sample_weight=weight)


def _masked(weight: Any, mask: Any, prediction: Any) -> Any:
    """Weights that are 0 where the mask is false; the two may differ by a last dimension."""
    if mask is None:
        return weight
    mask = cast(mask, prediction.dtype.base_dtype)
    if weight is None:
        return mask
    weight = cast(weight, prediction.dtype.base_dtype)
    if weight.shape.ndims is not None and mask.shape.ndims is not None:
        if weight.shape.ndims == mask.shape.ndims - 1:
            weight = expand_dims(weight, -1)
        elif weight.shape.ndims == mask.shape.ndims + 1:
            weight = squeeze(weight, [-1])
    return weight * mask
