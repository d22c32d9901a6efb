"""`train.freeze`: variables of the model that stay as they begin."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.experiment.freezing import freeze
from tfexp.preview import main as preview

MLP = ["model=mlp", "data=digits", "model.hidden=[7]", "train.steps=6"]
NETWORK = "model.layers=[{dense: 5}, batch_norm, relu]"


def model_at(folder: Path, step: int) -> dict[str, Any]:
    """The model's variables in a checkpoint, without the optimizer's."""
    path = str(folder / "checkpoints" / f"model.ckpt-{step}")
    names = [name for name, _ in tf.train.list_variables(path)]
    return {name: tf.train.load_variable(path, name) for name in names if name.startswith("model/") and name.count("/") == 2}


def moved(folder: Path, step: int) -> set[str]:
    """The variables that are not what they were at the start."""
    before, after = model_at(folder, 0), model_at(folder, step)
    return {name for name in before if not np.array_equal(before[name], after[name])}


@pytest.mark.usefixtures("tasks_are_threads")
@pytest.mark.parametrize(
    "words",
    [
        ["optimizer=adam", "optimizer.clip_norm=1"],
        ["cluster=2ps3workers", "cluster.hosting=process", "cluster.shard_above=16"],
        ["cluster=2peers", "cluster.hosting=process"],
        ["replication=in_graph", "update=sync"],
    ],
    ids=["clipped", "sharded", "peers", "towers"],
)
def test_they_stay_as_they_begin_however_it_is_trained(words: list[str], cli: Callable, tmp_path: Path) -> None:
    ended = cli(*MLP, *words, "train.freeze=[model/hidden1/*]", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert "2 of 4 variables stay as they begin: model/hidden1/bias, model/hidden1/weights\n" in ended.out
    step = json.loads((tmp_path / "run" / "result.json").read_text())["numbers"]["step"]
    assert moved(tmp_path / "run", step) == {"model/outputs/bias", "model/outputs/weights"}
    frozen = json.loads((tmp_path / "run" / "manifest.json").read_text())["frozen"]
    assert frozen == ["model/hidden1/bias", "model/hidden1/weights"]


def test_a_run_that_goes_on_keeps_them(cli: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(*MLP, "hydra.run.dir=first").code == 0
    tuned = [*MLP, "train.start_from=first", "train.freeze=[model/hidden?/*]"]
    assert preview(tuned) == 0
    assert "frozen      2 of 4 variables stay as they begin: " in capsys.readouterr().out
    assert cli(*tuned, "hydra.run.dir=second").code == 0
    assert cli("resume=second", "train.steps=9").code == 0
    weights = [model_at(tmp_path / run, step)["model/hidden1/weights"] for run, step in (("first", 6), ("second", 9))]
    assert np.array_equal(*weights)
    assert cli("resume=second", "train.steps=12", "train.freeze=[]").code == 2


def test_moving_averages_among_them_are_not_updated(cli: Callable, tmp_path: Path) -> None:
    words = ["model=layers", "data=mixture", NETWORK, "train.steps=3", "train.freeze=[model/*batch*/*]"]
    ended = cli(*words, "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert "4 of " in ended.out
    assert not any("batch" in name for name in moved(tmp_path / "run", 3))


def test_a_part_of_a_model_may_be_frozen_as_a_whole(cli: Callable, tmp_path: Path) -> None:
    words = ["model=gan", "data=mixture", "train.steps=3", "train.freeze=[model/discriminator/*]"]
    ended = cli(*words, "hydra.run.dir=run")
    assert ended.code == 0, ended.err


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ("[model/hiden1/*]", "train.freeze: there is no variable 'model/hiden1/*'; did you mean 'model/hidden1/"),
        ("[model/*]", "train.freeze: all of the model's variables stay as they begin: nothing is left to learn"),
    ],
)
def test_what_cannot_be_frozen_is_refused(patterns: str, message: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(*MLP, f"train.freeze={patterns}", "hydra.run.dir=run")
    assert ended.code == 2
    assert ended.err.startswith(f"tfexp: {message}")
    assert not (tmp_path / "run").exists()


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
