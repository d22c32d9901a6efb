"""Networks and linear models of `tf.contrib.learn` with any of its heads. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp import estimator
from tfexp.contributed.learn.canned import (
    combined_arguments,
    input_partitioner_of,
    linear_optimizer_of,
    optimizer_in_graph,
)
from tfexp.contributed.learn.estimators import Estimator, refuse
from tfexp.contributed.learn.heads.head import Head
from tfexp.contributed.learn.model_fn_ops import ModelFnOps
from tfexp.contributed.linear_optimizer.sdca_optimizer import SDCAOptimizer
from tfexp.estimator.canned.dnn import LEARNING_RATE
from tfexp.ops.nn_activation import relu
from tfexp.train.global_step import get_global_step


class AsCoreHead:
    """What the models of `tf.estimator` ask of a head. `weight_column`: for the ascent, which weighs examples itself."""

    def __init__(self, head: Head, weight_column: Any = None):
        self._head, self._weight_column, self.logits_dimension = head, weight_column, head.logits_dimension

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Any, labels: Any, optimizer: Any = None, train_op_fn: Any = None
    ) -> ModelFnOps:
        def minimized(loss: Any) -> Any:
            return optimizer.minimize(loss, get_global_step())

        return self._head.create_model_fn_ops(features, mode, labels, train_op_fn or minimized, logits)


class DNNEstimator(Estimator):
    """Dense layers of `hidden_units` under a head. optimizer: Adagrad by default."""

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        refuse(embedding_lr_multipliers=embedding_lr_multipliers)
        core: Any = estimator.DNNEstimator(
            AsCoreHead(head),  # type: ignore[arg-type]
            hidden_units,
            feature_columns,
            model_dir,
            optimizer_in_graph(optimizer or "Adagrad", gradient_clip_norm, LEARNING_RATE),
            activation_fn,
            dropout,
            input_partitioner_of(input_layer_min_slice_size, config),
            config=config,
        )
        super().__init__(core._model_fn, core.model_dir, config, feature_engineering_fn=feature_engineering_fn)


class LinearEstimator(Estimator):
    """Weighted features under a head. optimizer: Ftrl by default. weight_column_name: not used, for the head has it.

    ValueError for `tf.contrib.linear_optimizer.SDCAOptimizer`, which is for models of one kind.
    """

    def __init__(
        self,
        feature_columns: Any,
        head: Head,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ):
        refuse(_joint_weights=_joint_weights)
        if isinstance(optimizer, SDCAOptimizer):
            raise ValueError("LinearEstimator does not support SDCA optimizer.")
        core: Any = estimator.LinearEstimator(
            AsCoreHead(head),  # type: ignore[arg-type]
            feature_columns,
            model_dir,
            linear_optimizer_of(optimizer, gradient_clip_norm, feature_columns),
            config,
        )
        super().__init__(core._model_fn, core.model_dir, config, feature_engineering_fn=feature_engineering_fn)


class DNNLinearCombinedEstimator(Estimator):
    """The sum of a network's and a linear model's logits under a head: wide and deep.

    Optimizers: Ftrl for the linear model and Adagrad for the network by default. A step counts once.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ):
        refuse(embedding_lr_multipliers=embedding_lr_multipliers, _joint_linear_weights=_joint_linear_weights)
        arguments = combined_arguments(
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn or relu,
            dnn_dropout,
            gradient_clip_norm,
            config,
        )
        core: Any = estimator.DNNLinearCombinedEstimator(
            AsCoreHead(head),  # type: ignore[arg-type]
            model_dir,
            input_layer_partitioner=input_layer_partitioner,
            **arguments,
        )
        super().__init__(core._model_fn, core.model_dir, config, feature_engineering_fn=feature_engineering_fn)
