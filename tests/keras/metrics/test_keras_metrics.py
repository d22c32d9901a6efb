"""Keras's metrics: TensorFlow's results, and what metrics are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.metrics.metric_cases import CASES, RECORDING, key, results

RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", CASES, ids=key)
def test_results_are_tensorflow_s(case: Any, weighted: bool) -> None:
    for one, other in zip(results(tf, case, weighted), RECORDED[key(case)][weighted], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
