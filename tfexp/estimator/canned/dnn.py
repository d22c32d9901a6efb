"""Deep models of feature columns: `tf.estimator.DNNClassifier` and its kin. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.estimator.canned.features import as_columns, check_features
from tfexp.estimator.canned.heads import classifier_head, regressor_head
from tfexp.estimator.canned.layer_summaries import summarize_layer
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.heads.head import Head
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.feature_column.column import is_feature_column_v2
from tfexp.feature_column.model import input_layer
from tfexp.graph.tensor import Tensor
from tfexp.layers.core import dense
from tfexp.layers.core import dropout as without_some
from tfexp.layers.normalization import batch_normalization
from tfexp.ops.initializers import GlorotUniform
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_activation import relu
from tfexp.ops.partitioned_variables import min_max_variable_partitioner
from tfexp.ops.variable_scope import variable_scope

DeepLogitFunction = Callable[[Mapping[str, Any], str], Tensor]
LEARNING_RATE = 0.05

# The tables of embeddings are cut for parameter servers from this size on, in bytes.
_MIN_SLICE = 64 << 20
# Of the moving averages of batch normalization.
_MOMENTUM = 0.999


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: Any,
    activation_fn: Callable[[Any], Any],
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> DeepLogitFunction:
    """A function from features and mode to logits `[batch, units]`: layers `hiddenlayer_N` of so many `hidden_units`.

    Variables are resources, except the tables where a column is of the older kind, as shared ones are.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int. Given type: {type(units)}")

    def dnn_logit_fn(features: Mapping[str, Any], mode: str) -> Tensor:
        training = mode == ModeKeys.TRAIN
        given = tuple(features.values())
        later = is_feature_column_v2(feature_columns)
        cut = input_layer_partitioner
        with variable_scope("input_from_feature_columns", values=given, partitioner=cut, use_resource=later):
            net = input_layer(features, feature_columns)
        for number, width in enumerate(hidden_units):
            with variable_scope(f"hiddenlayer_{number}", values=(net,), use_resource=True) as scope:
                net = dense(net, width, activation=activation_fn, kernel_initializer=GlorotUniform(), name=scope)
                if dropout is not None and training:
                    net = without_some(net, rate=dropout, training=True)
                if batch_norm:
                    net = batch_normalization(
                        net, momentum=_MOMENTUM, training=training, name=f"batchnorm_{number}", trainable=True
                    )
            summarize_layer(net, scope.name)
        with variable_scope("logits", values=(net,), use_resource=True) as scope:
            logits: Tensor = dense(net, units, activation=None, kernel_initializer=GlorotUniform(), name=scope)
        summarize_layer(logits, scope.name)
        return logits

    return dnn_logit_fn


def input_partitioner(given: Any, config: RunConfig) -> Any:
    """What cuts the tables of embeddings, where the program does not say."""
    return given or min_max_variable_partitioner(config.num_ps_replicas, min_slice_size=_MIN_SLICE)


class DNNEstimator(Estimator):
    """A deep model with any `tf.estimator.Head`: dense layers of `hidden_units` on dense feature columns.

    `optimizer` is one, its name (Adagrad, Adam, Ftrl, RMSProp, SGD), or a function that makes one. `dropout`: the part of
    outputs to drop in training. `batch_norm`: normalize after each hidden layer.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ):
        columns = as_columns(feature_columns)

        def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features, type(self).__name__)
            cut = min_max_variable_partitioner(config.num_ps_replicas)
            logit_fn = dnn_logit_fn_builder(
                head.logits_dimension,
                hidden_units,
                columns,
                activation_fn,
                dropout,
                input_partitioner(input_layer_partitioner, config),
                batch_norm,
            )
            with variable_scope("dnn", values=tuple(features.values()), partitioner=cut):
                logits = logit_fn(features, mode)
                trained = optimizer_of(optimizer, LEARNING_RATE)
                return head.create_estimator_spec(features, mode, logits, labels, optimizer=trained)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """A deep model for `n_classes` classes, by numbers or by the words of `label_vocabulary`.

    `weight_column` is a feature with the weights of examples. By default the losses of a batch are summed.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ):
        super().__init__(
            classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )


class DNNRegressor(DNNEstimator):
    """A deep model for `label_dimension` numbers. `weight_column` is a feature with the weights of examples."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ):
        super().__init__(
            regressor_head(label_dimension, weight_column, loss_reduction),
            hidden_units,
            feature_columns,
            model_dir,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            config,
            warm_start_from,
            batch_norm,
        )
