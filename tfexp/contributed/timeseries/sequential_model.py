"""Models that go through a series time by time. Source: `tf.contrib.timeseries.python.timeseries.model`, TF 1.15."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures, without
from tfexp.contributed.timeseries.model import ModelOutputs, TimeSeriesModel
from tfexp.core import dtypes, nest
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import rank, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_mean
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import variable_scope

# (the number of the step, its times [batch], the state) to (the state after it, outputs by name)
Step = Callable[[Any, Tensor, Any], tuple[Any, dict[str, Any]]]
_LOSS = "loss"


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model whose state is predicted from one time to the next and corrected by what is observed there.

    train_output_names, predict_output_names: what `_filtering_step` and `_prediction_step` give beside the loss.
    normalize_features: values are scaled by the statistics of the input before the steps see them, and predictions back
    after them. exogenous_update_condition(times=, features=): which of a batch take them in, a boolean [batch].
    static_unrolling_window_size_threshold: windows of a known size up to this are unrolled rather than looped over.
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = dtypes.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ):
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._train_output_names, self._predict_output_names = list(train_output_names), list(predict_output_names)
        self._normalize_features = normalize_features
        self._exogenous_update_condition = exogenous_update_condition
        self._unrolled_up_to = static_unrolling_window_size_threshold

    # --- what subclasses define --------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _filtering_step(self, current_times: Tensor, current_values: Tensor, state: Any, predictions: dict[str, Any]) -> Any:
        """(the state corrected by the values, outputs by name with `loss`, a number for each of the batch)."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Tensor, state: Any) -> Any:
        """(the state at these times, predictions by name)."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Tensor, state: Any) -> Any:
        """The state, brought over times without observations."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times: Tensor, current_exogenous_regressors: Tensor, state: Any) -> Any:
        """The state that has taken exogenous features [batch, n] in."""

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """Predictions in the scale of the input; NotImplementedError where a normalised model does not say how."""
        raise NotImplementedError(
            f"{type(self).__name__} normalizes its input (normalize_features=True) and does not define "
            "`_scale_back_predictions`, which brings the predictions back to the input's scale"
        )

    def _loss_additions(self, times: Tensor, values: Tensor, mode: str) -> Any:
        """What the loss has beside the mean over the observations, such as a regularization."""
        return 0.0

    def _window_initializer(self, times: Tensor, state: Any) -> None:
        """Called before the steps of each window."""

    # --- windows -----------------------------------------------------------------------------------------------------------

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        times, values = features[TrainEvalFeatures.TIMES], features[TrainEvalFeatures.VALUES]
        last = nest.map_structure(lambda part: part[:, -1], states)
        return ModelOutputs(loss, last, {**outputs, "observed": values}, times)

    def per_step_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> tuple[Any, Any, dict[str, Any]]:
        """(the mean loss of the observations, the states [batch, window, ...] after each, outputs [batch, window, ...])."""
        self._check_graph_initialized()
        times = cast(features[TrainEvalFeatures.TIMES], dtypes.int64)
        values = cast(features[TrainEvalFeatures.VALUES], self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        take_exogenous = self._exogenous_update(
            times, without(features, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE)
        )

        def step(number: Any, current_times: Tensor, state: Any) -> tuple[Any, dict[str, Any]]:
            state, predictions = self._prediction_step(current_times, take_exogenous(number, current_times, state))
            filtered: tuple[Any, dict[str, Any]] = self._filtering_step(current_times, values[:, number], state, predictions)
            return filtered

        states, outputs = self._steps(times, state, step, [_LOSS, *self._train_output_names])
        losses = outputs.pop(_LOSS)
        losses.set_shape(times.shape)
        loss = reduce_mean(losses) + self._loss_additions(times, values, mode)
        return loss, states, self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        times = convert_to_tensor(features[PredictionFeatures.TIMES], dtypes.int64)
        take_exogenous = self._exogenous_update(
            times, without(features, PredictionFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE)
        )

        def step(number: Any, current_times: Tensor, state: Any) -> tuple[Any, dict[str, Any]]:
            taken = take_exogenous(number, current_times, state)
            predicted: tuple[Any, dict[str, Any]] = self._prediction_step(current_times, taken)
            return predicted

        start = features[PredictionFeatures.STATE_TUPLE]
        _, predictions = self._steps(times, start, step, self._predict_output_names)
        return self._scale_back_predictions(predictions) if self._normalize_features else predictions

    def _exogenous_update(self, times: Tensor, features: dict[str, Any]) -> Callable[[Any, Tensor, Any], Any]:
        """What takes the exogenous features of a step into the state."""
        regressors = self._process_exogenous_features(times, features)

        def update(number: Any, current_times: Tensor, state: Any) -> Any:
            if regressors is None:
                return state
            taken = self._exogenous_input_step(current_times, regressors[:, number], state)
            if self._exogenous_update_condition is None:
                return taken
            of_step = {name: feature[:, number] for name, feature in features.items()}
            holds = self._exogenous_update_condition(times=current_times, features=of_step)
            chosen = [where(holds, *both) for both in zip(nest.flatten(taken), nest.flatten(state), strict=True)]
            return nest.pack_sequence_as(state, chosen)

        return update

    def _steps(self, times: Any, state: Any, step: Step, names: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """(the states, the outputs of these names) of each time, [batch, window, ...]."""
        self._window_initializer(times, state)
        start, width = nest.flatten(state), times.shape[1].value

        def advance(number: Any, flat: Sequence[Any], reuse: bool | None = None) -> tuple[list[Any], list[Any]]:
            with variable_scope("state_update_step", reuse=reuse):
                now = times[:, number]
                before = self._imputation_step(now, nest.pack_sequence_as(state, list(flat)))
                after, outputs = step(number, now, before)
            if set(outputs) != set(names):
                raise ValueError(f"{type(self).__name__}: a step gives {sorted(outputs)}, and {sorted(names)} were declared")
            ends = nest.flatten(after)
            for end, part in zip(ends, start, strict=True):
                end.set_shape(part.shape)
            return ends, [outputs[name] for name in names]

        if self._unrolled_up_to is not None and width is not None and width <= self._unrolled_up_to:
            columns = _unrolled(advance, start, width)
        else:
            columns = _looped(advance, start, shape(times)[1], [self.dtype] * len(names))
        states = nest.pack_sequence_as(state, columns[: len(start)])
        return states, dict(zip(names, columns[len(start) :], strict=True))


def _unrolled(advance: Callable[..., tuple[list[Any], list[Any]]], state: list[Any], width: int) -> list[Tensor]:
    rows = []
    for number in range(width):
        state, outputs = advance(constant(number), state, reuse=number > 0)
        rows.append([*state, *outputs])
    return [stack(column, axis=1) for column in zip(*rows, strict=True)]


def _looped(
    advance: Callable[..., tuple[list[Any], list[Any]]], state: list[Any], width: Any, output_dtypes: list[Any]
) -> list[Tensor]:
    def body(number: Any, state: list[Any], kept: list[TensorArray]) -> tuple[Any, list[Any], list[TensorArray]]:
        ends, outputs = advance(number, state)
        return number + 1, ends, [array.write(number, value) for array, value in zip(kept, [*ends, *outputs], strict=True)]

    arrays = [TensorArray(dtype, size=width) for dtype in [*(part.dtype for part in state), *output_dtypes]]
    _, _, kept = while_loop(lambda number, *_: number < width, body, [constant(0), list(state), arrays])
    return [_batch_first(array.stack()) for array in kept]


def _batch_first(stacked: Tensor) -> Tensor:
    return transpose(stacked, concat([[1, 0], range_(2, rank(stacked))], 0))
