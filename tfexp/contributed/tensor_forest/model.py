"""Model functions of forests: what a forest says of examples is the logits of a head. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.learn.constants import PredictionKey, ProblemType
from tfexp.contributed.learn.heads.single import multi_class_head, regression_head
from tfexp.contributed.learn.model_fn_ops import ModeKeys, ModelFnOps
from tfexp.contributed.tensor_forest.hooks import TensorForestLossHook, TensorForestRunOpAtEndHook
from tfexp.estimator.canned.heads import classifier_head, regressor_head
from tfexp.estimator.export_outputs import PredictOutput
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import device
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_slice import slice_op
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_unary import log
from tfexp.ops.losses import Reduction
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.resource_state import destroy_resource_op
from tfexp.ops.state import assign_add
from tfexp.ops.summary import scalar
from tfexp.ops.variable_scope import variable_scope
from tfexp.train.global_step import get_or_create_global_step
from tfexp.train.session_hooks import SessionRunHook

KEYS_NAME = "keys"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"
EPSILON = 1e-6

ModelFn = Callable[..., Any]


class ModelBuilderOutputType:
    """What a model function gives: for `tf.contrib.learn`, or for `tf.estimator`."""

    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


def default_head(params: Any, weights_name: str | None, output_type: int, name: str | None = None) -> Any:
    """For numbers or for classes, as `params` say."""
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        if params.regression:
            return regression_head(None, weights_name, params.num_outputs, head_name=name)
        return multi_class_head(params.num_classes, weight_column_name=weights_name, head_name=name)
    average = Reduction.SUM_OVER_BATCH_SIZE
    if params.regression:
        return regressor_head(params.num_outputs, weights_name, average)
    return classifier_head(params.num_classes, weights_name, None, average)


def _logits(probabilities: Tensor, params: Any) -> Tensor:
    """Of [examples, classes] probabilities; for two classes the one of the second's odds. Numbers are as they are."""
    if params.regression:
        return probabilities
    if params.num_classes == 2:
        second = slice_op(probabilities, [0, 1], [-1, 1])
        probabilities = second / maximum(1.0 - second, EPSILON)
    made: Tensor = log(maximum(probabilities, EPSILON))
    return made


def get_model_fn(
    params: Any,
    graph_builder_class: Callable[..., Any],
    device_assigner: Any,
    feature_columns: None = None,
    weights_name: str | None = None,
    model_head: Any = None,
    keys_name: str | None = None,
    early_stopping_rounds: int | None = 100,
    early_stopping_loss_threshold: float | None = 0.001,
    num_trainers: int = 1,
    trainer_id: int = 0,
    report_feature_importances: bool = False,
    local_eval: bool = False,
    head_scope: Any = None,
    include_all_in_serving: bool = False,
    output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> ModelFn:
    """A model function of a forest by filled `params`.

    weights_name, keys_name: features that the trees do not see: weights of examples, and what goes with predictions.
    early_stopping_rounds: as of TensorForestLossHook; None for no stop. local_eval: an evaluation does without
    `device_assigner`. include_all_in_serving: all predictions are exported by the name `tensorforest_all`.
    ValueError for feature_columns.
    """
    if feature_columns:
        raise ValueError("Forests have no feature_columns in tfexp: let the input function give tensors of floats")
    is_learn = output_type == ModelBuilderOutputType.MODEL_FN_OPS
    head = default_head(params, weights_name, output_type) if model_head is None else model_head

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        own = dict(features) if isinstance(features, Mapping) else {"features": features}
        given, keys = dict(own), own.pop(keys_name, None) if keys_name else None
        own.pop(weights_name, None)
        assigner = None if local_eval and mode == ModeKeys.EVAL else device_assigner
        is_training = mode == ModeKeys.TRAIN
        forest = graph_builder_class(params, device_assigner=assigner, training=is_training)
        probabilities, paths, variance = forest.inference_graph(own)
        scalar("average_tree_size", forest.average_size())
        logits = _logits(probabilities, params)

        step, hooks = None, list[SessionRunHook]()
        if is_training:
            grown = forest.training_graph(own, labels, num_trainers=num_trainers, trainer_id=trainer_id)
            step = group(grown, assign_add(get_or_create_global_step(), 1))
            hooks.append(TensorForestRunOpAtEndHook(_at_end(forest, report_feature_importances)))
        arguments = {"labels": labels, "train_op_fn": lambda loss: step, "logits": logits}
        if is_learn:
            made = head.create_model_fn_ops(given, mode, **arguments, scope=head_scope)
        else:
            made = head.create_estimator_spec(given, mode, **arguments)
        if is_training and early_stopping_rounds:
            hooks.append(TensorForestLossHook(early_stopping_rounds, early_stopping_loss_threshold, made.loss))

        predictions = dict(made.predictions) if made.predictions is not None else {}
        predictions[VARIANCE_PREDICTION_KEY] = variance
        if params.inference_tree_paths:
            predictions[TREE_PATHS_PREDICTION_KEY] = paths
        if keys is not None:
            predictions[keys_name or KEYS_NAME] = keys
        changed: dict[str, Any] = {"predictions": predictions, "training_hooks": [*made.training_hooks, *hooks]}
        if include_all_in_serving and is_learn:
            everything = ProblemType.UNSPECIFIED, predictions
            changed["output_alternatives"] = {**(made.output_alternatives or {}), ALL_SERVING_KEY: everything}
        elif include_all_in_serving and made.export_outputs is not None:
            changed["export_outputs"] = {**made.export_outputs, ALL_SERVING_KEY: PredictOutput(predictions)}
        return made._replace(**changed)

    return model_fn


def _at_end(forest: Any, with_importances: bool) -> dict[str, Any]:
    """What is run when training ends: at last, trees and statistics are destroyed."""
    found: dict[str, Any] = {"feature_importances": forest.feature_importances()} if with_importances else {}
    destroyed = []
    for number, handle in enumerate(forest.get_all_resource_handles()):
        with device(forest.variables.device_dummies[number % forest.params.num_trees].device):
            destroyed.append(destroy_resource_op(handle))
    return {**found, "clean up resources": group(*destroyed)}


def get_combined_model_fn(model_fns: Sequence[ModelFn]) -> ModelFn:
    """The model function of several forests: column i of the labels is of the i-th one, in the scope `label_<i>`.

    The loss is the mean of theirs. Predictions have their `classes`, [examples, forests], and `probabilities` side by side.
    """

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        made = []
        for number, one in enumerate(model_fns):
            with variable_scope(f"label_{number}"):
                own = None if labels is None else slice_op(labels, [0, number], [-1, 1])
                made.append(one(features, own, mode))
        predictions = None
        if mode != ModeKeys.TRAIN:
            predictions = {
                PredictionKey.CLASSES: stack([ops.predictions[PredictionKey.CLASSES] for ops in made], axis=1),
                PredictionKey.PROBABILITIES: concat([ops.predictions[PredictionKey.PROBABILITIES] for ops in made], 1),
            }
        is_compared = mode != ModeKeys.INFER
        return ModelFnOps(
            mode,
            predictions,
            reduce_sum(stack([ops.loss for ops in made])) / len(made) if is_compared else None,
            group(*(ops.train_op for ops in made)) if mode == ModeKeys.TRAIN else None,
            training_hooks=[hook for ops in made for hook in ops.training_hooks],
        )

    return model_fn
