"""Autoregressive models of windows. Source: `tf.contrib.timeseries.python.timeseries.ar_model`, TF 1.15."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures, without
from tfexp.contributed.timeseries.input_statistics import InputStatistics
from tfexp.contributed.timeseries.model import ModelOutputs, TimeSeriesModel
from tfexp.contributed.timeseries.prediction_networks import FlatPredictionModel
from tfexp.core import dtypes
from tfexp.estimator.modes import ModeKeys
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like, zeros, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.array_pad import pad
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.elementwise_binary import maximum, squared_difference
from tfexp.ops.elementwise_unary import exp, log, log1p, sqrt, square
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.nn_activation import relu
from tfexp.ops.reduce import reduce_mean
from tfexp.ops.reduce_composite import reduce_logsumexp
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import get_variable, variable_scope

_SMALLEST_VARIANCE = 1e-5


class ARModel(TimeSeriesModel):
    """What `output_window_size` values are, from the `input_window_size` before them, the time and exogenous features.

    periodicities: one or more periods; each gives, of its `num_time_buckets` parts, which one a time is in and how far.
    loss: `NORMAL_LIKELIHOOD_LOSS`, under which the model has a variance for each value, or `SQUARED_LOSS`.
    prediction_model_factory(num_features=, input_window_size=, output_window_size=) gives the network: see
    `FlatPredictionModel`. Longer stretches are predicted window by window, each from the predictions before it.
    AssertionError for no buckets, periods that are not positive, an output window of nothing, neither periods nor an input
    window, and another loss.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        super().__init__(num_features, exogenous_feature_columns)
        self._model_factory = prediction_model_factory
        self.input_window_size, self.output_window_size = input_window_size, output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        self.exogenous_size = self._get_exogenous_embedding_shape()[-1]
        self._buckets = int(num_time_buckets)
        periods = periodicities if isinstance(periodicities, list | tuple) else [periodicities] if periodicities else []
        self._periodicities = [int(period) for period in periods]
        self._check_sizes()

    def _check_sizes(self) -> None:
        if self._buckets <= 0 or self.output_window_size <= 0 or any(period <= 0 for period in self._periodicities):
            raise AssertionError(
                "ARModel: num_time_buckets, output_window_size and all periodicities must be positive, given "
                f"{self._buckets}, {self.output_window_size} and {self._periodicities}"
            )
        if not self._periodicities and not self.input_window_size:
            raise AssertionError("ARModel predicts from an input window or from periodicities: give one of them")
        if self.loss not in (self.SQUARED_LOSS, self.NORMAL_LIKELIHOOD_LOSS):
            raise AssertionError(f"ARModel: loss must be SQUARED_LOSS or NORMAL_LIKELIHOOD_LOSS, given {self.loss!r}")

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        super().initialize_graph(input_statistics)
        self._network = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> tuple[Tensor, Tensor, Tensor]:
        """The times, scaled values and exogenous features of the last input window: zeros."""
        return (
            zeros([self.input_window_size], dtypes.int64),
            zeros([self.input_window_size, self.num_features], self.dtype),
            zeros([self.input_window_size, self.exogenous_size], self.dtype),
        )

    def prediction_ops(self, times: Tensor, values: Any, exogenous_regressors: Tensor) -> dict[str, Any]:
        """What the network says of an output window: `mean` and `covariance`, in the scale of the statistics.

        times: [batch, window_size]; values: [batch, input_window_size, num_features], scaled; exogenous_regressors: [batch,
        window_size, n].
        """
        of_times = self._time_features(times)
        seen = self.input_window_size
        seen_features = concat([of_times[:, :seen], values, exogenous_regressors[:, :seen]], 2)
        to_come = concat([of_times[:, seen:], exogenous_regressors[:, seen:]], 2)
        width = self._buckets * len(self._periodicities) + self.exogenous_size
        seen_features.set_shape([None, seen, width + self.num_features])
        to_come.set_shape([None, self.output_window_size, width])
        with variable_scope("model/", use_resource=True):  # a scope of names as it stands, wherever the model is used
            predictions: dict[str, Any] = self._network(seen_features, to_come)
        for predicted in predictions.values():
            predicted.set_shape([None, self.output_window_size, self.num_features])
        return predictions

    def loss_op(self, targets: Tensor, prediction_ops: Mapping[str, Any]) -> Tensor:
        """The mean over all values of the output windows."""
        if self.loss == self.SQUARED_LOSS:
            return reduce_mean(squared_difference(prediction_ops["mean"], targets))
        return -reduce_mean(_normal_log_density(targets, prediction_ops["mean"], prediction_ops["covariance"]))

    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        """In training of windows of `window_size`, in evaluation of all output windows that fit into a series, at its end.

        ValueError for times of another, or of a smaller, shape.
        """
        series = {name: convert_to_tensor(feature) for name, feature in features.items()}
        times = cast(series[TrainEvalFeatures.TIMES], dtypes.int64)
        values = cast(series[TrainEvalFeatures.VALUES], self.dtype)
        given = without(series, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE)
        exogenous = self._process_exogenous_features(times, given)
        if mode == ModeKeys.TRAIN:
            self._check_window(times)
            loss, predictions = self._window_loss(times, values, exogenous, mode)
            last: Any = self.output_window_size
        elif mode == ModeKeys.EVAL:
            self._check_series(times)
            count = (shape(times)[1] - self.input_window_size) // self.output_window_size
            fitting = count * self.output_window_size + self.input_window_size
            cut = [self._windows(part[:, -fitting:], count) for part in (times, values, exogenous)]
            loss, predictions = self._window_loss(cut[0], cut[1], cut[2], mode)
            whole = [shape(times)[0], count * self.output_window_size, self.num_features]
            predictions = {name: reshape(part, whole) for name, part in predictions.items()}
            last = count * self.output_window_size
        else:
            raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")
        observed = slice(-last, None)
        predictions["observed"] = values[:, observed]
        end = self._state_after(state, times, self._scale_data(values), exogenous)
        return ModelOutputs(loss, end, predictions, times[:, observed])

    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """`mean` and `covariance` [batch, times, num_features], in the input's scale."""
        if not self._graph_initialized:
            self.initialize_graph()
        to_come = cast(features[PredictionFeatures.TIMES], dtypes.int64)
        names = (PredictionFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE)
        exogenous = self._process_exogenous_features(to_come, without(features, *names))
        with control_dependencies([assert_equal(shape(to_come)[1], shape(exogenous)[1])]):
            exogenous = identity(exogenous)
        wanted = shape(to_come)[1]
        count = -(-wanted // self.output_window_size)
        missing = count * self.output_window_size - wanted
        seen_times, seen_values, seen_exogenous = features[PredictionFeatures.STATE_TUPLE]
        times = concat([cast(seen_times, dtypes.int64), pad(to_come, [[0, 0], [0, missing]])], 1)
        regressors = concat([cast(seen_exogenous, self.dtype), pad(exogenous, [[0, 0], [0, missing], [0, 0]])], 1)
        predictions = self._window_by_window(times, cast(seen_values, self.dtype), regressors, count)
        predictions = {name: _side_by_side(windows)[:, :wanted] for name, windows in predictions.items()}
        if self.loss == self.SQUARED_LOSS:
            predictions["covariance"] = ones_like(predictions["mean"])
        return self._scaled_back(predictions)

    def _window_by_window(self, times: Tensor, values: Tensor, regressors: Tensor, count: Any) -> dict[str, Tensor]:
        """The predictions of each output window [windows, batch, output_window_size, num_features], from those before it."""
        names = ("mean", "covariance")
        values.set_shape([None, self.input_window_size, self.num_features])

        def body(number: Any, before: Tensor, kept: list[TensorArray]) -> tuple[Any, Tensor, list[TensorArray]]:
            begin = number * self.output_window_size
            window = slice(begin, begin + self.window_size)
            found = self.prediction_ops(times[:, window], before, regressors[:, window])
            after = concat([before, found["mean"]], 1)[:, self.output_window_size :]
            after.set_shape(before.shape)
            return number + 1, after, [array.write(number, found[name]) for array, name in zip(kept, names, strict=True)]

        arrays = [TensorArray(self.dtype, size=count) for _ in names]
        _, _, kept = while_loop(lambda number, *_: number < count, body, [constant(0), values, arrays])
        return {name: array.stack() for name, array in zip(names, kept, strict=True)}

    def _window_loss(self, times: Tensor, values: Tensor, exogenous: Tensor, mode: str) -> tuple[Tensor, dict[str, Any]]:
        """(the loss of windows, what is predicted of them in the input's scale)."""
        scaled = self._scale_data(values)
        found = self.prediction_ops(times, scaled[:, : self.input_window_size], exogenous)
        targets = scaled[:, self.input_window_size :]
        targets.shape.assert_is_compatible_with(found["mean"].shape)
        predictions = self._scaled_back({name: found[name] for name in ("mean", "covariance")})
        if mode == ModeKeys.EVAL and self.loss == self.SQUARED_LOSS:  # an evaluation tells it in the input's scale
            return self.loss_op(self._scale_back_data(targets), {"mean": predictions["mean"]}), predictions
        return self.loss_op(targets, found), predictions

    def _windows(self, series: Tensor, count: Any) -> Tensor:
        """[batch, time, ...] as [batch * count, window_size, ...]: windows whose outputs lie side by side."""
        begins = range_(count) * self.output_window_size
        where_they_are = expand_dims(begins, 1) + range_(self.window_size)
        windows = gather(series, where_they_are, axis=1)
        return reshape(windows, concat([[-1, self.window_size], shape(series)[2:]], 0))

    def _state_after(self, state: Any, times: Tensor, scaled: Tensor, exogenous: Tensor) -> tuple[Tensor, ...]:
        """The last input window of what was known and what has come."""
        size = self.input_window_size
        known = zip(state, (times, scaled, exogenous), self.get_start_state(), strict=True)
        ends = []
        for before, now, start in known:
            joined = concat([before, now], 1)
            ends.append(joined[:, shape(joined)[1] - size :])
            ends[-1].set_shape([None, *start.shape.as_list()])
        return tuple(ends)

    def _scaled_back(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "mean": self._scale_back_data(predictions["mean"]),
            "covariance": self._scale_back_variance(predictions["covariance"]),
        }

    def _time_features(self, times: Tensor) -> Tensor:
        """[batch, window, periods * buckets]: of each period the part that a time is in, as how far it is into it."""
        dims = shape(times)
        if not self._periodicities:
            return zeros([dims[0], dims[1], 0], self.dtype)
        periods = constant(self._periodicities, times.dtype)
        phase = cast(expand_dims(times, 2) % periods, self.dtype) * self._buckets / cast(periods, self.dtype)
        into = relu(expand_dims(phase, 3) - range_(self._buckets, dtype=self.dtype))
        inside = where(into < 1.0, into, zeros_like(into))
        return reshape(inside, [dims[0], dims[1], self._buckets * len(self._periodicities)])

    def _process_exogenous_features(self, times: Tensor, features: Mapping[str, Any]) -> Tensor:
        found = super()._process_exogenous_features(times, features)
        return zeros(concat([shape(times), [0]], 0), self.dtype) if found is None else found

    def _check_window(self, times: Tensor) -> None:
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and output_window_size={self.output_window_size} "
                f"trains on '{TrainEvalFeatures.TIMES}' of shape (batch_size, {self.window_size}), given {times.shape}: "
                f"make windows of window_size={self.window_size} (RandomWindowInputFn), or choose other sizes for the model"
            )

    def _check_series(self, times: Tensor) -> None:
        length = times.shape.with_rank(2)[1].value
        if length is not None and length < self.window_size:
            raise ValueError(
                f"ARModel requires a window of at least input_window_size + output_window_size = {self.input_window_size} + "
                f"{self.output_window_size} times to evaluate on, given '{TrainEvalFeatures.TIMES}' of shape {times.shape} "
                "(batch size, window size)"
            )


class AnomalyMixtureARModel(ARModel):
    """One under which a value is, with `anomaly_prior_probability`, from a broader distribution: normal or Cauchy.

    AssertionError for a probability that is not between 0 and 1, and for another distribution.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        if not 0.0 < anomaly_prior_probability < 1.0:
            raise AssertionError(f"anomaly_prior_probability must be between 0 and 1, given {anomaly_prior_probability}")
        if anomaly_distribution not in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY):
            raise AssertionError(f"anomaly_distribution must be 'gaussian' or 'cauchy', given {anomaly_distribution!r}")
        self._prior, self._distribution = anomaly_prior_probability, anomaly_distribution
        super().__init__(
            periodicities,
            input_window_size,
            output_window_size,
            num_features,
            prediction_model_factory,
            num_time_buckets,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(self, times: Tensor, values: Any, exogenous_regressors: Tensor) -> dict[str, Any]:
        found = super().prediction_ops(times, values, exogenous_regressors)
        scale = get_variable("anomaly_log_param", [], self.dtype, zeros_initializer())
        return {**found, "anomaly_params": exp(scale)}

    def loss_op(self, targets: Tensor, prediction_ops: Mapping[str, Any]) -> Tensor:
        mean, scale = prediction_ops["mean"], prediction_ops["anomaly_params"]
        usual = _normal_log_density(targets, mean, prediction_ops["covariance"])
        if self._distribution == self.GAUSSIAN_ANOMALY:
            anomalous = _normal_log_density(targets, mean, scale)
        else:
            anomalous = -math.log(math.pi) - log(scale) - log1p(square((mean - targets) / scale))
        both = [usual + math.log(1 - self._prior), anomalous + math.log(self._prior)]
        return -reduce_mean(reduce_logsumexp(both, 0))


def _normal_log_density(x: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    """As TensorFlow has it: half of the deviation's logarithm, where a normal distribution has all of it."""
    sigma = sqrt(maximum(variance, _SMALLEST_VARIANCE))
    return -0.5 * (square((x - mean) / sigma) + math.log(2.0 * math.pi) + log(sigma))


def _side_by_side(windows: Tensor) -> Tensor:
    """[windows, batch, width, features] as [batch, windows * width, features]."""
    count, batch, width, features = (shape(windows)[axis] for axis in range(4))
    return reshape(transpose(windows, [1, 0, 2, 3]), [batch, count * width, features])
