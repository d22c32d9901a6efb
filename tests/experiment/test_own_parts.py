"""Models, data and choices of the user's own, without touching the package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from run_files import numbers

PARTS = """
from dataclasses import dataclass
from enum import Enum

import numpy as np
import tfexp as tf
from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.models.model import Model


class Unit(Enum):
    metres = 1.0
    feet = 0.3048


@dataclass(frozen=True)
class Tides(Source):
    days: int = 5
    unit: Unit = Unit.metres

    def read(self):
        hours = np.arange(24.0 * self.days)
        height = np.sin(hours / 12.4 * 2 * np.pi) / self.unit.value
        return Table(np.c_[np.sin(hours / 4), np.cos(hours / 4)], height, ("sin", "cos"), None, "tides")


@dataclass(frozen=True)
class Robust(Model):
    scale: float = 1.0

    def outputs(self, features, spec):
        weights = tf.get_variable("weights", [spec.width, 1], initializer=tf.zeros_initializer())
        return tf.matmul(features, weights)

    def loss(self, outputs, labels, spec):
        return tf.reduce_mean(tf.abs(outputs - labels)) * self.scale

    def metrics(self, outputs, labels, spec):
        return {"mean_error": tf.reduce_mean(outputs - labels)}


"""


BAD_PARTS = """
class Bare(Source):
    days: int = 5

    def read(self):
        raise NotImplementedError


class Unread(Source):
    pass
"""


@pytest.fixture(autouse=True)
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shore").mkdir()
    (tmp_path / "shore" / "parts.py").write_text(PARTS + BAD_PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("shore", "shore.parts"):
        monkeypatch.delitem(sys.modules, name, raising=False)


OWN = ["model=own", "model.target=shore.parts:Robust", "data=own", "data.target=shore.parts:Tides"]


def test_own_model_and_data_with_their_settings(cli: Callable, tmp_path: Path) -> None:
    ended = cli(*OWN, "model.scale=2", "data.days=7", "data.unit=feet", "train.steps=30", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert "Robust on Tides" in ended.out
    assert set(numbers(tmp_path / "run")["test"]) == {"loss", "mean_error"}
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert config["model"] == {"target": "shore.parts:Robust", "scale": 2}
    assert config["data"]["unit"] == "feet"
    assert cli("rerun=run").code == 0


def test_own_settings_are_checked_like_all_others(cli: Callable) -> None:
    assert cli(*OWN, "data.day=7").err == (
        "tfexp: data.day (conf/data/own.yaml): there is no setting 'day'; did you mean 'days'? "
        "The choices are: days, split_seed, standardize, test_fraction, unit\n"
    )
    assert cli(*OWN, "data.unit=fete").err == (
        "tfexp: data.unit: there is no choice 'fete'; did you mean 'feet'? The choices are: feet, metres\n"
    )
    assert cli(*OWN, "model.scale=big").err == "tfexp: model.scale: 'big' is not a number\n"
    assert cli("model=own", "model.target=shore.parts:Tides").err == (
        "tfexp: model.target: 'shore.parts:Tides' is not a dataclass derived from tfexp.experiment.models.model.Model\n"
    )


def test_classes_that_are_no_schema_are_named(cli: Callable) -> None:
    assert cli("data=own", "data.target=shore.parts:Bare").err == (
        "tfexp: data.target: 'shore.parts:Bare' has fields of its own, and no @dataclass(frozen=True, kw_only=True) "
        "above it\n"
    )
    assert cli("data=own", "data.target=shore.parts:Unread").err == "tfexp: data.target: 'shore.parts:Unread' lacks read\n"


def test_a_folder_of_further_choices(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "choices" / "model").mkdir(parents=True)
    (tmp_path / "choices" / "model" / "robust.yaml").write_text("target: shore.parts:Robust\nscale: 3.0\n")
    ended = cli("--config-dir", "choices", "model=robust", "data=line", "train.steps=5", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["model"]["scale"] == 3.0
    assert "did you mean 'robust'" in cli("--config-dir", "choices", "model=robst").err
    ended = cli("--config-dir", "choices", "-m", "model=robust,linreg", "data=line", "train.steps=5")
    assert ended.code == 0, ended.err
