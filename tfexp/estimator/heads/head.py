"""`tf.estimator.Head`: from a model's logits to loss, metrics, predictions and a training step. Source: TF 1.15."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.estimator.arguments import argument_names, call_with_wanted, unexpected
from tfexp.estimator.export_outputs import ExportOutput
from tfexp.estimator.heads.labels import checked_weight_column, row_weights
from tfexp.estimator.heads.labels import loss_reduction as known_reduction
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import get_collection, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.metrics.means import mean
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.losses import Reduction, compute_weighted_loss
from tfexp.ops.summary import scalar
from tfexp.train.global_step import get_global_step

Metrics = dict[str, tuple[Any, Any]]


class Losses(NamedTuple):
    """What a head makes of labels and logits: `rows` is the loss of each, `weights` [batch, 1] or None, `total` the reduced
    loss, without regularization."""

    labels: Any
    rows: Tensor
    weights: Tensor | None
    total: Tensor


class Head(abc.ABC):
    """What a model is for: how its logits `[batch, logits_dimension]` are compared with labels, and what they predict."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """What tells it from other heads of a model."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits an example has."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """One of `tf.losses.Reduction`."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Tensor:
        """The reduced loss, with the regularization losses. `features` has the weights, where there is a weight column."""

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Iterable[Any] | None = None) -> dict[Any, Any]:
        """The predictions, or those named. ValueError for a name that is none."""

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """What a model function returns. For training, give an `optimizer` or `train_op_fn(loss)`: ValueError otherwise.

        A training step also runs `update_ops`, by default those of the graph (`tf.GraphKeys.UPDATE_OPS`), such as moving
        averages.
        """


class SingleHead(Head):
    """A head of one kind. Keys of losses and metrics end with its `name`, if it has one. Metrics are pairs (value, update).

    Below are first the parts in which kinds differ.
    """

    # The canned estimators of TF 1.15 came with heads of an older kind: besides `loss`, the sum over a batch, they show
    # `average_loss` in training, and they measure the area below the precision-recall curve by trapezoids.
    is_older = False

    def __init__(self, weight_column: Any, loss_reduction: str, loss_fn: Callable[..., Any] | None, name: str | None):
        self._weight_column = checked_weight_column(weight_column)
        self._reduction = known_reduction(loss_reduction, self.is_older)
        self._loss_fn = _checked_loss_fn(loss_fn)
        self._name = name

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def loss_reduction(self) -> str:
        return self._reduction

    @abc.abstractmethod
    def _checked_labels(self, labels: Any, logits: Tensor) -> Any:
        """The labels as numbers `[batch, n]`. ValueError where that cannot be."""

    @abc.abstractmethod
    def _loss_of_rows(self, labels: Any, logits: Tensor) -> Tensor:
        """The loss of each example, `[batch, n]`."""

    @abc.abstractmethod
    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        """Everything that can be asked for, by name."""

    @abc.abstractmethod
    def _own_metrics(self, losses: Losses, predictions: Mapping[str, Any]) -> Metrics:
        """The metrics of this kind of head, beside the average loss."""

    @abc.abstractmethod
    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, ExportOutput]:
        """How it is served: by `serving_default`, and by other names."""

    # --- what all of them do -----------------------------------------------------------------------------------------

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Tensor:
        with name_scope(None, "losses", [labels, logits]):
            total, _ = _regularized(self.losses_of(labels, logits, features).total, regularization_losses)
            return total

    def predictions(self, logits: Any, keys: Iterable[Any] | None = None) -> dict[Any, Any]:
        with name_scope(None, "predictions", [logits]):
            made = self._predictions(self._checked_logits(logits))
        if keys is None:
            return made
        unknown = sorted(set(keys) - set(made))
        if unknown:
            raise ValueError(f"Prediction keys must be among {', '.join(made)}. Given: {', '.join(unknown)}")
        return {key: made[key] for key in keys}

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        with name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self.export_outputs(predictions))
            losses = self.losses_of(labels, logits, features)
            total, extra = _regularized(losses.total, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.metrics_of(losses, predictions, extra)
                return EstimatorSpec(mode, predictions, total, eval_metric_ops=metrics)
            train_op = training_step(total, optimizer, trainable_variables, train_op_fn, update_ops)
            self.summarize(losses, total, extra)
            return EstimatorSpec(mode, predictions, total, train_op)

    def _key(self, name: str) -> str:
        return f"{name}/{self._name}" if self._name else name

    def _checked_logits(self, logits: Any) -> Tensor:
        logits, wanted = convert_to_tensor(logits), "logits shape must be [D0, D1, ... DN, logits_dimension]"
        if logits.shape.ndims is not None and logits.shape.ndims < 2:
            raise ValueError(
                f"{wanted}.  Tensor {logits.name} must have rank at least 2.  Received rank {logits.shape.ndims}, "
                f"shape {logits.shape}"
            )
        if not logits.shape[-1:].is_compatible_with([self.logits_dimension]):
            raise ValueError(f"{wanted}, got {logits.shape}. The head's logits_dimension is {self.logits_dimension}.")
        return cast(logits, dtypes.float32)

    def losses_of(self, labels: Any, logits: Any, features: Any) -> Losses:
        """The loss, and what it is made of."""
        logits = self._checked_logits(logits)
        labels = self._checked_labels(labels, logits)
        if self._loss_fn is None:
            rows = self._loss_of_rows(labels, logits)
        else:
            rows = call_with_wanted(
                self._loss_fn, labels=labels, logits=logits, features=features, loss_reduction=self._reduction
            )
            if not rows.shape.is_compatible_with([None, 1]) and not rows.shape.is_compatible_with(logits.shape):
                raise ValueError(f"loss_fn must give the loss of each example, [batch, 1]. Given: {rows}")
        weights = row_weights(features, self._weight_column)
        total = compute_weighted_loss(rows, 1.0 if weights is None else weights, reduction=self._reduction)
        return Losses(labels, rows, weights, total)

    def metrics_of(self, losses: Losses, predictions: Mapping[str, Any], regularization: Tensor | None) -> Metrics:
        """The metrics of an evaluation, under their full names."""
        with name_scope(None, "metrics"):
            metrics = {"average_loss": mean(losses.rows, losses.weights), **self._own_metrics(losses, predictions)}
            if regularization is not None:
                metrics["regularization_loss"] = mean(regularization)
        return {self._key(name): pair for name, pair in metrics.items()}

    def summarize(self, losses: Losses, total: Tensor, regularization: Tensor | None) -> None:
        """The summaries of a training."""
        shown = {"loss": total}
        if self.is_older and self._reduction == Reduction.SUM:
            weights = 1.0 if losses.weights is None else losses.weights
            shown["average_loss"] = compute_weighted_loss(
                losses.rows, weights, loss_collection=None, reduction=Reduction.MEAN
            )
        if regularization is not None:
            shown["regularization_loss"] = regularization
        with name_scope(""):  # tags are without the scopes that the model is in
            for name, value in shown.items():
                scalar(self._key(name), value)


def _regularized(loss: Tensor, regularization_losses: Sequence[Any] | None) -> tuple[Tensor, Tensor | None]:
    """(the loss with regularization, the regularization or None)."""
    if not regularization_losses:
        return loss, None
    extra = add_n(list(regularization_losses))
    return add_n([loss, extra]), extra


def training_step(
    loss: Tensor,
    optimizer: Any,
    trainable_variables: Sequence[Any] | None,
    train_op_fn: Callable[[Tensor], Any] | None,
    update_ops: Sequence[Any] | None,
) -> Any:
    """The operation of a step, with the updates. ValueError for both or neither of `optimizer` and `train_op_fn`.

    optimizer: of Keras, whose `iterations` count the steps (a model function makes these the global step) and which must be
    told the variables; or of `tf.train`. ValueError for another.
    """
    if (optimizer is None) == (train_op_fn is None):
        raise ValueError(f"train_op_fn and optimizer cannot both be {'None' if optimizer is None else 'set'}.")
    if train_op_fn is not None:
        train_op = train_op_fn(loss)
    elif hasattr(optimizer, "get_updates"):
        with name_scope(""), name_scope("training"):
            train_op = group(*optimizer.get_updates(loss, _checked_variables(trainable_variables)))
    elif hasattr(optimizer, "minimize"):
        train_op = optimizer.minimize(loss, get_global_step(), var_list=trainable_variables)
    else:
        raise ValueError(f"The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given: {optimizer}")
    updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    return group(train_op, *updates) if updates else train_op


def _checked_variables(given: Any) -> Sequence[Any]:
    """ValueError for what is no list or tuple."""
    if given is None:
        raise ValueError("trainable_variables cannot be None. Given None")
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"trainable_variables should be a list or a tuple. Given type: {type(given)}.")
    return given


def _checked_loss_fn(loss_fn: Callable[..., Any] | None) -> Callable[..., Any] | None:
    if loss_fn is None:
        return None
    given = argument_names(loss_fn)
    for required in ("labels", "logits"):
        if required not in given:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {given}")
    if others := unexpected(loss_fn, ("labels", "logits", "features", "loss_reduction")):
        raise ValueError(f"loss_fn has unexpected args: {others}")
    return loss_fn
