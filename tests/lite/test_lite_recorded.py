"""Models as TensorFlow 1.15 converts and runs them: ours have the same tensors, and both run to the same numbers."""

import json

import numpy as np
import pytest

import tfexp as tf
from tests.golden import lite_cases as cases

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")

FACTS = json.loads((cases.LITE / "facts.json").read_text())


def check_outcome(name, file):
    interpreter = tf.lite.Interpreter(model_content=file)
    # Ours computes on real numbers where TensorFlow's multiplies integers: a step of the output's scale may lie between.
    tolerance = 1.01 / 256 if name.endswith("int8") else 1e-5
    np.testing.assert_allclose(cases.outcome(interpreter), FACTS[name]["output"], atol=tolerance, rtol=1e-5)


@pytest.mark.parametrize("name", cases.CASES)
def test_a_file_of_tensorflow(name):
    file = (cases.LITE / f"{name}.tflite").read_bytes()
    check_outcome(name, file)
    assert cases.described(tf.lite.Interpreter(model_content=file)) == FACTS[name]["tensors"]


@pytest.mark.parametrize("name", cases.CASES)
def test_the_same_graph_converted_here(name):
    file = cases.converted(tf, name)
    check_outcome(name, file)
    ours = cases.described(tf.lite.Interpreter(model_content=file))
    for mine, theirs in zip(ours, FACTS[name]["tensors"], strict=True):
        assert mine[:3] == theirs[:3] and mine[4] == theirs[4]
        assert mine[3] == pytest.approx(theirs[3], rel=1e-4)
