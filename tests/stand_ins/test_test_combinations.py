"""Tests of a test for each combination of arguments, as TensorFlow's own are."""

from __future__ import annotations

import unittest
from typing import Any

import pytest
from absl.testing import parameterized

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

combinations = stand_for("tensorflow.python.framework.test_combinations")
of_modes = stand_for("tensorflow.python.framework.combinations")
of_strategies = stand_for("tensorflow.python.distribute.combinations")
strategies = stand_for("tensorflow.python.distribute.strategy_combinations")


def run(case: type) -> tuple[list[str], unittest.TestResult]:
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    names = [test.id().rpartition(".")[2] for test in suite]
    result = unittest.TestResult()
    suite.run(result)
    return names, result


def test_combining():
    numbers = combinations.combine(b=[1, 2], a=3)
    assert [dict(one) for one in numbers] == [{"a": 3, "b": 1}, {"a": 3, "b": 2}]
    both = combinations.times(numbers, combinations.combine(c=["x"]))
    assert [list(one.items()) for one in both] == [[("a", 3), ("b", 1), ("c", "x")], [("a", 3), ("b", 2), ("c", "x")]]
    with pytest.raises(ValueError, match="Keys need to not overlap"):
        combinations.times(numbers, combinations.combine(b=5))
    with pytest.raises(AssertionError):
        combinations.times()
    named = combinations.NamedObject("text", str)
    assert (repr(named), named(4), named.maketrans) == ("text", "4", str.maketrans)


def test_modes_and_versions():
    seen: list[Any] = []

    class Tests(parameterized.TestCase):
        @of_modes.generate(combinations.combine(mode=["graph", "eager"], v=[2.5]))
        def test_mode(self, v):
            seen.append((v, tf.executing_eagerly()))

        @of_modes.generate(combinations.combine(tf_api_version=[1, 2]))
        def test_version(self):
            seen.append("version")

        @of_modes.generate(combinations.combine(mode="slow", q=1))
        def test_wrong(self):
            pass

        @of_modes.generate(combinations.combine(q=1))
        def test_not_taken(self):
            pass

    names, result = run(Tests)
    assert names == [
        "test_mode_test_mode_eager_v_25",
        "test_mode_test_mode_graph_v_25",
        "test_not_taken_test_q_1",
        "test_version_test_tfapiversion_1",
        "test_version_test_tfapiversion_2",
        "test_wrong_test_mode_slow_q_1",
    ]
    assert seen == [(2.5, True), (2.5, False), "version"]
    assert [reason for _, reason in result.skipped] == [" - Skipping a TF2 test when TF2 is not enabled."]
    assert len(result.errors) == 2
    assert all("The test does not take parameters that were passed : {'q'}" in text for _, text in result.errors)


def test_classes():
    seen: list[int] = []

    @combinations.generate(combinations.combine(q=[3, 5]))
    class Tests(unittest.TestCase):
        def test_one(self, q):
            seen.append(q)

        def other(self):
            seen.append(0)

    assert run(Tests)[0] == ["test_one_test_q_3", "test_one_test_q_5"] and seen == [3, 5]


def test_all_that_a_test_takes_is_passed():
    class Tests(parameterized.TestCase):
        @combinations.generate(combinations.combine(a=1))
        def test_more(self, a, *, b):
            self.fail()

    _, result = run(Tests)
    assert [text.strip().splitlines()[-1] for _, text in result.errors] == [
        "ValueError: The test requires parameters whose arguments were not passed: {'b'} ."
    ]


def test_strategies_and_what_they_need():
    seen: list[Any] = []

    class Tests(parameterized.TestCase):
        @of_strategies.generate(strategies.all_strategy_combinations())
        def test_strategy(self, distribution):
            seen.append((type(distribution).__name__, tf.executing_eagerly()))

        @of_strategies.generate(combinations.combine(required_gpus=[0, 2], required_tpu=[False, True], mode="graph"))
        def test_devices(self):
            seen.append("devices")

    _, result = run(Tests)
    assert not result.errors
    assert sorted(map(str, seen)) == [
        "('DefaultStrategy', False)",
        "('DefaultStrategy', True)",
        "('OneDeviceStrategy', False)",
        "('OneDeviceStrategy', True)",
        "devices",
    ]
    reasons = {reason for _, reason in result.skipped}
    assert {" - Only 0 of 2 required GPUs are available.", " - Test requires a TPU, but it's not available."} <= reasons


def test_optimizers():
    made = [(repr(one), type(one()).__name__) for one in strategies.optimizers_v1_and_v2]
    assert made == [
        ("GradientDescentV1", "GradientDescentOptimizer"),
        ("AdagradV1", "AdagradOptimizer"),
        ("GradientDescentKerasV2", "SGD"),
        ("AdagradKerasV2", "Adagrad"),
    ]
    assert len(strategies.distributions_and_v1_and_v2_optimizers()) == 12


def test_names_of_a_module_are_there():
    assert [name for name in dir(strategies) if not hasattr(strategies, name)] == []
