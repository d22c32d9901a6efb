"""Keras's optimizers: TensorFlow's steps, and what is theirs (names, variables, configurations, errors)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.optimizers.optimizer_cases import CASES, RECORDING, SCHEDULES, key, rates, trajectories
from tfexp.keras.optimizers import schedules

RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))
optimizers = tf.keras.optimizers


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {json.dumps(case[1])}")
def test_steps_are_tensorflow_s(case: Any) -> None:
    for kind, values in trajectories(tf, *case).items():
        np.testing.assert_allclose(values, RECORDED[key(*case, kind)], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "options"), [(name, options) for name, group in SCHEDULES.items() for options in group])
def test_rates_are_tensorflow_s(name: str, options: dict[str, Any]) -> None:
    found = rates(tf, schedules, name, options)
    np.testing.assert_allclose(found, RECORDED[key(name, options, "rates")], rtol=1e-6)
