"""Networks from windows to what comes after them. Source: `tf.contrib.timeseries.python.timeseries.ar_model`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.contributed.rnn.block import LSTMBlockFusedCell
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.sequential import Sequential
from tfexp.keras.layers.dense import Dense
from tfexp.keras.layers.reshaping import Flatten
from tfexp.ops.array import reshape
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.elementwise_unary import exp
from tfexp.ops.nn_activation import relu


class FlatPredictionModel(Model):
    """Layers of `hidden_layer_sizes`, if any, then a linear one, over all numbers of both windows at once."""

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ):
        super().__init__()
        self._input_flatten, self._output_flatten = Flatten(), Flatten()
        self._hidden_layers = None
        if hidden_layer_sizes:
            self._hidden_layers = Sequential([Dense(width, activation=relu) for width in hidden_layer_sizes])
        self._mean_transform = Dense(num_features * output_window_size, name="predicted_mean")
        self._covariance_transform = Dense(num_features * output_window_size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(  # type: ignore[override]  # of two windows
        self, input_window_features: Any, output_window_features: Any
    ) -> dict[str, Any]:
        """`mean` and `covariance` (variances) [batch, output window, num_features] of features [batch, window, n]."""
        windows = []
        if input_window_features.shape[1].value != 0:
            windows.append(self._input_flatten(input_window_features))
        if output_window_features.shape[2].value != 0 or not windows:
            windows.append(self._output_flatten(output_window_features))
        hidden = concat(windows, 1)
        if self._hidden_layers is not None:
            hidden = self._hidden_layers(hidden)
        return {
            "mean": reshape(self._mean_transform(hidden), self._prediction_shape),
            "covariance": reshape(exp(self._covariance_transform(hidden)), self._prediction_shape),
        }


class LSTMPredictionModel(Model):
    """An LSTM over the input window, whose state another goes on from over the output window."""

    def __init__(self, num_features: int, input_window_size: int, output_window_size: int, num_units: int = 128):
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units, name="decoder")
        self._mean_transform = Dense(num_features, name="mean_transform")
        self._covariance_transform = Dense(num_features, name="covariance_transform")

    def call(  # type: ignore[override]  # of two windows
        self, input_window_features: Any, output_window_features: Any
    ) -> dict[str, Any]:
        """`mean` and `covariance` (variances) [batch, output window, num_features] of features [batch, window, n]."""
        seen, to_come = (transpose(window, [1, 0, 2]) for window in (input_window_features, output_window_features))
        _, state = self._encoder(seen, dtype=seen.dtype)
        decoded, _ = self._decoder(to_come, initial_state=state, dtype=seen.dtype)
        hidden = transpose(decoded, [1, 0, 2])
        return {"mean": self._mean_transform(hidden), "covariance": exp(self._covariance_transform(hidden))}
