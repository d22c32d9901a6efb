"""Whole histories of training equal those that were recorded from TensorFlow, from the same weights and the same seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.training.programs_of_histories import PROGRAMS
from tfexp.runtime.eager import eager_mode

HERE = Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "histories.json").read_text())
# Those that eager execution, where all data come through datasets, has other numbers for.
RECORDED_EAGERLY: dict[str, Any] = RECORDED | json.loads((HERE / "eager_histories.json").read_text())


def close(got: Any, expected: Any, where: str) -> None:
    """Numbers to 1e-5; names and structure exactly."""
    if isinstance(expected, dict):
        assert list(got) == list(expected), where
        for key in expected:
            close(got[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list) and any(isinstance(one, (dict, list, str)) for one in expected):
        assert len(got) == len(expected), where
        for number, (mine, other) in enumerate(zip(got, expected, strict=True)):
            close(mine, other, f"{where}[{number}]")
    elif isinstance(expected, str):
        assert got == expected, where
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=where)


@pytest.mark.parametrize("name", PROGRAMS)
def test_trains_as_tensorflow_does(name: str) -> None:
    tf.keras.backend.clear_session()
    try:
        close(PROGRAMS[name](tf), RECORDED[name], name)
    finally:
        tf.keras.backend.clear_session()


# Those that a graph is essential to: its tensors as data and as targets.
GRAPHS_ALONE = {"whole_tensors", "given_tensors"}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in GRAPHS_ALONE])
def test_trains_as_tensorflow_does_in_eager_execution(name: str) -> None:
    with eager_mode():
        tf.keras.backend.clear_session()
        close(PROGRAMS[name](tf), RECORDED_EAGERLY[name], name)
    tf.keras.backend.clear_session()
