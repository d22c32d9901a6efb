"""Forests as estimators of `tf.contrib.learn` and of `tf.estimator`. Source: `tf.contrib.tensor_forest`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp import estimator
from tfexp.contributed.learn.estimators import Estimator
from tfexp.contributed.tensor_forest.graphs import RandomForestGraphs
from tfexp.contributed.tensor_forest.model import (
    ModelBuilderOutputType,
    default_head,
    get_combined_model_fn,
    get_model_fn,
)


class TensorForestEstimator(Estimator):
    """A forest by `params`, a ForestHParams, with a head for numbers or for classes.

    weight_column, keys_column: features with weights of examples, and with what goes with predictions. Training ends where
    the loss has not become less by the part `early_stopping_loss_threshold` in `early_stopping_rounds` steps. num_trainers:
    trees are shared among these; `trainer_id` is this one. report_feature_importances: they are logged when training ends.
    """

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: None = None,
        graph_builder_class: Callable[..., Any] = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float | None = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ):
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            feature_columns,
            weight_column,
            head,
            keys_column,
            early_stopping_rounds,
            early_stopping_loss_threshold,
            num_trainers,
            trainer_id,
            report_feature_importances,
            local_eval,
            include_all_in_serving=include_all_in_serving,
        )
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


class MultiForestMultiHeadEstimator(Estimator):
    """A forest for each of `params_list`, which learns its column of the labels. The rest is as of TensorForestEstimator."""

    def __init__(
        self,
        params_list: Sequence[Any],
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: None = None,
        graph_builder_class: Callable[..., Any] = RandomForestGraphs,
        config: Any = None,
        weight_column: str | None = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        early_stopping_rounds: int | None = 100,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
    ):
        model_fns = []
        for number, params in enumerate(params_list):
            filled, kind = params.fill(), ModelBuilderOutputType.MODEL_FN_OPS
            model_fns.append(
                get_model_fn(
                    filled,
                    graph_builder_class,
                    device_assigner,
                    feature_columns,
                    weight_column,
                    default_head(filled, weight_column, kind, f"head{number}"),
                    keys_column,
                    early_stopping_rounds,
                    num_trainers=num_trainers,
                    trainer_id=trainer_id,
                    report_feature_importances=report_feature_importances,
                    local_eval=local_eval,
                    head_scope=f"output{number}",
                )
            )
        combined = get_combined_model_fn(model_fns)
        super().__init__(combined, model_dir, config, feature_engineering_fn=feature_engineering_fn)


class CoreTensorForestEstimator(estimator.Estimator):
    """As TensorForestEstimator, with a head of `tf.estimator`: `train`, not `fit`. feature_engineering_fn: unused."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any = None,
        model_dir: str | None = None,
        feature_columns: None = None,
        graph_builder_class: Callable[..., Any] = RandomForestGraphs,
        config: Any = None,
        weight_column: Any = None,
        keys_column: str | None = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
        early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float | None = 0.001,
        num_trainers: int = 1,
        trainer_id: int = 0,
        report_feature_importances: bool = False,
        local_eval: bool = False,
        version: Any = None,
        head: Any = None,
        include_all_in_serving: bool = False,
    ):
        model_fn = get_model_fn(
            params.fill(),
            graph_builder_class,
            device_assigner,
            feature_columns,
            weight_column,
            head,
            keys_column,
            early_stopping_rounds,
            early_stopping_loss_threshold,
            num_trainers,
            trainer_id,
            report_feature_importances,
            local_eval,
            include_all_in_serving=include_all_in_serving,
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )
        super().__init__(model_fn, model_dir, config)
