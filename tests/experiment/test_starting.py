"""`train.start_from`: a model that begins with what another run has learned."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import numbers, records

import tfexp as tf
from tfexp.experiment.starting import begin_with
from tfexp.preview import main as preview

MLP = ["model=mlp", "data=digits", "model.hidden=[7]"]


def variables(folder: Path, step: int) -> dict[str, Any]:
    path = str(folder / "checkpoints" / f"model.ckpt-{step}")
    return {name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path)}


@pytest.fixture
def first(ran: Callable) -> Path:
    return ran("first", *MLP, "train.steps=12", "train.keep_best=true", "train.eval_every=4")


def test_it_begins_where_the_other_ended(
    first: Path, cli: Callable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert preview([*MLP, "train.start_from=first"]) == 0
    assert "start       all 4 variables begin with the values in" in capsys.readouterr().out
    ended = cli(*MLP, "train.steps=5", "train.start_from=first", "hydra.run.dir=second")
    assert ended.code == 0, ended.err
    checkpoint = first / "checkpoints" / "model.ckpt-12"
    assert f"all 4 variables begin with the values in {checkpoint} (step 12)\n" in ended.out
    second = tmp_path / "second"
    before, after = variables(first, 12), variables(second, 0)
    for name in before:
        if name.count("/") == 2 and name.startswith("model/"):  # the optimizer's slots have one more
            assert np.array_equal(before[name], after[name]), name
    assert records(second)[0]["test"] == records(first)[-1]["test"]
    assert after["global_step"] == 0
    assert json.loads((second / "manifest.json").read_text())["start"]["step"] == 12

    shutil.rmtree(first)  # a run that goes on does not need it any more
    ended = cli("resume=second", "train.steps=8")
    assert ended.code == 0, ended.err
    assert numbers(second)["step"] == 8


def test_what_has_another_shape_begins_anew(first: Path, cli: Callable, tmp_path: Path) -> None:
    words = ["model=mlp", "data=mixture", "model.hidden=[7]", "train.steps=1", "hydra.run.dir=second"]
    ended = cli(*words, "train.start_from=first/checkpoints/best")
    assert ended.code == 0, ended.err
    assert "variables begin with the values in" in ended.out
    assert "it has none of this shape for model/" in ended.out
    start = json.loads((tmp_path / "second" / "manifest.json").read_text())["start"]
    assert start["taken"] and start["anew"]
    assert "checkpoints/best/model.ckpt-" in start["checkpoint"]


@pytest.mark.usefixtures("tasks_are_threads")
@pytest.mark.parametrize(
    "words",
    [
        ["cluster=2ps3workers", "cluster.hosting=process", "cluster.shard_above=16"],
        ["cluster=2peers", "cluster.hosting=process"],
        ["replication=in_graph"],
    ],
    ids=["sharded", "peers", "towers"],
)
def test_however_it_is_trained(words: list[str], first: Path, cli: Callable, tmp_path: Path) -> None:
    ended = cli(*MLP, *words, "train.steps=2", "train.start_from=first", "hydra.run.dir=second")
    assert ended.code == 0, ended.err
    assert "all 4 variables begin" in ended.out
    assert records(tmp_path / "second")[0]["test"] == pytest.approx(records(first)[-1]["test"], rel=1e-5)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("nowhere", "there is no checkpoint at {}/nowhere: give a run's folder, or a checkpoint in it"),
        ("first/checkpoints/model.ckpt-3", "there is no checkpoint at {}/first/checkpoints/model.ckpt-3"),
        ("empty", "there is no checkpoint at {}/empty"),
        ("first", "has none of this model's variables, such as model/"),
    ],
)
def test_what_cannot_be_begun_with_is_refused(where: str, message: str, first: Path, cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = cli("model=linreg", f"train.start_from={where}", "hydra.run.dir=second")
    assert ended.code == 2
    assert ended.err.startswith("tfexp: train.start_from")
    assert message.format(tmp_path) in ended.err
    assert not (tmp_path / "second").exists()


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_only_what_is_in_the_scope(graph: tf.Graph, tmp_path: Path) -> None:
    inner, outer = (tf.get_variable(name, initializer=[3.0, 5.0]) for name in ("model/w", "w"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "kept"))
    with tf.Graph().as_default(), tf.Session() as session:
        inner, outer = (tf.get_variable(name, initializer=[0.0, 0.0]) for name in ("model/w", "w"))
        start = begin_with(path, "model/")
        session.run(tf.global_variables_initializer())
        assert (start.step, start.taken, start.anew) == (None, ("model/w",), ())
        assert [value.tolist() for value in session.run([inner, outer])] == [[3.0, 5.0], [0.0, 0.0]]
