"""Recurrent layers beside TensorFlow's: names, shapes, configs, outputs, gradients, losses."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.layers.recurrent_cases import CASES, DESCRIBED, TRAINED, observed, trained
from tfexp.keras import backend, layers

KERAS = SimpleNamespace(layers=layers, backend=backend)
RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recurrent.json").read_text())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _earlier(name: str) -> str:
    """A variable's name as TensorFlow 1.15 gives it: cells have no name scope in layers' ones."""
    scopes = name.split("/")
    kept = [scope for scope in scopes if not scope.rstrip("_0123456789").endswith(("_cell", "_cells")) and scope != "own"]
    return "/".join(kept)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_layer_is_tensorflows(name: str) -> None:
    wanted = RECORDED[name]
    found = observed(tf, KERAS, name)
    assert [shape for _, shape in found["weights"]] == [shape for _, shape in wanted["weights"]]
    if name not in ("stacked", "stacked_masked", "cell_of_tf"):
        assert [own for own, _ in found["weights"]] == [_earlier(theirs) for theirs, _ in wanted["weights"]]
    for kind, tolerance in (("outputs", 1e-5), ("gradients", 2e-5)):
        assert len(found[kind]) == len(wanted[kind])
        for mine, (shape, theirs) in zip(found[kind], wanted[kind], strict=True):
            assert list(mine.shape) == shape
            np.testing.assert_allclose(mine.ravel(), theirs, rtol=tolerance, atol=tolerance, err_msg=kind)
    np.testing.assert_allclose(sorted(found["losses"]), sorted(wanted["losses"]), rtol=1e-5)
    if name in DESCRIBED:
        assert _plain(found["configs"]) == wanted["configs"]


@pytest.mark.parametrize("name", TRAINED)
def test_training_takes_the_same_steps(name: str) -> None:
    wanted = RECORDED[f"trained {name}"]
    found = trained(tf, KERAS, name)
    np.testing.assert_allclose(found["losses"], wanted["losses"], rtol=1e-5)
    shape, values = wanted["outputs"][0]
    np.testing.assert_allclose(found["outputs"][0], np.reshape(values, shape), rtol=1e-4, atol=2e-5)
