"""Every layer beside TensorFlow's: names, shapes, configs, outputs, gradients, losses, masks and updates."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.layers.layer_cases import CASES, observed
from tfexp.keras import layers, regularizers

KERAS = SimpleNamespace(layers=layers, regularizers=regularizers)
RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "layers.json").read_text())

# What Keras 2.15 puts into configs and 1.15 does not, and the other way round; by a part of the case's name.
LATER = {"attention": {"score_mode", "dropout"}, "noise": {"seed"}, "gaussian": {"seed"}, "alpha": {"seed"}}
EARLIER = {"attention": {"causal"}}
# Where TensorFlow is mistaken: virtual batches count one axis more, which a layer made from that config would not have; and
# what attention gives has the size of values, not of queries.
MISTAKEN = {"config axis": "batch_normalization_virtual", "computed_shape": "attention_scaled"}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _compare_configs(name: str, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    later = {key for part, keys in LATER.items() if part in name for key in keys}
    earlier = {key for part, keys in EARLIER.items() if part in name for key in keys}
    if name.startswith(MISTAKEN["config axis"]):
        found, wanted = {**found, "axis": None}, {**wanted, "axis": None}
    assert {key: one for key, one in found.items() if key not in earlier} == {
        key: one for key, one in wanted.items() if key not in later
    }


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_layer_is_tensorflows(name: str) -> None:
    wanted = RECORDED[name]
    found = observed(tf, KERAS, name)
    _compare_configs(name, _plain(found["config"]), wanted["config"])
    assert found["weights"] == [[name, shape, trainable] for name, shape, trainable in wanted["weights"]]
    scope, shape, values = wanted["output"]
    assert found["output"][:2] == [scope, shape]
    assert found["computed_shape"] == (shape if name == MISTAKEN["computed_shape"] else wanted["computed_shape"])
    np.testing.assert_allclose(found["output"][2], values, rtol=1e-4, atol=1e-5)
    assert len(found["gradients"]) == len(wanted["gradients"])
    for mine, theirs in zip(found["gradients"], wanted["gradients"], strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(sorted(found["losses"]), sorted(wanted["losses"]), rtol=1e-4)
    assert found["mask"] == wanted["mask"]
    assert found["updates"] == wanted["updates"]
    for mine, theirs in zip(found["moved"], wanted["moved"], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 5), (2, 5, 7)])
def test_the_shape_of_repeated_vectors_is_of_the_first_two_axes(shape: tuple[int, ...]) -> None:
    assert layers.RepeatVector(3).compute_output_shape(shape) == (2, 3, 5)
