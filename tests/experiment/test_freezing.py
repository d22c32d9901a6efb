"""`train.freeze`: variables of the model that stay as they begin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tfexp.experiment.build import Program
from tfexp.experiment.composing import settings_of
from tfexp.experiment.datasets.dataset import prepare
from tfexp.experiment.errors import SettingError
from tfexp.experiment.freezing import freeze
from tfexp.experiment.in_graph import program_of
from tfexp.preview import main as preview

MLP = ["model=mlp", "data=mixture", "data.points=97", "model.hidden=[7]", "train.batch_size=12", "train.steps=6"]


def program(*words: str, **tasks: int) -> Program:
    """The first worker's, of a cluster with so many tasks of each job; of none, the only process's."""
    settings = settings_of(list(words))
    cluster = tf.train.ClusterSpec({job: [f"{job}{n}:1" for n in range(count)] for job, count in tasks.items()})
    return program_of(settings, prepare(settings.data), cluster if tasks else None)


@pytest.mark.parametrize(
    ("words", "tasks"),
    [
        (["optimizer.clip_norm=1"], {}),
        (["cluster=2ps3workers", "cluster.shard_above=8"], {"ps": 2, "worker": 3}),
        (["cluster=2peers"], {"worker": 2}),
        (["replication=in_graph", "update=sync"], {}),
    ],
    ids=["clipped", "sharded", "peers", "towers"],
)
def test_nothing_is_kept_for_them_however_the_others_are_trained(words: list[str], tasks: dict[str, int]) -> None:
    built = program(*MLP, "optimizer=adam", *words, "train.freeze=[model/hidden1/*]", **tasks)
    assert str(built.frozen) == "2 of 4 variables stay as they begin: model/hidden1/bias, model/hidden1/weights"
    assert {name.split("/")[1] for name in built.trained} == {"outputs"}
    slots = [variable.op.name for variable in built.variables if "/Adam" in variable.op.name]
    assert slots
    assert not any("hidden1" in name for name in slots)


def test_a_part_of_a_model_may_be_frozen_as_a_whole() -> None:
    built = program("model=gan", "data=mixture", "data.points=97", "train.freeze=[model/discriminator/*]")
    assert {name.split("/")[1] for name in built.trained} == {"generator"}


def test_a_step_leaves_them_and_their_moving_averages_as_they_are() -> None:
    network = "model.layers=[{dense: 5}, batch_norm, relu]"
    built = program("model=layers", "data=mixture", "data.points=97", network, "train.freeze=[model/*batch*/*]")
    model = [variable for variable in built.variables if variable.op.name.startswith("model/")]
    with tf.Session(graph=built.graph) as session:
        session.run(built.initialize)
        before = session.run(model)
        session.run(built.train, {built.features: np.ones([3, 2]), built.labels: [0, 1, 2]})
        after = session.run(model)
    same = {v.op.name for v, old, new in zip(model, before, after, strict=True) if np.array_equal(old, new)}
    assert built.frozen is not None
    assert set(built.frozen.names) == same
    assert len(same) == 4


def test_a_run_tells_of_them_and_keeps_them_when_it_goes_on(
    cli: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*MLP, "train.freeze=[model/hidden?/*]"]
    told = "2 of 4 variables stay as they begin: model/hidden1/bias, model/hidden1/weights\n"
    assert preview(words) == 0
    assert f"frozen      {told}" in capsys.readouterr().out
    assert told in cli(*words, "hydra.run.dir=run").out
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["frozen"] == ["model/hidden1/bias", "model/hidden1/weights"]
    assert cli("resume=run", "train.steps=9").code == 0
    first, last = (tf.train.load_checkpoint(str(tmp_path / f"run/checkpoints/model.ckpt-{step}")) for step in (0, 9))
    for layer, is_same in (("hidden1", True), ("outputs", False)):
        name = f"model/{layer}/weights"
        assert np.array_equal(first.get_tensor(name), last.get_tensor(name)) is is_same
    assert cli("resume=run", "train.steps=12", "train.freeze=[]").code == 2


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ("[model/hiden1/*]", r"there is no variable 'model/hiden1/\*'; did you mean 'model/hidden1/"),
        ("[model/*]", "all of the model's variables stay as they begin: nothing is left to learn"),
    ],
)
def test_what_cannot_be_frozen_is_refused(patterns: str, message: str) -> None:
    with pytest.raises(SettingError, match=f"train.freeze: {message}"):
        program(*MLP, f"train.freeze={patterns}")


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("handles", [False, True], ids=["references", "handles"])
def test_only_what_is_in_the_scope_and_only_what_is_written(handles: bool, graph: tf.Graph) -> None:
    with tf.variable_scope("", use_resource=handles):
        inner, other, outer = (tf.get_variable(name, initializer=2.0) for name in ("model/w", "model/v", "w"))
    read, written = tf.assign(other, inner), tf.assign_add(inner, 1.0).op
    conditional = tf.cond(tf.placeholder(tf.bool), lambda: tf.assign_add(inner, other), lambda: tf.identity(other))
    for update in (read, written, conditional):
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    frozen = freeze(["*w"], "model/")
    assert frozen is not None
    assert frozen.names == ("model/w",)
    assert tf.trainable_variables() == [other, outer]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == [read]
