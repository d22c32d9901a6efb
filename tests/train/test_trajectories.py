"""Optimizers and their update ops against what TensorFlow computed (`tests/golden/record_training.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden.training_cases import (
    RECORDING,
    TRAJECTORIES,
    UPDATE_ROWS,
    Update,
    applications,
    key,
    trajectory,
)
from tfexp.core.op import get_op

# What rounding in another order may come to, relative to the values' size, after all steps.
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


@pytest.fixture(scope="module")
def recorded() -> Any:
    with np.load(RECORDING) as arrays:
        return dict(arrays)


def assert_recorded(recorded: Any, computed: dict[str, Any], dtype: str, *parts: str) -> None:
    assert computed
    for name, values in computed.items():
        expected = recorded[key(*parts, dtype, name)]
        assert values.dtype == expected.dtype == dtype
        limit = TOLERANCE[dtype]
        np.testing.assert_allclose(values, expected, rtol=limit, atol=limit, err_msg=name)


@pytest.mark.parametrize(("optimizer", "kind", "dtype"), TRAJECTORIES)
def test_twenty_steps_are_tensorflows(recorded: Any, optimizer: str, kind: str, dtype: str) -> None:
    assert_recorded(recorded, trajectory(tf, optimizer, kind, dtype), dtype, optimizer, kind)


@pytest.mark.parametrize(("update", "kind", "dtype"), UPDATE_ROWS, ids=lambda v: v.key if isinstance(v, Update) else v)
def test_update_ops_are_tensorflows(recorded: Any, update: Update, kind: str, dtype: str) -> None:
    def build(op: str, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
        return get_op(op)(**inputs, **attrs)

    assert_recorded(recorded, applications(tf, build, update, kind, dtype), dtype, update.key, kind)


def test_nothing_was_recorded_in_vain(recorded: Any) -> None:
    wanted = {key(*row) for row in TRAJECTORIES} | {key(update.key, kind, dtype) for update, kind, dtype in UPDATE_ROWS}
    assert {name.rpartition("/")[0] for name in recorded if not name.startswith("model/")} == wanted
