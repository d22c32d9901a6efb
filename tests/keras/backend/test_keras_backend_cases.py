"""tf.keras.backend's functions beside what TensorFlow's Keras has said to the same calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.keras.backend import cases
from tfexp.graph.graph import Graph
from tfexp.keras import backend as K
from tfexp.runtime.eager import eager_mode

EXPECTED: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
IN_GRAPHS_ONLY = {"of the nodes before"}


@pytest.fixture
def graph() -> Iterator[Graph]:
    with Graph().as_default() as graph:
        yield graph


def _check(name: str, results: Any) -> None:
    values = [np.asarray(K.get_value(x)) for x in (results if isinstance(results, list) else [results])]
    for value, (dtype, shape, numbers) in zip(values, EXPECTED["values"][name], strict=True):
        assert str(value.dtype) == dtype
        assert list(value.shape) == shape
        np.testing.assert_allclose(value.ravel().astype(np.float64), numbers, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", cases.VALUES)
def test_values(graph: Graph, name: str) -> None:
    _check(name, cases.VALUES[name](K, cases.Numbers(K)))


@pytest.mark.parametrize("name", [name for name in cases.VALUES if name not in IN_GRAPHS_ONLY])
def test_values_while_ops_run_at_once(name: str) -> None:
    with eager_mode():
        _check(name, cases.VALUES[name](K, cases.Numbers(K)))


@pytest.mark.parametrize("name", cases.SHAPES)
def test_shapes_of_batches_of_unknown_size(graph: Graph, name: str) -> None:
    assert cases.SHAPES[name](K, cases.Numbers(K)).shape.as_list() == EXPECTED["shapes"][name]


@pytest.mark.parametrize("name", cases.ERRORS)
def test_errors(graph: Graph, name: str) -> None:
    kind, text = EXPECTED["errors"][name]
    with pytest.raises((ValueError, TypeError)) as caught:
        cases.ERRORS[name](K, cases.Numbers(K))
    assert type(caught.value).__name__ == kind
    assert str(caught.value) == text
