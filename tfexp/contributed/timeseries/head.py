"""What an estimator trains, measures, predicts and exports of a model. Source: `tf.contrib.timeseries`, TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from tfexp.contributed.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
    without,
)
from tfexp.contributed.timeseries.input_statistics import InputStatisticsFromMiniBatch
from tfexp.contributed.timeseries.model import ModelOutputs, TimeSeriesModel
from tfexp.contributed.timeseries.states import PassthroughStateManager
from tfexp.core import dtypes, nest
from tfexp.estimator.export_outputs import PredictOutput
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.spec import EstimatorSpec
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.metrics.means import mean
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.cast import cast
from tfexp.ops.state import assign
from tfexp.ops.summary import scalar
from tfexp.ops.variable_base import Variable
from tfexp.ops.variable_scope import variable_scope
from tfexp.train.global_step import get_global_step

_LOSS = "loss"
_AVERAGE_LOSS = "average_loss"
_STATE_PART = re.compile(rf"{State.STATE_PREFIX}_(\d+)")


class TimeSeriesRegressionHead:
    """Around a model: losses by a state manager, a training step by an optimizer, statistics of the input, signatures.

    An evaluation gives `average_loss`, and of its last batch the predictions, their `times` and the state after it
    (`start_tuple`), from which a prediction goes on.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager,
        optimizer: Any,
        input_statistics_generator: InputStatisticsFromMiniBatch | None = None,
        name: str | None = None,
    ):
        self.model, self.state_manager, self.optimizer = model, state_manager, optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def logits_dimension(self) -> int:
        """1: the models have no logits."""
        return 1

    def create_loss(self, features: dict[str, Any], mode: str, logits: Any = None, labels: Any = None) -> ModelOutputs:
        """What the model says of these observations; its loss is in the summaries."""
        outputs = self.state_manager.define_loss(self.model, features, mode)
        scalar(f"{_LOSS}/{self._name}" if self._name else _LOSS, outputs.loss)
        return outputs

    def create_estimator_spec(self, features: Mapping[str, Any], mode: str, labels: Any = None) -> EstimatorSpec:
        """What a model function returns. ValueError for labels, features that are missing or misshapen, unknown modes."""
        if labels is not None and labels != {}:
            raise ValueError(
                f"The model received a `labels`, which is not supported. Pass '{TrainEvalFeatures.TIMES}' and "
                f"'{TrainEvalFeatures.VALUES}' as features."
            )
        if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
            raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
        with name_scope(self._name, "head"):
            given = {name: self._converted(name, feature) for name, feature in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(given, mode == ModeKeys.TRAIN)
            self.model.initialize_graph(input_statistics=statistics)
            state = _state_of_parts(given, self.model)
            if state is not None:
                given = {name: feature for name, feature in given.items() if not _STATE_PART.fullmatch(name)}
                given[State.STATE_TUPLE] = state
            if mode == ModeKeys.PREDICT:
                self._check_predict_features(given)
            else:
                _check_observations(given, self.model)
            self.state_manager.initialize_graph(self.model, statistics)
            if mode == ModeKeys.TRAIN:
                return self._train_ops(given)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(given)
            return self._predict_ops(given) if state is None else self._serving_ops(given)

    def _train_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            loss = self.create_loss(features, ModeKeys.TRAIN).loss
        train_op = self.optimizer.minimize(loss, global_step=get_global_step())
        return EstimatorSpec(ModeKeys.TRAIN, loss=loss, train_op=train_op)

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.EVAL)
        of_last_batch = {
            **outputs.predictions,
            FilteringResults.TIMES: outputs.prediction_times,
            FilteringResults.STATE_TUPLE: outputs.end_state,
        }
        metrics = {name: _last(name, value) for name, value in of_last_batch.items()}
        metrics[_AVERAGE_LOSS] = mean(outputs.loss, name=_AVERAGE_LOSS)
        return EstimatorSpec(ModeKeys.EVAL, loss=outputs.loss, eval_metric_ops=metrics, predictions=outputs.predictions)

    def _predict_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            predictions = self.model.predict(features)
        times = features[PredictionFeatures.TIMES]
        return EstimatorSpec(ModeKeys.PREDICT, predictions={**predictions, PredictionResults.TIMES: times})

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        """Three signatures: predictions from a state, a state brought up to date, and a state of a series' beginning."""
        with variable_scope("model", use_resource=True):
            predictions = self.model.predict(features)
        with variable_scope("model", reuse=True):
            filtered = self.create_loss(dict(features), ModeKeys.EVAL)
        with variable_scope("model", reuse=True):
            cold = self.model.define_loss(without(features, State.STATE_TUPLE), ModeKeys.EVAL)
        outputs = {
            SavedModelLabels.PREDICT: PredictOutput(predictions),
            SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
            SavedModelLabels.COLD_START_FILTER: _StatelessPredictOutput(state_to_dictionary(cold.end_state)),
        }
        return EstimatorSpec(ModeKeys.PREDICT, predictions={}, export_outputs=outputs)

    def _converted(self, name: str, feature: Any) -> Any:
        if name == TrainEvalFeatures.TIMES:
            return cast(feature, dtypes.int64)
        if name == TrainEvalFeatures.VALUES:
            return cast(feature, self.model.dtype)
        if name == State.STATE_TUPLE or isinstance(feature, SparseTensor):
            return feature
        return convert_to_tensor(feature)

    def _check_predict_features(self, features: Mapping[str, Any]) -> None:
        _check_there(features, "prediction", PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE)
        _check_of_times(features, {PredictionFeatures.STATE_TUPLE})


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """One whose saved model has a single signature: values of some times, and the times to predict after them.

    Where the state does not tell a server anything, such as that of windows. There is no `start_tuple` in evaluations.
    """

    def _check_predict_features(self, features: Mapping[str, Any]) -> None:
        _check_there(
            features, "prediction", PredictionFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE
        )
        _check_of_times(features, {PredictionFeatures.STATE_TUPLE, TrainEvalFeatures.VALUES})

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[State.STATE_TUPLE]  # type: ignore[attr-defined]
        return spec

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        length = shape(features[TrainEvalFeatures.VALUES])[1]
        of_times = without(features, State.STATE_TUPLE, TrainEvalFeatures.VALUES)
        seen = {name: feature[:, :length] for name, feature in of_times.items()}
        seen[TrainEvalFeatures.VALUES] = features[TrainEvalFeatures.VALUES]
        to_come = {name: feature[:, length:] for name, feature in of_times.items()}
        with variable_scope("model", use_resource=True):
            to_come[State.STATE_TUPLE] = self.model.define_loss(seen, ModeKeys.EVAL).end_state
        with variable_scope("model", reuse=True):
            predictions = self.model.predict(to_come)
        outputs = {SavedModelLabels.PREDICT: _StatelessPredictOutput(predictions)}
        return EstimatorSpec(ModeKeys.PREDICT, predictions={}, export_outputs=outputs)


class _StatelessPredictOutput(PredictOutput):
    """One whose signature takes no state."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        kept = {name: tensor for name, tensor in receiver_tensors.items() if not name.startswith(State.STATE_PREFIX)}
        return super().as_signature_def(kept)


def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """The parts of a state as they are called in signatures: `model_state_00` and so on."""
    return {f"{State.STATE_PREFIX}_{number:02d}": part for number, part in enumerate(nest.flatten(state_tuple))}


def _state_of_parts(features: Mapping[str, Any], model: TimeSeriesModel) -> Any:
    """The state whose parts are among the features, or None."""
    parts = {int(found[1]): features[name] for name in features if (found := _STATE_PART.fullmatch(name))}
    if not parts:
        return None
    return nest.pack_sequence_as(model.get_start_state(), [parts[number] for number in sorted(parts)])


def _last(name: str, values: Any) -> tuple[Any, Any]:
    """The metric that is what these tensors were in the last batch."""
    kept: list[Tensor] = []
    updates = []
    flat = nest.flatten(values)
    names = [f"{name}_{number}" for number in range(len(flat))] if nest.is_nested(values) else [name]
    for one, tensor in zip(names, flat, strict=True):
        variable: Any = Variable(
            zeros([], tensor.dtype),
            name=f"{one}_identity_metric",
            collections=[GraphKeys.LOCAL_VARIABLES],
            trainable=False,
            validate_shape=False,
        )
        updates.append(assign(variable, tensor, validate_shape=False))
        kept.append(variable.value())
    return nest.pack_sequence_as(values, kept), group(*updates)


def _check_observations(features: Mapping[str, Any], model: TimeSeriesModel) -> None:
    times, values = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
    _check_there(features, "training/evaluation", times, values)
    dims = features[values].shape
    if not dims.is_compatible_with([None, None, model.num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for feature '{values}', since the model "
            f"was configured with num_features={model.num_features} (got shape {dims})"
        )
    _check_of_times(features, {State.STATE_TUPLE})


def _check_there(features: Mapping[str, Any], what_for: str, *names: str) -> None:
    for name in names:
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for {what_for}.")


def _check_of_times(features: Mapping[str, Any], others: Collection[str]) -> None:
    """ValueError for times that are not [batch, window], and for features of other batches or windows."""
    times = features[TrainEvalFeatures.TIMES].shape
    if not times.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{TrainEvalFeatures.TIMES}' (got shape {times})"
        )
    for name, feature in features.items():
        dims = feature.shape if name not in others else None
        if dims is None or dims.ndims is None:
            continue
        if dims.ndims < 2:
            raise ValueError(
                f"Features must have shape (batch dimension, window size, ...) (got rank {dims.ndims} for feature '{name}')"
            )
        if not dims[:2].is_compatible_with(times):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch dimension and window size match "
                f"the '{TrainEvalFeatures.TIMES}' feature (got shape {dims} for feature '{name}' but shape {times} for "
                f"feature '{TrainEvalFeatures.TIMES}')"
            )
