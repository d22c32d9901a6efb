"""Keras's losses: TensorFlow's values, and what objects and names are."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfexp as tf
from tests.keras.losses.loss_cases import CASES, RECORDING, key, losses

RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(len(CASES)), ids=key)
def test_values_are_tensorflow_s(number: int) -> None:
    found, wanted = losses(tf, number), RECORDED[key(number)]
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
