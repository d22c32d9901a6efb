"""What is known of a series from the batches seen so far. Source: `tf.contrib.timeseries`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tfexp.contributed.timeseries.feature_keys import TrainEvalFeatures
from tfexp.core import dtypes, nest
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant
from tfexp.graph.dependencies import group, no_op
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.argmax import argmin
from tfexp.ops.array import shape, size
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.elementwise_rounding import round as round_
from tfexp.ops.elementwise_unary import square
from tfexp.ops.initializers import ones_initializer, zeros_initializer
from tfexp.ops.nn_norm import moments
from tfexp.ops.reduce import reduce_max, reduce_min, reduce_sum
from tfexp.ops.variable_scope import get_variable, variable_scope

_OF_THE_START = 16


class Moments(NamedTuple):
    """Of each feature."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """Tensors or variables: of the values of the series' start and of all; its first time; how many observations it has."""

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """What the statistics are computed from."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


class InputStatisticsFromMiniBatch:
    """The statistics of all batches of `times` [batch, window] and `values` [batch, window, num_features] of training.

    starting_variance_window_size: of how many of the first values the moments of the series' start are.
    """

    def __init__(self, num_features: int, dtype: Any, starting_variance_window_size: int = _OF_THE_START):
        self._num_features, self._dtype, self._at_the_start = num_features, dtype, starting_variance_window_size

    def initialize_graph(self, features: Mapping[str, Any], update_statistics: bool = True) -> InputStatistics:
        """The statistics' variables; or what they are after this batch, if it has values and is to be counted."""
        with variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or not {TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES} <= set(features):
            return statistics
        times = features[TrainEvalFeatures.TIMES]
        values = cast(features[TrainEvalFeatures.VALUES], self._dtype)
        with control_dependencies([self._updated(statistics, sums, times, values)]):
            now: InputStatistics = nest.map_structure(identity, statistics)
        return now._replace(start_time=minimum(now.start_time, reduce_min(times)))

    def _statistics(self) -> InputStatistics:
        def of_features(name: str, initializer: Any) -> Any:
            return _kept(name, self._dtype, initializer, [self._num_features])

        return InputStatistics(
            Moments(
                of_features("series_start_mean", zeros_initializer()),
                of_features("series_start_variance", ones_initializer()),
            ),
            Moments(
                of_features("overall_feature_mean", zeros_initializer()),
                of_features("overall_feature_var", ones_initializer()),
            ),
            _kept("start_time", dtypes.int64, constant(dtypes.int64.max, dtypes.int64)),
            _kept("total_observation_count", dtypes.int64, ones_initializer(), []),
        )

    def _sums(self) -> _Sums:
        def zero(name: str, dtype: Any, *dims: int) -> Any:
            return _kept(name, dtype, zeros_initializer(), dims)

        return _Sums(
            _kept("max_time_seen", dtypes.int64, constant(dtypes.int64.min, dtypes.int64)),
            zero("chunk_count", dtypes.int64),
            zero("inter_observation_duration_sum", self._dtype),
            zero("example_count", dtypes.int64),
            zero("overall_feature_sum", self._dtype, self._num_features),
            zero("overall_feature_sum_of_squares", self._dtype, self._num_features),
        )

    def _updated(self, known: InputStatistics, sums: _Sums, times: Tensor, values: Tensor) -> Any:
        """The operation that counts a batch."""
        span = cast(reduce_max(times, 1) - reduce_min(times, 1), self._dtype)
        counted = group(
            sums.max_time_seen.assign(maximum(sums.max_time_seen, reduce_max(times))),
            sums.chunk_count.assign_add(shape(times, out_type=dtypes.int64)[0]),
            sums.inter_observation_duration_sum.assign_add(reduce_sum(span / cast(shape(times)[1] - 1, self._dtype))),
            sums.example_count.assign_add(size(times, out_type=dtypes.int64)),
            sums.overall_feature_sum.assign_add(reduce_sum(values, [0, 1])),
            sums.overall_feature_sum_of_squares.assign_add(reduce_sum(square(values), [0, 1])),
        )
        begun = self._started(known, times, values)
        with control_dependencies([counted]):
            count = cast(sums.example_count.read_value(), self._dtype)
            mean = sums.overall_feature_sum.read_value() / count
            of_squares = sums.overall_feature_sum_of_squares.read_value() / count
            duration = sums.inter_observation_duration_sum.read_value() / cast(sums.chunk_count.read_value(), self._dtype)
            latest = sums.max_time_seen.read_value()
        with control_dependencies([begun]):
            observed = cast(latest - known.start_time.read_value() + 1, self._dtype)
        return group(
            known.overall_feature_moments.mean.assign(mean),
            known.overall_feature_moments.variance.assign(count / (count - 1.0) * (of_squares - square(mean))),
            known.total_observation_count.assign(cast(round_(observed / duration), dtypes.int64)),
        )

    def _started(self, known: InputStatistics, times: Tensor, values: Tensor) -> Any:
        """The operation that takes the moments of a window that begins where the series does, or before it was known to."""
        first = argmin(times[:, 0])

        def take() -> Any:
            mean, variance = moments(values[first, : self._at_the_start], [0])
            start = known.series_start_moments
            return group(start.mean.assign(mean), start.variance.assign(variance))

        taken = cond(times[first, 0] <= known.start_time, take, no_op)
        with control_dependencies([taken]):
            return known.start_time.assign(minimum(known.start_time, reduce_min(times)))


def _kept(name: str, dtype: Any, initializer: Any, dims: Any = None) -> Any:
    return get_variable(name, dims, dtype, initializer, trainable=False)
