"""K-means and its kin do what TensorFlow 1.15's do: `python -m tests.golden.record_older_estimators`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tests.golden.older_estimator_cases import CASES, RECORDING

RECORDED = json.loads(RECORDING.read_text())


@pytest.mark.parametrize("name", CASES)
def test_a_training_gives_what_tensorflows_gives(name: str, tmp_path: Path) -> None:
    made, expected = CASES[name](tf, str(tmp_path)), RECORDED[name]
    assert made.keys() == expected.keys()
    for key, value in expected.items():
        if key == "names":
            assert made[key] == value
            continue
        np.testing.assert_allclose(made[key], value, rtol=2e-4, atol=2e-5, err_msg=key)
