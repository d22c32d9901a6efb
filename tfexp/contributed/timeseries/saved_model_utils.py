"""Saved models of series, used in a session. Source: `tf.contrib.timeseries.saved_model_utils`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.contributed.timeseries.continuing import times_to_predict
from tfexp.contributed.timeseries.feature_keys import FilteringResults, PredictionFeatures, SavedModelLabels, State
from tfexp.contributed.timeseries.head import state_to_dictionary
from tfexp.contributed.timeseries.readers import batched_series


def predict_continuation(
    continue_from: Mapping[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Predictions after an evaluation, or what `cold_start_filter` or `filter_continuation` gave.

    signatures: the meta graph that was loaded into the session. steps, times, exogenous_features: as of
    `tf.contrib.timeseries.predict_continuation_input_fn`.
    """
    features = {PredictionFeatures.TIMES: times_to_predict(times, steps, continue_from), **(exogenous_features or {})}
    return _run(signatures, SavedModelLabels.PREDICT, session, features, continue_from)


def cold_start_filter(signatures: Any, session: Any, features: Mapping[str, Any]) -> dict[str, Any]:
    """The state after a series' beginning, `times` and `values` [batch, window, ...], in its parts, and the times."""
    return _run(signatures, SavedModelLabels.COLD_START_FILTER, session, batched_series(features), {})


def filter_continuation(
    continue_from: Mapping[str, Any], signatures: Any, session: Any, features: Mapping[str, Any]
) -> dict[str, Any]:
    """The same after more of the series."""
    return _run(signatures, SavedModelLabels.FILTER, session, batched_series(features), continue_from)


def _run(
    signatures: Any, label: str, session: Any, features: Mapping[str, Any], continue_from: Mapping[str, Any]
) -> dict[str, Any]:
    signature = signatures.signature_def[label]
    state = continue_from
    if State.STATE_TUPLE in continue_from:
        state = state_to_dictionary(continue_from[State.STATE_TUPLE])
    parts = {name: value for name, value in state.items() if name.startswith(State.STATE_PREFIX)}
    fed = {signature.inputs[name].name: value for name, value in {**parts, **features}.items()}
    found: dict[str, Any] = session.run({name: info.name for name, info in signature.outputs.items()}, fed)
    return {**found, FilteringResults.TIMES: features[FilteringResults.TIMES]}
