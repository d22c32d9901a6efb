"""Every golden program, built with tfexp, makes TensorFlow's graph node for node, its shapes and its values.

The recordings in `tests/golden/graphs` need no TensorFlow; where TensorFlow is installed, the same programs
are also compared with it live, which shows a recording that has gone stale."""

from __future__ import annotations

import warnings

import pytest

import tfexp
from tests.golden import capture, oracle
from tests.golden.compare import graph_differences, run_differences
from tests.golden.programs import PROGRAMS

ORACLES = ["recorded", *(["live"] if oracle.is_installed() else [])]


def expected_capture(name: str, source: str) -> capture.Capture:
    program = PROGRAMS[name]
    if source == "live":
        if not oracle.has(program.group):
            pytest.skip("this TensorFlow has no tf_keras, where tf.layers and recurrent cells are now")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what newer versions say of TensorFlow 1's names is not our concern
            return capture.take(program, oracle.tensorflow())
    return capture.load(program.group)[name]


@pytest.mark.parametrize("source", ORACLES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_and_values_are_tensorflows(name: str, source: str) -> None:
    expected, actual = expected_capture(name, source), capture.take(PROGRAMS[name], tfexp)
    found = [*graph_differences(expected, actual), *run_differences(expected, actual)]
    assert not found, "\n".join([f"{name} ({PROGRAMS[name].source})", *found])


def test_recordings_and_programs_are_the_same_set() -> None:
    groups = {program.group for program in PROGRAMS.values()}
    recorded = [name for group in sorted(groups) for name in capture.load(group)]
    assert sorted(recorded) == sorted(PROGRAMS)
    assert {path.name.partition(".")[0] for path in capture.GRAPHS.iterdir()} == groups
