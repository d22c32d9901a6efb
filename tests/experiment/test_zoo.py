"""Every model of the zoo keeps to the conformance suite, and learns what it is for."""

from __future__ import annotations

import pytest

from tfexp.experiment import runner
from tfexp.experiment.conformance import ModelConformance
from tfexp.experiment.history import Record


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "draw", lambda *arguments: None)


class Accurate(ModelConformance):
    least: float
    steps = 150

    def learned(self, before: Record, after: Record) -> None:
        assert before["test"]["accuracy"] < 0.3
        assert after["test"]["accuracy"] > self.least


class TestLinreg(ModelConformance):
    words = ("model=linreg", "model.l2=0.001")
    unfit = ("data=digits",)


class TestLogreg(ModelConformance):
    words = ("model=logreg",)
    unfit = ("data=digits", "data=diabetes")


class TestSoftmax(ModelConformance):
    words = ("model=softmax",)
    unfit = ("data=line",)


class TestMlp(Accurate):
    words = ("model=mlp", "optimizer.learning_rate=0.003")
    least = 0.88


class TestCnn(Accurate):
    words = ("model=cnn", "model.dropout=0.2", "optimizer.learning_rate=0.005")
    least = 0.85
    unfit = ("data=breast_cancer", "model.image=[8,8]", "model.filters=[3,3,3,3]", "model.dropout=1")


class TestLstm(Accurate):
    words = ("model=lstm", "model.dropout=0.1", "optimizer.learning_rate=0.01")
    least = 0.8
    unfit = ("model.steps=7", "model.units=[]")


class TestLayers(Accurate):
    words = ("model=layers", "optimizer.learning_rate=0.005")
    least = 0.85
    unfit = ("data=diabetes", "model.layers=[{conv: 8}]")


class TestLayersOfNumbers(ModelConformance):
    words = (
        "model=layers",
        "data=diabetes",
        "model.layers=[{reshape:[5,2]},{lstm:{units:7,every:true}},flatten,{dropout:0.1}]",
    )
