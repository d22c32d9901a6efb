"""What heads have in common. Source: `tf.contrib.learn.Head`, TF 1.15."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

from tfexp.contributed.layers import linear
from tfexp.contributed.learn.heads.losses import LossFunction
from tfexp.contributed.learn.heads.metrics import Metric, MetricKey
from tfexp.contributed.learn.model_fn_ops import ModeKeys, ModelFnOps, OpsOfHead
from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from tfexp.graph.tensor import Tensor
from tfexp.metrics.means import mean
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.reduce import reduce_mean
from tfexp.ops.summary import scalar
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_scope import variable_scope
from tfexp.train.adagrad import AdagradOptimizer

Predictions = Mapping[str, Any]
_BIAS_LEARNING_RATE = 0.1


class Head(abc.ABC):
    """What a model is for: from logits [batch, logits_dimension] to predictions, loss, metrics and a training step."""

    head_name: str | None = None

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits an example has."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """What a model function gives in this mode, of `logits`, or of the layer below them (`logits_input`).

        labels: a tensor, or a dict with that of the head's `label_name`. train_op_fn: from the loss to a training step.
        scope: of the variables, by default of the head's name or kind. ValueError for both or neither of logits and their
        layer, and for training without `train_op_fn`.
        """


def no_op_train_fn(loss: Any) -> Any:
    """A step that does nothing."""
    return no_op()


def check_mode(mode: str) -> None:
    """ValueError for one that is none."""
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
        raise ValueError(f"mode={mode} unrecognized.")


def with_name(key: str, head_name: str | None) -> str:
    """A key of a metric or summary, of the head of that name."""
    return f"{key}/{head_name}" if head_name else key


class SingleHead(Head):
    """A head of one kind. Keys of metrics and summaries end with its name, if it has one.

    loss_function: from labels, logits and weights (None: all 1) to the loss that is minimized, and the one that is shown.
    enable_centered_bias: a bias is learned beside the model, by Adagrad.
    """

    kind: str  # of variable scopes
    problem_type: int

    def __init__(
        self,
        logits_dimension: int,
        loss_function: LossFunction,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._logits_dimension = logits_dimension
        self._loss_function = loss_function
        self.label_name, self.weight_column_name, self.head_name = label_name, weight_column_name, head_name
        self._has_bias = enable_centered_bias

    @property
    def logits_dimension(self) -> int:
        return self._logits_dimension

    # --- in which kinds differ ---------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        """By `PredictionKey`."""

    @abc.abstractmethod
    def _metrics(self, predictions: Predictions, labels: Any, ids: Any, weights: Any) -> dict[str, Metric]:
        """By `MetricKey`, beside the loss."""

    def _checked_labels(self, labels: Any) -> Any:
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _ids(self, labels: Any) -> Any:
        """Labels as the loss takes them."""
        return labels

    def _exported(self, predictions: Predictions) -> Predictions:
        return predictions

    # --- what all of them do -----------------------------------------------------------------------------------------

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Tensor], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        given = [one for one in (logits, logits_input) if one is not None]
        with variable_scope(scope, default_name=self.head_name or self.kind, values=given):
            check_mode(mode)
            is_compared = mode != ModeKeys.INFER and labels is not None
            labels = self._labels(labels) if is_compared else None
            ids = self._ids(labels) if is_compared else None
            logits = self._checked_logits(logits, logits_input)
            bias = self._bias() if self._has_bias else None
            if bias is not None:
                logits = bias_add(logits, bias)
            with name_scope(None, "predictions", [logits]):
                predictions = self._predictions(logits)
            alternatives = {self.head_name: (self.problem_type, self._exported(predictions))}
            if not is_compared:
                return ModelFnOps(mode, predictions, output_alternatives=alternatives)
            weights = _weights(features, self.weight_column_name)
            loss, shown = self._loss_function(ids, logits, weights)
            with name_scope(""):  # its tag is without the scopes that the model is in
                scalar(with_name(MetricKey.LOSS, self.head_name), identity(shown))
            train_op = None
            if mode == ModeKeys.TRAIN:
                if train_op_fn is None:
                    raise ValueError("train_op_fn can not be None in TRAIN mode")
                with name_scope(None, "train_op", [loss]):
                    train_op = train_op_fn(loss)
                if bias is not None:
                    rows: Any = shape(logits)[0]  # type: ignore[index]
                    train_op = group(train_op, self._bias_step(bias, rows, ids, weights))
            with name_scope("metrics"):
                own = {MetricKey.LOSS: mean(shown), **self._metrics(predictions, labels, ids, weights)}
            metrics = {with_name(key, self.head_name): pair for key, pair in own.items()}
            ops = OpsOfHead(mode, predictions, loss, train_op, metrics, alternatives)
            if not self.head_name:  # several heads show what they minimize together
                ops.shown_loss = shown
            return ops

    def _labels(self, labels: Any) -> Any:
        own = labels[self.label_name] if isinstance(labels, Mapping) else labels
        return self._checked_labels(convert_to_tensor_or_sparse_tensor(own))

    def _checked_logits(self, logits: Any, logits_input: Any) -> Tensor:
        if (logits is None) == (logits_input is None):
            found = "Neither logits nor" if logits is None else "Both logits and"
            raise ValueError(f"{found} logits_input supplied.")
        if logits is None:
            made: Tensor = linear(logits_input, self._logits_dimension, scope="logits")
            return made
        logits = convert_to_tensor(logits, name="logits")
        if not logits.shape[-1:].is_compatible_with([self._logits_dimension]):
            raise ValueError(f"Dimensions {logits.shape[-1]} and {self._logits_dimension} are not compatible")
        return logits

    def _bias(self) -> Any:
        bias: Any = Variable(zeros([self._logits_dimension]), name="centered_bias_weight", trainable=True)
        for index in range(self._logits_dimension):
            scalar(with_name(f"centered_bias/bias_{index}", self.head_name), bias[index])
        return bias

    def _bias_step(self, bias: Any, rows: Any, ids: Any, weights: Any) -> Any:
        with name_scope(None, "centered_bias_step", [bias]) as scope:
            logits = reshape(tile(bias, [rows]), [rows, self._logits_dimension])
            with name_scope(None, "centered_bias", [logits]):
                # In 1.15, too, it is the mean of what is minimized and what is shown.
                loss = reduce_mean(self._loss_function(ids, logits, weights), name="training_loss")
        return AdagradOptimizer(_BIAS_LEARNING_RATE).minimize(loss, var_list=[bias], name=scope)


def _weights(features: Any, column: str | None) -> Any:
    """The weights of examples, a vector as [batch, 1]; None without a column. ValueError where the features lack it."""
    if not column:
        return None
    if column not in features:
        raise ValueError(f"Weights {column} missing from features.")
    with name_scope(None, "weight_tensor", [features[column]]):
        weights = cast(features[column], dtypes.float32)
        return reshape(weights, [-1, 1]) if weights.shape.ndims == 1 else weights
