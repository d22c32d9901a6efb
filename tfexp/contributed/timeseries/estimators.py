"""Estimators of time series. Source: `tf.contrib.timeseries.{TimeSeriesRegressor,ARRegressor}`, TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.contributed.timeseries import serving
from tfexp.contributed.timeseries.ar_model import AnomalyMixtureARModel, ARModel
from tfexp.contributed.timeseries.head import OneShotPredictionHead, TimeSeriesRegressionHead
from tfexp.contributed.timeseries.input_statistics import InputStatisticsFromMiniBatch
from tfexp.contributed.timeseries.model import TimeSeriesModel
from tfexp.contributed.timeseries.prediction_networks import FlatPredictionModel, LSTMPredictionModel
from tfexp.contributed.timeseries.states import FilteringOnlyStateManager, PassthroughStateManager
from tfexp.core import dtypes
from tfexp.estimator.canned.optimizers import optimizer_of
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.receivers import ServingInputReceiver
from tfexp.estimator.run_config import RunConfig
from tfexp.train.adagrad import AdagradOptimizer
from tfexp.train.adam import AdamOptimizer


class TimeSeriesRegressor(Estimator):
    """An estimator around a model of series; see `TimeSeriesRegressionHead` for what it gives.

    state_manager: by default what such a model does with states, `FilteringOnlyStateManager` for windows and
    `PassthroughStateManager` for others; optimizer: by default Adam at 0.02.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: RunConfig | None = None,
        head_type: Callable[..., TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ):
        if state_manager is None:
            state_manager = FilteringOnlyStateManager() if isinstance(model, ARModel) else PassthroughStateManager()
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=AdamOptimizer(0.02) if optimizer is None else optimizer,
            input_statistics_generator=InputStatisticsFromMiniBatch(model.num_features, model.dtype),
        )
        self._model_of_series = model
        super().__init__(head.create_estimator_spec, model_dir, config)

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Callable[[], ServingInputReceiver]:
        """For `OneShotPredictionHead`: serialized examples of the times seen and, after them, those to predict.

        values_input_dtype: of the values in the examples, float32 by default; truncate_values: these have values of the
        times to predict, too, which are not used.
        """
        length = filtering_length + prediction_length
        return lambda: serving.parsing_receiver(
            self._model_of_series,
            filtering_length,
            length,
            length if truncate_values else filtering_length,
            dtypes.float32 if values_input_dtype is None else values_input_dtype,
            default_batch_size,
        )

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], ServingInputReceiver]:
        """Features and state as they are, of any batch and length unless they are given here."""
        return lambda: serving.raw_receiver(self._model_of_series, default_batch_size, default_series_length)


class ARRegressor(TimeSeriesRegressor):
    """The estimator of `ARModel` with `FlatPredictionModel`, or of `AnomalyMixtureARModel`; by default by Adagrad at 0.1.

    ValueError for an `anomaly_distribution` without `anomaly_prior_probability`, and for anomalies under squared loss.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: RunConfig | None = None,
    ):
        common: dict[str, Any] = {
            "periodicities": periodicities,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
            "num_features": num_features,
            "prediction_model_factory": functools.partial(FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes),
            "num_time_buckets": num_time_buckets,
            "exogenous_feature_columns": exogenous_feature_columns,
        }
        model: ARModel
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError("anomaly_prior_probability is required if anomaly_distribution is specified.")
            model = ARModel(loss=loss, **common)
        elif loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError("AnomalyMixtureARModel only supports ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument.")
        else:
            distribution = anomaly_distribution or AnomalyMixtureARModel.GAUSSIAN_ANOMALY
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability, anomaly_distribution=distribution, **common
            )
        optimizer = AdagradOptimizer(0.1) if optimizer is None else optimizer
        super().__init__(model, FilteringOnlyStateManager(), optimizer, model_dir, config)


class LSTMAutoRegressor(TimeSeriesRegressor):
    """The estimator of `ARModel` with `LSTMPredictionModel`, whose saved model is that of `OneShotPredictionHead`.

    num_timesteps: the model's `num_time_buckets`; optimizer: one, or a name, at 0.01.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        model_dir: str | None = None,
        num_features: int = 1,
        extra_feature_columns: Sequence[Any] | None = None,
        num_timesteps: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units: int = 128,
        optimizer: Any = "Adam",
        config: RunConfig | None = None,
    ):
        model = ARModel(
            periodicities,
            input_window_size,
            output_window_size,
            num_features,
            functools.partial(LSTMPredictionModel, num_units=num_units),
            num_timesteps,
            loss,
            extra_feature_columns,
        )
        super().__init__(
            model, FilteringOnlyStateManager(), optimizer_of(optimizer, 0.01), model_dir, config, OneShotPredictionHead
        )
