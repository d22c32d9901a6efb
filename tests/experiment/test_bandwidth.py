"""Runs whose parameters are spread, cut and sent in fewer bits: what they learn, count and save."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import numbers, records

import tfexp as tf

CLUSTER = ["cluster=2workers", "cluster.hosting=process", "cluster.ps=2", "update=sync"]
MODEL = ["model=mlp", "model.hidden=[128]", "train.steps=20", "train.eval_every=10", "train.summary_every=0"]


pytestmark = pytest.mark.usefixtures("tasks_are_threads")


def bytes_per_step(folder: Path) -> dict[str, dict[str, int]]:
    return dict(json.loads((folder / "result.json").read_text())["timing"]["bytes_per_step"])


def variables(folder: Path) -> dict[str, Any]:
    path = tf.train.latest_checkpoint(str(folder / "checkpoints"))
    return {name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path)}


def test_a_cut_model_learns_what_a_whole_one_does_and_is_saved_as_one(cli: Callable, tmp_path: Path) -> None:
    assert cli(*MODEL, "hydra.run.dir=whole").code == 0
    cut = [*CLUSTER, "cluster.shard_above=30000", "cluster.balance=bytes"]
    ended = cli(*MODEL, *cut, "hydra.run.dir=cut")
    assert ended.code == 0, ended.err
    graph = (tmp_path / "cut" / "graph.pbtxt").read_text()
    assert "weights/part_1" in graph and "weights/part_2" not in graph
    assert "kB/step" in ended.out

    whole, pieces = variables(tmp_path / "whole"), variables(tmp_path / "cut")
    for name in filter(lambda name: name.startswith("model/"), whole):
        assert pieces[name].shape == whole[name].shape
    ended = cli("resume=cut", "train.steps=30")
    assert ended.code == 0, ended.err
    losses = [record["train"]["loss"] for record in records(tmp_path / "cut")]
    assert len(losses) == 4 and losses == sorted(losses, reverse=True)


def test_sixteen_bits_halve_the_bytes_and_learn_as_much(cli: Callable, tmp_path: Path) -> None:
    moved = {}
    for dtype in ("float32", "bfloat16"):
        ended = cli(*MODEL, *CLUSTER, f"cluster.wire_dtype={dtype}", f"hydra.run.dir={dtype}")
        assert ended.code == 0, ended.err
        moved[dtype] = bytes_per_step(tmp_path / dtype)
        last = records(tmp_path / dtype)[-1]
        assert last["bytes_per_step"] == pytest.approx(moved[dtype]["worker:0"], rel=0.05)
        assert last["train"]["loss"] == pytest.approx(records(tmp_path / "float32")[-1]["train"]["loss"], rel=0.05)
    for way in ("sent", "received"):
        assert 0.5 < moved["bfloat16"]["worker:1"][way] / moved["float32"]["worker:1"][way] < 0.65


def test_the_rows_of_words_are_found_in_the_pieces_of_a_table(cli: Callable, tmp_path: Path) -> None:
    """The metrics see the table as a whole: they agree with what is looked up only if the pieces have successive rows."""
    words = ["experiment=words", *CLUSTER, "cluster.workers=1", "update=async", "cluster.shard_above=1", "train.steps=60"]
    ended = cli(*words, "train.eval_every=0", "data.sentences=97", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["train"]["top5"] > 2 * records(tmp_path / "run")[0]["train"]["top5"]
