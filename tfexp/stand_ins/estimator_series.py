"""`tensorflow_estimator.python.estimator.canned.timeseries`: what differs from `tf.contrib.timeseries`. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.contributed.timeseries import ar_model
from tfexp.contributed.timeseries.prediction_networks import LSTMPredictionModel


class ARModel(ar_model.ARModel):
    """The same with a recurrent network, where none is given."""

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = LSTMPredictionModel,
        num_time_buckets: int = 10,
        loss: str = ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        super().__init__(
            periodicities,
            input_window_size,
            output_window_size,
            num_features,
            prediction_model_factory,
            num_time_buckets,
            loss,
            exogenous_feature_columns,
        )
