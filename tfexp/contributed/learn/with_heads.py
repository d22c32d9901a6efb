"""Networks and linear models of `tf.contrib.learn` with any of its heads. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.learn.estimators import Estimator, refuse
from tfexp.contributed.learn.heads.head import Head
from tfexp.contributed.learn.model_functions import combined, linear, network
from tfexp.contributed.linear_optimizer.sdca_optimizer import SDCAOptimizer
from tfexp.ops.nn_activation import relu


class DNNEstimator(Estimator):
    """Dense layers of `hidden_units` under a head. optimizer: Adagrad by default."""

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | str = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        model_fn = network(
            head,
            hidden_units,
            feature_columns,
            optimizer,
            activation_fn,
            dropout,
            gradient_clip_norm,
            input_layer_min_slice_size,
            embedding_lr_multipliers,
        )
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


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
        model_fn = linear(head, feature_columns, optimizer, gradient_clip_norm)
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


class DNNLinearCombinedEstimator(Estimator):
    """The sum of a network's and a linear model's logits under a head: wide and deep.

    Optimizers: Ftrl for the linear model and Adagrad for the network by default. Both count a step,
    unless `fix_global_step_increment_bug` is set: then it counts once.
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
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ):
        refuse(_joint_linear_weights=_joint_linear_weights)
        model_fn = combined(
            head,
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            gradient_clip_norm,
            fix_global_step_increment_bug,
            input_layer_partitioner,
            embedding_lr_multipliers=embedding_lr_multipliers,
        )
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)
