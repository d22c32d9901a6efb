"""Networks and linear models of `tf.contrib.learn`, and both together. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp import estimator
from tfexp.contributed.learn.estimators import refuse
from tfexp.contributed.learn.of_columns import Classifier, Regressor
from tfexp.contributed.linear_optimizer.sdca_optimizer import SDCAOptimizer
from tfexp.contributed.opt.clipping import clip_gradients_by_norm
from tfexp.estimator.canned.dnn import LEARNING_RATE
from tfexp.estimator.canned.features import as_columns
from tfexp.estimator.canned.linear import default_learning_rate
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.run_config import RunConfig
from tfexp.ops.losses import Reduction
from tfexp.ops.nn_activation import relu
from tfexp.ops.partitioned_variables import min_max_variable_partitioner
from tfexp.train.optimizer import Optimizer

_LINEAR_RATE = 0.2  # at most


def optimizer_in_graph(given: Any, clip_norm: float | None, learning_rate: float) -> Callable[[], Optimizer]:
    """Makes the optimizer in the graph of the model."""

    def make() -> Optimizer:
        made = optimizer_of(given, learning_rate)
        return made if clip_norm is None else clip_gradients_by_norm(made, clip_norm)

    return make


def linear_optimizer_of(given: Any, clip_norm: float | None, feature_columns: Any) -> Callable[[], Optimizer]:
    """That of a linear model of these columns, of which there may be none: Ftrl by default."""
    rate = default_learning_rate(as_columns(feature_columns or []), _LINEAR_RATE)
    return optimizer_in_graph(given or "Ftrl", clip_norm, rate)


def input_partitioner_of(min_slice_size: int | None, config: Any) -> Any:
    """Cuts the input layer's variables for parameter servers from this size on, in bytes; None: as it is done by default."""
    if min_slice_size is None:
        return None
    return min_max_variable_partitioner((config or RunConfig()).num_ps_replicas, min_slice_size=min_slice_size)


def _linear_training(given: Any, clip_norm: float | None, feature_columns: Any) -> dict[str, Any]:
    """How a linear model alone is trained: it may be by dual coordinate ascent, which knows how weights are cut."""
    if isinstance(given, SDCAOptimizer):
        return {"optimizer": given, "partitioner": given.partitioner}
    return {"optimizer": linear_optimizer_of(given, clip_norm, feature_columns)}


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
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        embedding_lr_multipliers: None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        refuse(enable_centered_bias=enable_centered_bias, embedding_lr_multipliers=embedding_lr_multipliers)
        super().__init__(
            estimator.DNNClassifier(
                hidden_units,
                feature_columns,
                model_dir,
                n_classes,
                weight_column_name,
                label_keys,
                optimizer_in_graph(optimizer or "Adagrad", gradient_clip_norm, LEARNING_RATE),
                activation_fn,
                dropout,
                input_partitioner_of(input_layer_min_slice_size, config),
                config,
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
            feature_columns,
        )


class DNNRegressor(Regressor):
    """Dense layers, trained on the mean squared error. optimizer: Adagrad by default."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Callable[[Any], Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        refuse(enable_centered_bias=enable_centered_bias, embedding_lr_multipliers=embedding_lr_multipliers)
        super().__init__(
            estimator.DNNRegressor(
                hidden_units,
                feature_columns,
                model_dir,
                label_dimension,
                weight_column_name,
                optimizer_in_graph(optimizer or "Adagrad", gradient_clip_norm, LEARNING_RATE),
                activation_fn,
                dropout,
                input_partitioner_of(input_layer_min_slice_size, config),
                config,
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
            feature_columns,
        )


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
        refuse(enable_centered_bias=enable_centered_bias, _joint_weight=_joint_weight)
        super().__init__(
            estimator.LinearClassifier(
                feature_columns,
                model_dir,
                n_classes,
                weight_column_name,
                label_keys,
                config=config,
                loss_reduction=Reduction.MEAN,
                **_linear_training(optimizer, gradient_clip_norm, feature_columns),
            ),
            feature_engineering_fn,
            feature_columns,
        )


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
        refuse(enable_centered_bias=enable_centered_bias, _joint_weights=_joint_weights)
        super().__init__(
            estimator.LinearRegressor(
                feature_columns,
                model_dir,
                label_dimension,
                weight_column_name,
                config=config,
                loss_reduction=Reduction.MEAN,
                **_linear_training(optimizer, gradient_clip_norm, feature_columns),
            ),
            feature_engineering_fn,
            feature_columns,
        )


def combined_arguments(
    linear_feature_columns: Any,
    linear_optimizer: Any,
    dnn_feature_columns: Any,
    dnn_optimizer: Any,
    dnn_hidden_units: Sequence[int] | None,
    dnn_activation_fn: Callable[[Any], Any],
    dnn_dropout: float | None,
    gradient_clip_norm: float | None,
    config: Any,
) -> dict[str, Any]:
    """What the estimators of a network and a linear model together have in common."""
    return {
        "linear_feature_columns": linear_feature_columns,
        "linear_optimizer": linear_optimizer_of(linear_optimizer, gradient_clip_norm, linear_feature_columns),
        "dnn_feature_columns": dnn_feature_columns,
        "dnn_optimizer": optimizer_in_graph(dnn_optimizer or "Adagrad", gradient_clip_norm, LEARNING_RATE),
        "dnn_hidden_units": dnn_hidden_units,
        "dnn_activation_fn": dnn_activation_fn,
        "dnn_dropout": dnn_dropout,
        "config": config,
    }


class DNNLinearCombinedClassifier(Classifier):
    """A softmax (of two classes: a sigmoid) of the sum of a network's and a linear model's logits: wide and deep.

    Optimizers: Ftrl for the linear model and Adagrad for the network by default. A step counts once.
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
        embedding_lr_multipliers: None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        refuse(
            enable_centered_bias=enable_centered_bias,
            embedding_lr_multipliers=embedding_lr_multipliers,
            _joint_linear_weights=_joint_linear_weights,
        )
        super().__init__(
            estimator.DNNLinearCombinedClassifier(
                model_dir,
                n_classes=n_classes,
                weight_column=weight_column_name,
                label_vocabulary=label_keys,
                **combined_arguments(
                    linear_feature_columns,
                    linear_optimizer,
                    dnn_feature_columns,
                    dnn_optimizer,
                    dnn_hidden_units,
                    dnn_activation_fn,
                    dnn_dropout,
                    gradient_clip_norm,
                    config,
                ),
                input_layer_partitioner=input_partitioner_of(input_layer_min_slice_size, config),
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
            [*(linear_feature_columns or []), *(dnn_feature_columns or [])],
        )


class DNNLinearCombinedRegressor(Regressor):
    """The sum of a network's and a linear model's outputs, trained on the mean squared error.

    Optimizers: Ftrl for the linear model and Adagrad for the network by default. A step counts once.
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
        embedding_lr_multipliers: None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        refuse(
            enable_centered_bias=enable_centered_bias,
            embedding_lr_multipliers=embedding_lr_multipliers,
            _joint_linear_weights=_joint_linear_weights,
        )
        super().__init__(
            estimator.DNNLinearCombinedRegressor(
                model_dir,
                label_dimension=label_dimension,
                weight_column=weight_column_name,
                **combined_arguments(
                    linear_feature_columns,
                    linear_optimizer,
                    dnn_feature_columns,
                    dnn_optimizer,
                    dnn_hidden_units,
                    dnn_activation_fn,
                    dnn_dropout,
                    gradient_clip_norm,
                    config,
                ),
                input_layer_partitioner=input_partitioner_of(input_layer_min_slice_size, config),
                loss_reduction=Reduction.MEAN,
            ),
            feature_engineering_fn,
            [*(linear_feature_columns or []), *(dnn_feature_columns or [])],
        )
