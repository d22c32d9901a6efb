"""What a model of time series is. Source: `tf.contrib.timeseries.python.timeseries.model`, TF 1.15."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfexp.contributed.timeseries.feature_keys import TrainEvalFeatures
from tfexp.contributed.timeseries.input_statistics import InputStatistics
from tfexp.core import dtypes, nest
from tfexp.feature_column.model import input_layer, make_parse_example_spec
from tfexp.graph.graph import Graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, rank, reshape, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_identity import placeholder
from tfexp.ops.array_join import concat
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.parsing import parse_example


class ModelOutputs(NamedTuple):
    """What comes of observations: a scalar loss, the state after them, what was predicted, by name, and for which times."""

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


class TimeSeriesModel(abc.ABC):
    """A model of series of `num_features` values of `dtype` at each time.

    exogenous_feature_columns: feature columns of what else is known at each time, also of the times to predict.
    `initialize_graph` comes first in each graph; what uses the model before is a ValueError.
    """

    def __init__(
        self, num_features: int, exogenous_feature_columns: Sequence[Any] | None = None, dtype: Any = dtypes.float32
    ):
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features, self.dtype = num_features, dtype
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self) -> Sequence[Any]:
        return self._exogenous_feature_columns

    def parsed_exogenous_features(self) -> dict[str, Any]:
        """The features that the columns want, as `tf.parse_example` would give them, in the default graph."""
        columns = self._exogenous_feature_columns
        if not columns:
            return {}
        found: dict[str, Any] = parse_example(placeholder(dtypes.string, [None]), make_parse_example_spec(columns))
        return found

    def generate(
        self, number_of_series: int, series_length: int, model_parameters: Any = None, seed: int | None = None
    ) -> dict[str, Any]:
        """Series drawn from the model, as features. NotImplementedError where a model does not say how."""
        raise NotImplementedError(f"{type(self).__name__} does not generate series: it does not define `generate`")

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Makes what all uses of the model in the default graph share; the statistics are what values are scaled by."""
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics is not None:
            self._stats_means, variance = input_statistics.overall_feature_moments
            self._stats_sigmas = sqrt(variance)

    def define_loss(self, features: dict[str, Any], mode: str) -> ModelOutputs:
        """`get_batch_loss` from the start state."""
        self._check_graph_initialized()
        batch_size = shape(features[TrainEvalFeatures.TIMES])[0]
        return self.get_batch_loss(features, mode, replicate_state(self.get_start_state(), batch_size))

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state before a series begins, without a batch dimension."""

    @abc.abstractmethod
    def get_batch_loss(self, features: dict[str, Any], mode: str, state: Any) -> ModelOutputs:
        """What comes of `times` [batch, window] and `values` [batch, window, num_features] after states [batch, ...]."""

    @abc.abstractmethod
    def predict(self, features: dict[str, Any]) -> dict[str, Any]:
        """Predictions, by name, for `times` [batch, window] from the states of `start_tuple`."""

    def _scale_data(self, data: Any) -> Any:
        return data if self._input_statistics is None else (data - self._stats_means) / self._stats_sigmas

    def _scale_back_data(self, data: Any) -> Any:
        return data if self._input_statistics is None else data * self._stats_sigmas + self._stats_means

    def _scale_back_variance(self, variance: Any) -> Any:
        known = self._input_statistics
        return variance if known is None else variance * known.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                f"{type(self).__name__}: call initialize_graph() before the model is used in a graph. It makes what the "
                "uses share, and says which statistics of the input there are."
            )

    def _get_exogenous_embedding_shape(self) -> Any:
        """The shape of what the exogenous features of one time become: `(0,)` where there are none."""
        if not self._exogenous_feature_columns:
            return (0,)
        with Graph().as_default():
            return input_layer(self.parsed_exogenous_features(), self._exogenous_feature_columns).shape.as_list()[1:]

    def _process_exogenous_features(self, times: Tensor, features: Mapping[str, Any]) -> Tensor | None:
        """Features [batch, window, ...] as numbers [batch, window, n], or None where the model has none.

        ValueError for a feature of unknown rank.
        """
        if not self._exogenous_feature_columns:
            return None
        rows = input_layer(
            {name: _rows(name, feature) for name, feature in features.items()},
            self._exogenous_feature_columns,
            trainable=True,
        )
        numbers = reshape(rows, concat([shape(times), shape(rows)[1:]], 0))
        numbers.set_shape(times.shape.concatenate(rows.shape[1:]))
        return cast(numbers, self.dtype)


def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """The state, once for each of a batch."""

    def repeated(part: Any) -> Tensor:
        multiples = concat([[batch_size], ones([rank(part)], dtypes.int32)], 0)
        return tile(expand_dims(part, 0), multiples)

    return nest.map_structure(repeated, start_state)


def _rows(name: str, feature: Tensor) -> Tensor:
    """[batch, window, ...] as [batch * window, ...]; a number for each time as a column of them."""
    if feature.shape.ndims is None:
        raise ValueError(f"Features with unknown rank are not supported. Got shape {feature.shape} for feature {name}.")
    dims = shape(feature)
    rows = reshape(feature, concat([[dims[0] * dims[1]], dims[2:]], 0))
    return expand_dims(rows, 1) if feature.shape.ndims == 2 and feature.dtype != dtypes.string else rows
