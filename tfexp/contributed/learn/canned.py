"""Networks and linear models of `tf.contrib.learn`, and both together. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.learn.estimators import refuse
from tfexp.contributed.learn.heads.single import multi_class_head, regression_head
from tfexp.contributed.learn.model_functions import combined, linear, network
from tfexp.contributed.learn.of_columns import Classifier, Regressor
from tfexp.ops.nn_activation import relu


class DNNClassifier(Classifier):
    """Dense layers under a softmax (of two classes: a sigmoid). optimizer: Adagrad by default."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | str = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
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
        super().__init__(model_fn, model_dir, config, feature_engineering_fn, feature_columns)


class DNNRegressor(Regressor):
    """Dense layers, trained on the mean squared error. optimizer: Adagrad by default."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] | str = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
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
        super().__init__(model_fn, model_dir, config, feature_engineering_fn, feature_columns)


class LinearClassifier(Classifier):
    """A softmax (of two classes: a sigmoid) of weighted features.

    optimizer: Ftrl by default; of two classes `tf.contrib.linear_optimizer.SDCAOptimizer`, too.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        refuse(_joint_weight=_joint_weight)
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        ascent_loss = "logistic_loss" if n_classes == 2 else None
        model_fn = linear(head, feature_columns, optimizer, gradient_clip_norm, weight_column_name, ascent_loss)
        super().__init__(model_fn, model_dir, config, feature_engineering_fn, feature_columns)


class LinearRegressor(Regressor):
    """A weighted sum of features, trained on the mean squared error.

    optimizer: Ftrl by default; of one number `tf.contrib.linear_optimizer.SDCAOptimizer`, too.
    """

    def __init__(
        self,
        feature_columns: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ):
        refuse(_joint_weights=_joint_weights)
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
        ascent_loss = "squared_loss" if label_dimension == 1 else None
        model_fn = linear(head, feature_columns, optimizer, gradient_clip_norm, weight_column_name, ascent_loss)
        super().__init__(model_fn, model_dir, config, feature_engineering_fn, feature_columns)


class DNNLinearCombinedClassifier(Classifier):
    """A softmax (of two classes: a sigmoid) of the sum of a network's and a linear model's logits: wide and deep.

    Optimizers: Ftrl for the linear model and Adagrad for the network by default. Both count a step,
    unless `fix_global_step_increment_bug` is set: then it counts once.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        refuse(_joint_linear_weights=_joint_linear_weights)
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
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
            input_layer_min_slice_size=input_layer_min_slice_size,
            embedding_lr_multipliers=embedding_lr_multipliers,
        )
        columns = [*(linear_feature_columns or []), *(dnn_feature_columns or [])]
        super().__init__(model_fn, model_dir, config, feature_engineering_fn, columns)


class DNNLinearCombinedRegressor(Regressor):
    """The sum of a network's and a linear model's outputs, trained on the mean squared error.

    Optimizers: Ftrl for the linear model and Adagrad for the network by default. Both count a step,
    unless `fix_global_step_increment_bug` is set: then it counts once.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        refuse(_joint_linear_weights=_joint_linear_weights)
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=enable_centered_bias,
        )
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
            input_layer_min_slice_size=input_layer_min_slice_size,
            embedding_lr_multipliers=embedding_lr_multipliers,
        )
        columns = [*(linear_feature_columns or []), *(dnn_feature_columns or [])]
        super().__init__(model_fn, model_dir, config, feature_engineering_fn, columns)
