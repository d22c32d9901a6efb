"""Networks of `tf.keras` as models of one's own: the run trains them, in one process, in towers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.experiment import runner
from tfexp.experiment.conformance import ModelConformance
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.models import phase
from tfexp.experiment.models.keras_network import KerasNetwork
from tfexp.experiment.schema import bounded

WORDS = ("model=own", f"model.target={__name__}:Normalized", "data=digits", "optimizer.learning_rate=0.05")


@dataclass(frozen=True, kw_only=True)
class Normalized(KerasNetwork):
    width: int = bounded(least=1, says="units of the layer", default=12)

    def network(self, spec: Spec) -> Any:
        layers = tf.keras.layers
        return tf.keras.Sequential(
            [layers.Dense(self.width, "relu"), layers.BatchNormalization(momentum=0.5), layers.Dense(spec.classes or 1)]
        )


@dataclass(frozen=True, kw_only=True)
class Regular(KerasNetwork):
    """Linear, with losses of its variables and of its outputs, and dropout of nearly everything."""

    def network(self, spec: Spec) -> Any:
        inputs = tf.keras.Input((spec.width,))
        kept = tf.keras.layers.Dropout(0.999)(inputs)
        dense = tf.keras.layers.Dense(
            1,
            kernel_initializer="ones",
            kernel_regularizer=tf.keras.regularizers.l1(10.0),
            activity_regularizer=tf.keras.regularizers.l1(100.0),
        )
        return tf.keras.Model(inputs, dense(kept))


class TestNormalized(ModelConformance):
    words = WORDS

    @pytest.fixture(autouse=True)
    def somewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(runner, "draw", lambda *arguments: None)


@pytest.mark.parametrize("towers", [(), ("replication=in_graph",)])
def test_averages_move_and_the_names_are_the_same_in_towers(cli: Callable, towers: tuple[str, ...]) -> None:
    ended = cli(*WORDS, *towers, "train.steps=30", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    variables = dict(tf.train.list_variables("run/checkpoints"))
    assert [name for name in variables if name.endswith("kernel")] == ["model/dense/kernel", "model/dense_1/kernel"]
    reader = tf.train.load_checkpoint("run/checkpoints")
    assert np.abs(reader.get_tensor("model/batch_normalization/moving_mean")).max() > 0.01


def test_losses_of_layers_and_the_phase_count() -> None:
    spec = Spec(width=3, classes=None)
    model = Regular()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with tf.variable_scope("model"):
            outputs = model.outputs(tf.ones([2, 3]), spec)
        loss, evaluated = model.loss(outputs, tf.zeros([2, 1]), spec), phase.evaluation_feeds(graph)
        session.run(tf.global_variables_initializer())
        assert session.run(loss, evaluated) == pytest.approx(9 + 10 * 3 + 100 * 3)  # squares, kernel, outputs per row
        assert session.run(outputs, evaluated).tolist() == [[3.0], [3.0]]
        assert session.run(outputs).tolist() != [[3.0], [3.0]]
