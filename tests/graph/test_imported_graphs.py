"""Graphs that TensorFlow made give TensorFlow's numbers here, and go out again as they came in."""

from __future__ import annotations

import base64
import json
import lzma
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.golden.record_imports import RECORDING, from_json

CASES = {line["name"]: line for line in map(json.loads, lzma.decompress(RECORDING.read_bytes()).decode().splitlines())}


def imported(case: dict[str, Any]) -> tuple[tf.GraphDef, tf.Graph]:
    graph_def, graph = tf.GraphDef.FromString(base64.b64decode(case["graph"])), tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    return graph_def, graph


@pytest.mark.parametrize("name", CASES)
def test_values_are_tensorflows(name: str) -> None:
    case = CASES[name]
    _, graph = imported(case)
    feeds = {tensor: from_json(value) for tensor, value in case["feeds"].items()}
    with tf.Session(graph=graph) as session:
        for _ in range(3):  # interpreted, then compiled
            values = session.run(list(case["fetches"]), feeds)
            for value, expected in zip(values, map(from_json, case["fetches"].values()), strict=True):
                assert value.dtype == expected.dtype
                np.testing.assert_allclose(value, expected, rtol=2e-6)


@pytest.mark.parametrize("name", CASES)
def test_library_survives(name: str) -> None:
    graph_def, graph = imported(CASES[name])
    again = graph.as_graph_def()
    assert again.library == graph_def.library
    with tf.Graph().as_default() as other:
        tf.import_graph_def(again, name="")
    assert other.as_graph_def() == again
