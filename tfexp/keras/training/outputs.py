"""One output of a model, and what `compile` said about it: its loss, targets, weights and metrics. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tfexp.keras import losses as keras_losses
from tfexp.keras import metrics as keras_metrics
from tfexp.keras.backend import is_placeholder
from tfexp.keras.training.by_output import (
    loss_weights_by_output,
    losses_by_output,
    metrics_by_output,
    modes_by_output,
    targets_by_output,
)


@dataclass
class Output:
    """An output. tensor: what the model gives, eagerly for an example. loss: None for an output that is not trained on.

    target: the tensor that the loss compares with; None until one is made. fed: whether its values come with each batch.
    """

    name: str
    shape: tuple[int | None, ...]
    loss: Any
    loss_weight: Any
    weight_mode: str | None
    tensor: Any
    target: Any = None
    fed: bool = True
    metrics: list[Any] = field(default_factory=list)
    weighted_metrics: list[Any] = field(default_factory=list)
    loss_metric: Any = None  # the mean of its loss, where there are several outputs

    @property
    def loss_function_name(self) -> str | None:
        """The name of the function behind the loss; None for a class of the user's."""
        return function_name(self.loss)

    @property
    def target_shape(self) -> tuple[int | None, ...] | None:
        """The shape that targets should have; None where only the loss knows."""
        name = self.loss_function_name
        if name is None or not hasattr(keras_losses, name):
            return None
        if name == "sparse_categorical_crossentropy":
            return (*self.shape[:-1], 1)
        return self.shape

    @property
    def target_dtype(self) -> Any:
        """Targets are compared with predictions in the type of these."""
        return self.tensor.dtype.base_dtype


def function_name(loss: Any) -> str | None:
    """What the function of a loss is called."""
    return getattr(getattr(loss, "fn", None), "__name__", None)


def as_loss(loss: Any) -> Any:
    """A Loss object of a name, a function or an object; None of None."""
    if loss is None or isinstance(loss, keras_losses.Loss):
        return loss
    found = keras_losses.get(loss)
    if isinstance(found, keras_losses.Loss) or not hasattr(found, "__name__"):
        return found
    return keras_losses.LossFunctionWrapper(found, name=found.__name__)


def prepare(
    names: Sequence[str],
    shapes: Sequence[tuple[int | None, ...]],
    tensors: Sequence[Any],
    loss: Any,
    loss_weights: Any,
    metrics: Any,
    weighted_metrics: Any,
    sample_weight_mode: Any,
    target_tensors: Any,
) -> list[Output]:
    """The outputs, of the arguments of `compile`, with metric objects named as they will be reported."""
    losses = [as_loss(one) for one in losses_by_output(loss, names)]
    for one in losses:
        if isinstance(one, keras_losses.Loss):
            one._allow_sum_over_batch_size = True  # a step sees the whole batch, under a strategy too
    weights = loss_weights_by_output(loss_weights, names)
    modes = modes_by_output(sample_weight_mode, names, [one is not None for one in losses])
    targets = targets_by_output(target_tensors, names)
    outputs = [
        Output(name, shape, one, weight, mode, tensor, target, target is None or is_placeholder(target))
        for name, shape, one, weight, mode, tensor, target in zip(
            names, shapes, losses, weights, modes, tensors, targets, strict=True
        )
    ]
    taken = {"loss"}
    if len(outputs) > 1:
        for output in outputs:
            if output.loss is not None:
                output.loss_metric = keras_metrics.Mean(name=f"{output.name}_loss")
                taken.add(output.loss_metric.name)
    plain, weighted = metrics_by_output(metrics, names), metrics_by_output(weighted_metrics, names)
    for output, of_output, weighted_of_output in zip(outputs, plain, weighted, strict=True):
        prefix = f"{output.name}_" if len(outputs) > 1 else ""
        if output.loss is not None:
            output.metrics = _metric_objects(of_output, output, prefix, taken, weighted=False)
            output.weighted_metrics = _metric_objects(weighted_of_output, output, prefix, taken, weighted=True)
    return outputs


def _metric_objects(given: Sequence[Any], output: Output, prefix: str, taken: set[str], weighted: bool) -> list[Any]:
    """Metric objects; of several by one name the last. Each gets a name of its own among those taken."""
    by_name = {}
    for one in given:
        if one is not None:
            by_name[reported_name(one, weighted)] = one
    made = []
    for name, one in by_name.items():
        metric = one if isinstance(one, keras_metrics.Metric) else _of_function(one, output, name)
        unique, number = f"{prefix}{name}", 1
        while unique in taken:
            unique, number = f"{prefix}{name}_{number}", number + 1
        taken.add(unique)
        metric._name = unique
        made.append(metric)
    return made


_ACCURACY, _CROSSENTROPY = {"accuracy", "acc"}, {"crossentropy", "ce"}


def reported_name(metric: Any, weighted: bool = False) -> str:
    """`acc` for accuracies, `ce` for crossentropies; else the function's or the object's; behind `weighted_` if it is."""
    prefix = "weighted_" if weighted else ""
    if isinstance(metric, str) and metric in _ACCURACY:
        return f"{prefix}acc"
    if isinstance(metric, str) and metric in _CROSSENTROPY:
        return f"{prefix}ce"
    found = keras_metrics.get(metric)
    name = getattr(found, "name", None) or getattr(found, "__name__", None) or type(found).__name__.lower()
    return f"{prefix}{name}"


def _of_function(metric: Any, output: Output, name: str) -> Any:
    """The mean of what a function gives for each sample."""
    found = function_of(metric, output.shape, output.loss_function_name)
    if isinstance(found, keras_metrics.Metric):
        return found
    return keras_metrics.MeanMetricWrapper(found, name=name)


def function_of(metric: Any, shape: Any, loss_name: str | None) -> Any:
    """The function (or object) of a metric: 'accuracy' and 'crossentropy' by the output's shape and what its loss takes."""
    if not isinstance(metric, str) or metric not in _ACCURACY | _CROSSENTROPY:
        return keras_metrics.get(metric)
    of_class = "accuracy" if metric in _ACCURACY else "crossentropy"
    if shape[-1] == 1 or loss_name == "binary_crossentropy":
        return getattr(keras_metrics, f"binary_{of_class}")
    if loss_name == "sparse_categorical_crossentropy":
        return getattr(keras_metrics, f"sparse_categorical_{of_class}")
    return getattr(keras_metrics, f"categorical_{of_class}")
