"""What the parts of a series, of a prediction and of a saved model are called. Source: `tf.contrib.timeseries`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class State:
    """The state as one structure, and what the names of its parts begin with where it is fed in parts."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class Times:
    TIMES = "times"


class Values:
    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """What is trained and evaluated with."""


class PredictionFeatures(Times, State):
    """What is predicted from."""


class FilteringFeatures(Times, Values, State):
    """What a state is brought up to date with."""


class PredictionResults(Times):
    """What a prediction has beside what the model says."""


class FilteringResults(Times, State):
    """What an evaluation has beside what the model says."""


class SavedModelLabels:
    """The signatures of a saved model."""

    PREDICT = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"


def without(features: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The features of other names than these."""
    return {name: feature for name, feature in features.items() if name not in names}
