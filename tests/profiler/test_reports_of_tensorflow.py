"""Profiles are TensorFlow's, line for line: recordings of `tests/golden/record_profiles.py`."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tests.golden.profile_cases as cases
import tfexp as tf

RECORDED: Any = json.loads(cases.RECORDING.read_text())


@pytest.fixture(scope="module")
def profiles() -> dict[str, dict[str, str]]:
    return cases.profiles(tf)


@pytest.mark.parametrize("title", cases.OPTIONS)
def test_reports_are_tensorflows(profiles: dict[str, dict[str, str]], title: str) -> None:
    for view, text in RECORDED["profiles"][title].items():
        assert profiles[title][view] == text, view


def test_a_profile_of_steps_is_their_mean_or_one_of_them() -> None:
    assert cases.steps(tf) == RECORDED["steps"]


def test_float_operations_are_counted_as_tensorflow_counts_them() -> None:
    assert cases.float_operations(tf) == RECORDED["float operations"]
