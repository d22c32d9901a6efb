"""Canned estimators and heads do what TensorFlow 2.15's do: `python -m tests.golden.record_estimators`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tests.golden.estimator_cases import CASES, RECORDING, outcome

RECORDED = json.loads(RECORDING.read_text())


@pytest.mark.parametrize("name", CASES)
def test_variables_metrics_predictions_summaries_and_signatures_are_tensorflows(name: str, tmp_path: Path) -> None:
    expected, made = RECORDED[name], outcome(tf, CASES[name], str(tmp_path))
    for part in ("variables", "metrics", "prediction"):
        assert made[part].keys() == expected[part].keys()
        for key, value in expected[part].items():
            if isinstance(value, list) and value and isinstance(value[0], str):
                assert made[part][key] == value
            else:
                np.testing.assert_allclose(made[part][key], value, rtol=2e-4, atol=2e-6, err_msg=f"{part} {key}")
    assert made["tags"] == expected["tags"]
    assert made["signatures"] == expected["signatures"]
