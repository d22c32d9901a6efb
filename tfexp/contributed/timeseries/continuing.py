"""Which times a prediction is for, and its input. Source: `tf.contrib.timeseries`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfexp.contributed.timeseries.feature_keys import FilteringResults, PredictionFeatures
from tfexp.core import nest
from tfexp.train.input import limit_epochs


def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], tuple[dict[str, Any], None]]:
    """The input, once, of predictions after an evaluation: of the next `steps` times, or of `times` [batch, window].

    exogenous_features: arrays [batch, window, ...] of what else is known at these times. ValueError unless one of `steps`
    and `times` is given, and for times that are not after the evaluation's.
    """
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: times_to_predict(times, steps, evaluation),
        **(exogenous_features or {}),
    }

    def input_fn() -> tuple[dict[str, Any], None]:
        once = {
            name: nest.map_structure(lambda value: limit_epochs(value, num_epochs=1), feature)
            for name, feature in features.items()
        }
        return once, None

    return input_fn


def times_to_predict(times: Any, steps: int | None, previous_model_output: Mapping[str, Any]) -> np.ndarray:
    """[batch, window]: `times`, or `steps` of them after those of the output before. ValueError as above."""
    before: np.ndarray = previous_model_output[FilteringResults.TIMES]
    if times is None:
        if steps is None:
            raise ValueError("One of `steps` and `times` must be specified.")
        return before[:, -1:] + 1 + np.arange(steps)[None]
    if steps is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    given = np.array(times)
    given = given if given.ndim == 2 else given[None]
    if len(before) != len(given):
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch dimension of "
            f"{len(given)} for `times` and {len(before)} for the previous model output)."
        )
    if not (before[:, -1] < given[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return given
