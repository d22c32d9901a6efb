"""A linear and a deep model whose logits are added ("wide and deep"): `tf.estimator.DNNLinearCombinedClassifier` and its
kin. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.estimator.canned.dnn import dnn_logit_fn_builder, input_partitioner
from tfexp.estimator.canned.features import as_columns, check_features
from tfexp.estimator.canned.heads import classifier_head, regressor_head
from tfexp.estimator.canned.layer_summaries import summarize_layer
from tfexp.estimator.canned.linear import default_learning_rate, linear_logit_fn_builder
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.heads.head import Head
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import control_dependencies, get_collection
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_activation import relu
from tfexp.ops.partitioned_variables import min_max_variable_partitioner
from tfexp.ops.state import assign_add
from tfexp.ops.variable_scope import variable_scope
from tfexp.train.global_step import get_global_step

_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005


class DNNLinearCombinedEstimator(Estimator):
    """Both models with any `tf.estimator.Head`; each is trained by its own optimizer.

    One of the two may have no columns, and then there is only the other. ValueError for none, or for deep columns without
    `dnn_hidden_units`.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ):
        linear_columns = as_columns(linear_feature_columns or [])
        dnn_columns = as_columns(dnn_feature_columns or [])
        if not linear_columns and not dnn_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        if dnn_columns and not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")

        def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features, type(self).__name__)
            given = tuple(features.values())
            logits, steps = [], []
            if dnn_columns:
                logit_fn = dnn_logit_fn_builder(
                    head.logits_dimension,
                    dnn_hidden_units or (),
                    dnn_columns,
                    dnn_activation_fn,
                    dnn_dropout,
                    input_partitioner(input_layer_partitioner, config),
                    batch_norm,
                )
                cut = min_max_variable_partitioner(config.num_ps_replicas)
                with variable_scope("dnn", values=given, partitioner=cut) as scope:
                    logits.append(logit_fn(features, mode))
                steps.append((optimizer_of(dnn_optimizer, _DNN_LEARNING_RATE), scope.name))
            if linear_columns:
                cut = input_partitioner(input_layer_partitioner, config)
                with variable_scope("linear", values=given, partitioner=cut) as scope:
                    linear_fn = linear_logit_fn_builder(head.logits_dimension, linear_columns, linear_sparse_combiner)
                    logits.append(linear_fn(features))
                    summarize_layer(logits[-1], scope.name)
                rate = default_learning_rate(linear_columns, at_most=_LINEAR_LEARNING_RATE)
                steps.append((optimizer_of(linear_optimizer, rate), scope.name))

            def train_op_fn(loss: Any) -> Any:
                minimized = [
                    optimizer.minimize(loss, var_list=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope))
                    for optimizer, scope in steps
                ]
                with control_dependencies([group(*minimized)]):
                    return assign_add(get_global_step(), 1).op

            both = logits[0] if len(logits) == 1 else add_n(logits)
            return head.create_estimator_spec(features, mode, both, labels, train_op_fn=train_op_fn)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """Both models for `n_classes` classes, by numbers or by the words of `label_vocabulary`."""

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        super().__init__(
            classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            batch_norm,
            linear_sparse_combiner,
            warm_start_from,
        )


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """Both models for `label_dimension` numbers."""

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        input_layer_partitioner: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        super().__init__(
            regressor_head(label_dimension, weight_column, loss_reduction),
            model_dir,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            config,
            batch_norm,
            linear_sparse_combiner,
            warm_start_from,
        )
