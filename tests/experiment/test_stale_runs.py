"""Asynchronous runs record how late gradients are, and drop, damp and warm up as they are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import numbers, records

CLUSTER = ["cluster=2workers", "cluster.hosting=process", "cluster.workers=3"]
WAYS = {
    "between_graph": CLUSTER,
    "in_graph": [*CLUSTER, "replication=in_graph"],
    "towers": ["replication=in_graph", "replication.towers=3"],
}


pytestmark = pytest.mark.usefixtures("tasks_are_threads")


def result(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "result.json").read_text()))


@pytest.mark.parametrize("way", WAYS)
def test_counts_every_gradient_of_every_copy(way: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(*WAYS[way], "train.steps=90", "train.eval_every=30", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    told = result(tmp_path / "run")
    for name, late in told["staleness"].items():
        assert sum(late["counts"]) == told["timing"]["steps_of"][name]
        assert late["mean"] == pytest.approx(late["sum"] / max(sum(late["counts"]), 1), abs=1e-3)
    history = [record["staleness"] for record in records(tmp_path / "run")]
    assert history[0] == [{"sum": 0, "counts": [0]}] * 3
    assert history[-1] == [{key: late[key] for key in ("sum", "counts")} for late in told["staleness"].values()]
    assert "staleness" in ended.out
    assert "dropped" not in told
    if way == "in_graph":
        return
    ended = cli("resume=run", "train.steps=120")
    assert ended.code == 0, ended.err
    after = result(tmp_path / "run")["staleness"]
    assert sum(sum(late["counts"]) for late in after.values()) == 120, "what an earlier stay counted is kept"


@pytest.mark.parametrize("way", WAYS)
def test_drops_what_is_late_and_makes_all_steps(way: str, cli: Callable, tmp_path: Path) -> None:
    words = [*WAYS[way], "update.staleness.drop_above=0", "train.steps=120", "optimizer=adam"]
    ended = cli(*words, "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    told = result(tmp_path / "run")
    assert numbers(tmp_path / "run")["step"] == 120
    assert told["dropped"] == {name: sum(late["counts"][1:]) for name, late in told["staleness"].items()}
    assert sum(told["timing"]["steps_of"].values()) - sum(told["dropped"].values()) == 120


@pytest.mark.parametrize("way", WAYS)
def test_the_first_copy_trains_alone_at_first(way: str, cli: Callable, tmp_path: Path) -> None:
    words = [*WAYS[way], "update.staleness.warmup_steps=40", "update.staleness.damping=1", "train.steps=90"]
    ended = cli(*words, "train.eval_every=40", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["step"] == 90
    first = next(record for record in records(tmp_path / "run") if record["step"] >= 40)["staleness"][0]
    assert sum(first["counts"]) >= 40
    assert first["counts"][0] >= 40, "nobody else made an update"
    assert "worker:1, worker:2 begin after step 40" in ended.out or way != "between_graph"


@pytest.mark.parametrize("way", ["between_graph", "towers"])
def test_a_warm_up_may_be_longer_than_the_run(way: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(*WAYS[way], "update.staleness.warmup_steps=1000", "train.steps=30", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["step"] == 30


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["update.staleness.drop_above=1"],
            "update.staleness.drop_above: 1: one copy of the model makes no gradient too late",
        ),
        (["update.staleness.damping=-1"], "update.staleness.damping: -1.0 must be at least 0"),
        ([*CLUSTER, "update.staleness.drop_above=63"], "update.staleness.drop_above: 63 must be below 63"),
    ],
)
def test_refuses_what_makes_no_sense(words: list[str], said: str, cli: Callable) -> None:
    ended = cli(*words)
    assert ended.code == 2
    assert said in ended.err
