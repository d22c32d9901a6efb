"""Every data set and every input keeps to its conformance suite, and the suites find what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from tfexp.experiment.choices import groups
from tfexp.experiment.conformance import DataConformance, InputConformance, ModelConformance


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class TestDiabetes(DataConformance):
    words = ("data=diabetes",)


class TestBreastCancer(DataConformance):
    words = ("data=breast_cancer",)


class TestDigits(DataConformance):
    words = ("data=digits",)


class TestLine(DataConformance):
    words = ("data=line",)


class TestMixture(DataConformance):
    words = ("data=mixture", "data.points=101")


class TestCorpus(DataConformance):
    words = ("data=corpus", "data.sentences=101")


class TestFeed(InputConformance):
    words = ("input=feed",)


class TestPreload(InputConformance):
    words = ("input=preload",)


class TestQueue(InputConformance):
    words = ("input=queue", "input.capacity=3")


class TestDataset(InputConformance):
    words = ("input=dataset", "input.prefetch=2")


class TestTfrecord(InputConformance):
    words = ("input=tfrecord",)


class TestTfrecordInParts(InputConformance):
    words = ("input=tfrecord", "input.shuffle=11")
    in_order = False


def test_every_input_and_data_set_has_its_suite() -> None:
    tested = {word for value in globals().values() for word in getattr(value, "words", ())}
    elsewhere = {"input=own", "data=own", "data=csv", "data=records"}  # they need files, and have tests of their own
    for group in ("input", "data"):
        assert {f"{group}={choice.name}" for choice in groups()[group].choices} <= tested | elsewhere


FLAWED = """
from dataclasses import dataclass

import numpy as np
import tfexp as tf
from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.inputs.feed import Feed
from tfexp.experiment.inputs.input import Share
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Supervised

@dataclass(frozen=True)
class Forgetful(Supervised):
    "Its noise begins anew when a run goes on."

    def outputs(self, features, spec):
        return dense(features + tf.random_normal(tf.shape(features), stddev=0.01), spec.classes or 1, "out")

@dataclass(frozen=True)
class Greedy(Supervised):
    "It counts evaluations."

    def outputs(self, features, spec):
        seen = tf.get_variable("seen", [], initializer=tf.zeros_initializer(), trainable=False)
        with tf.control_dependencies([seen.assign_add(1.0)]):
            return dense(tf.identity(features), spec.classes or 1, "out")

@dataclass(frozen=True)
class Moody(Source):
    "Another table each time."

    def read(self):
        Moody.times = getattr(Moody, "times", 0) + 1
        x = np.arange(11.0)[:, None]
        return Table(x, x[:, 0] * Moody.times, ("x",), None, "moody")

@dataclass(frozen=True)
class Stuck(Feed):
    "Always the first batch."

    def batches(self, share):
        class First(Share):
            def number(self, begin, made):
                return 0

        return super().batches(First(**vars(share)))
"""


@pytest.fixture
def flawed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "flawed_parts.py").write_text(FLAWED)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "flawed_parts", raising=False)


class _Model(ModelConformance):
    target: ClassVar[str]
    steps = 20

    def __init_subclass__(cls) -> None:
        cls.words = ("model=own", f"model.target=flawed_parts:{cls.target}", "data=line", "data.points=40")


class _Forgetful(_Model):
    target = "Forgetful"


class _Greedy(_Model):
    target = "Greedy"


class _Moody(DataConformance):
    words = ("data=own", "data.target=flawed_parts:Moody")


class _Stuck(InputConformance):
    words = ("input=own", "input.target=flawed_parts:Stuck")


@pytest.mark.usefixtures("flawed")
@pytest.mark.parametrize(
    "found",
    [
        _Forgetful().test_it_learns_and_goes_on_to_the_same_numbers,
        _Greedy().test_its_graph_takes_any_number_of_rows,
        _Moody().test_it_is_the_same_each_time,
        _Stuck().test_an_epoch_has_each_row_once,
        _Stuck().test_it_can_begin_anywhere,
    ],
    ids=lambda test: f"{type(test.__self__).__name__}-{test.__name__}",
)
def test_a_flaw_is_found(found: Callable[[], None]) -> None:
    with pytest.raises(AssertionError):
        found()
