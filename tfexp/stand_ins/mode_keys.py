"""`tensorflow.python.saved_model.model_utils.mode_keys`: what Keras and estimators call modes. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfexp.estimator.modes import ModeKeys as EstimatorModeKeys


class KerasModeKeys:
    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


def is_train(mode: str) -> bool:
    return mode in (KerasModeKeys.TRAIN, EstimatorModeKeys.TRAIN)


def is_eval(mode: str) -> bool:
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_predict(mode: str) -> bool:
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


class ModeKeyMap(Mapping[str, Any]):
    """Something for each mode, found by either name of it. ValueError for what is no mode, and for two of one mode."""

    def __init__(self, **kwargs: Any):
        self._by_mode: dict[str, Any] = {}
        self._given = list(kwargs)
        for key, value in kwargs.items():
            mode = self._mode(key)
            if mode in self._by_mode:
                raise ValueError(f"Error creating ModeKeyMap. Multiple keys/values found for {mode} mode.")
            self._by_mode[mode] = value

    def _mode(self, key: str) -> str:
        for holds, mode in ((is_train, "train"), (is_eval, "test"), (is_predict, "predict")):
            if holds(key):
                return mode
        raise ValueError(f"Invalid mode key: {key}.")

    def __getitem__(self, key: str) -> Any:
        return self._by_mode[self._mode(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)
