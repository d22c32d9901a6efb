"""In-graph and between-graph, synchronous and asynchronous: what each learns, counts, and leaves when it stops.

The tasks are threads of this process: their servers, sessions and messages are those of any cluster.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import numbers, records

import tfexp as tf

CLUSTER = ["cluster=2workers", "cluster.hosting=process"]
PEERS = ["cluster=2peers", "cluster.hosting=process"]
MLP = ["model=mlp", "model.hidden=[13]"]
WAYS = {
    "between_graph": CLUSTER,
    "in_graph": [*CLUSTER, "replication=in_graph"],
    "towers": ["replication=in_graph"],
}
EVERY_WAY = {**WAYS, "all_reduce": PEERS}
TOGETHER = {way: [*words, "update=sync"] for way, words in EVERY_WAY.items()}


pytestmark = pytest.mark.usefixtures("tasks_are_threads")


def result(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "result.json").read_text()))


def variables(folder: Path) -> dict[str, Any]:
    path = tf.train.latest_checkpoint(str(folder / "checkpoints"))
    return {name: tf.train.load_variable(path, name) for name, _ in tf.train.list_variables(path)}


def assert_same(one: Path, other: Path) -> None:
    """The same values of all variables, and the same evaluations, to float tolerance."""
    ours, theirs = variables(one), variables(other)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert theirs[name] == pytest.approx(value, rel=2e-5, abs=2e-6), name
    for mine, other_record in zip(records(one), records(other), strict=True):
        assert mine["step"] == other_record["step"]
        assert mine["learning_rate"] == other_record["learning_rate"]
        for part in ("train", "test"):
            assert other_record[part] == pytest.approx(mine[part], rel=1e-4)


def test_together_they_do_what_one_process_does_with_the_whole_batch(cli: Callable, tmp_path: Path) -> None:
    """Others do so with models of numbers. Again, they come to the same numbers to the bit."""
    common = [*MLP, "train.steps=31", "train.eval_every=10", "train.trace_every=20"]
    common += ["optimizer=momentum", "schedule=exponential"]
    assert cli(*common, "hydra.run.dir=one").code == 0
    for way, words in TOGETHER.items():
        ended = cli(*common, *words, f"hydra.run.dir={way}")
        assert ended.code == 0, ended.err
        assert_same(tmp_path / "one", tmp_path / way)
        kept = sorted(path.name for path in (tmp_path / way / "traces").iterdir())
        assert kept == ["step-20.json"]
        made = result(tmp_path / way)["timing"]["steps_of"]
        assert list(made.values()) == [31, 31]
        if way != "towers":  # as one process does, which others look at
            ended = cli(f"rerun={way}", f"hydra.run.dir={way}-again")
            assert ended.code == 0, ended.err
            assert f"the numbers agree with {way}, to the bit" in ended.out
    assert result(tmp_path / "between_graph")["dropped"] == {"worker:0": 0, "worker:1": 0}


@pytest.mark.parametrize(
    ("given", "way"),
    [("preload", "all_reduce"), ("queue", "between_graph"), ("dataset", "all_reduce"), ("tfrecord", "between_graph")],
)
def test_each_input_gives_each_worker_its_part(given: str, way: str, cli: Callable, ran: Callable, tmp_path: Path) -> None:
    common = ["train.steps=15", "train.eval_every=10", "train.batch_size=30"]
    words = [f"input={given}", *(["input.threads=1"] if given == "queue" else []), "update=sync"]
    ran("one", *common)
    for copies, three in ((way, "cluster.workers=3"), ("towers", "replication.towers=3")):
        ended = cli(*common, *EVERY_WAY[copies], three, *words, f"hydra.run.dir={copies}")
        assert ended.code == 0, ended.err
        assert_same(tmp_path / "one", tmp_path / copies)


@pytest.mark.parametrize("way", WAYS)
def test_each_by_itself_makes_its_steps_to_the_step(way: str, cli: Callable, ran: Callable, tmp_path: Path) -> None:
    common = [*MLP, "train.steps=200", "train.eval_every=50"]
    ran("one", *common)
    ended = cli(*common, *WAYS[way], "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    one, run = numbers(tmp_path / "one"), numbers(tmp_path / "run")
    assert run["step"] == 200
    assert sum(result(tmp_path / "run")["timing"]["steps_of"].values()) == 200
    assert run["train"]["loss"] == pytest.approx(one["train"]["loss"], rel=0.2)
    # It rises steeply then: who makes how many of the steps moves it by some hundredths.
    assert run["test"]["accuracy"] == pytest.approx(one["test"]["accuracy"], abs=0.1)
    first = records(tmp_path / "run")[0]
    assert len(first.pop("staleness")) == 2
    assert first == records(tmp_path / "one")[0]


def test_spare_workers_and_what_they_bring_too_late(cli: Callable, tmp_path: Path) -> None:
    words = [*CLUSTER, "cluster.workers=3", "train.batch_size=33", "update=sync", "update.spare=1"]
    ended = cli(*words, "train.steps=60", "train.eval_every=20", "train.checkpoint_every=25", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    told = result(tmp_path / "run")
    dropped, made = told["dropped"], told["timing"]["steps_of"]
    assert numbers(tmp_path / "run")["step"] == 60
    # Each step is made of at least two of three gradients, and what was not dropped is in one of them.
    assert 2 * 60 <= sum(made.values()) - sum(dropped.values()) <= 3 * 60
    assert all(0 <= dropped[worker] <= made[worker] for worker in made)
    counts = [record["dropped"] for record in records(tmp_path / "run")]
    assert counts[0] == [0, 0, 0]
    assert counts == sorted(counts, key=sum)
    assert counts[-1] == list(dropped.values())
    assert "dropped" in ended.out

    ended = cli("resume=run", "train.steps=90")
    assert ended.code == 0, ended.err
    later = records(tmp_path / "run")[-1]
    assert later["step"] == 90
    assert all(after >= before for after, before in zip(later["dropped"], counts[-1], strict=True))


@pytest.mark.parametrize(
    ("way", "update"),
    [
        *[(way, "sync") for way in ("between_graph", "in_graph", "all_reduce")],
        *[(way, "async") for way in ("between_graph", "in_graph", "towers")],
    ],
)
def test_stopping_early_ends_everybody(way: str, update: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(
        *EVERY_WAY[way], f"update={update}", "train.steps=100000", "train.eval_every=10", "train.early_stop.patience=2",
        "train.early_stop.min_delta=100", "hydra.run.dir=run",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["status"] == "stopped early"
    step = numbers(tmp_path / "run")["step"]
    assert step == 20 if update == "sync" else step < 5000, "nobody went on"


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("between_graph", ["update=sync"]),
        ("between_graph", ["update=sync", "update.spare=1"]),
        ("in_graph", ["update=sync"]),
        ("in_graph", []),
        ("towers", ["update=sync"]),
        ("towers", []),
        ("all_reduce", ["cluster.workers=3"]),
    ],
)
def test_a_signal_saves_a_whole_step_and_the_run_goes_on(
    way: str, words: list[str], cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Synchronous workers resume to the bit: their result equals that of one process."""
    signals_after(20, monkeypatch)
    common = ["train.batch_size=30", "train.eval_every=10"]
    stopped = ["train.steps=1000000", "train.checkpoint_every=0", "hydra.run.dir=run"]
    ended = cli(*common, *EVERY_WAY[way], *words, *stopped)
    assert ended.code == 130, ended.err
    assert ended.err.startswith("tfexp: stopped after step ")
    step = int(ended.err.split()[4])
    assert variables(tmp_path / "run")["global_step"] == step >= 20
    ended = cli("resume=run", f"train.steps={step + 13}")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["step"] == step + 13
    if words and "update.spare=1" not in words:
        assert cli(*common, f"train.steps={step + 13}", "hydra.run.dir=whole").code == 0
        assert_same(tmp_path / "whole", tmp_path / "run")


def signals_after(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C when the run has come so far, once."""
    from tfexp.experiment import in_step, together, turns

    sent: list[bool] = []
    for kind in (turns.Alone, turns.Apart, together.Together, turns.Towers, in_step.InStep):

        def may_begin(self: Any, seen: int, before: Any = kind.may_begin) -> bool:
            if seen >= step and not sent:
                sent.append(True)
                signal.raise_signal(signal.SIGINT)
            return bool(before(self, seen))

        monkeypatch.setattr(kind, "may_begin", may_begin)


@pytest.mark.parametrize("way", ["in_graph", "towers", "all_reduce"])
def test_divergence_of_any_copy_ends_the_run(way: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(*EVERY_WAY[way], "optimizer.learning_rate=1e4", "train.eval_every=0", "hydra.run.dir=run")
    assert ended.code == 1
    assert "the last good checkpoint is run/checkpoints/model.ckpt-0" in ended.err
    assert numbers(tmp_path / "run")["status"] == "diverged"


BY_THEMSELVES = [*CLUSTER, "train.steps=60"]


def test_workers_by_themselves_come_near_their_numbers_again(cli: Callable, ran: Callable) -> None:
    ran("run", *BY_THEMSELVES)
    ended = cli("rerun=run", "hydra.run.dir=again")
    assert ended.code == 0, ended.err
    assert "the numbers are near, not equal" in ended.out


@pytest.mark.parametrize(("way", "update"), [("between_graph", "sync"), ("in_graph", "sync"), ("in_graph", "async")])
def test_a_session_that_is_lost_is_no_step_lost(
    way: str, update: str, cli: Callable, ran: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a step was made, and after it was, when its answer does not come: each is made once."""
    common = ["train.steps=31", "train.eval_every=10"]
    ran("one", *common)
    lose_sessions_after(("worker:0", 7, False), ("worker:0", 12, True), ("worker:1", 16, True), monkeypatch=monkeypatch)
    ended = cli(*common, *WAYS[way], f"update={update}", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert "no step was lost: going on after step" in ended.out
    if update == "sync":
        assert_same(tmp_path / "one", tmp_path / "run")
    assert numbers(tmp_path / "run")["step"] == 31


def lose_sessions_after(*losses: tuple[str, int, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step of that worker fail with UnavailableError as soon as so many were made: before, or after it was made."""
    left = list(losses)

    def run(self: tf.Session, fetches: Any, *arguments: Any, **options: Any) -> Any:
        trains = isinstance(fetches, tuple) and len(fetches) == 3
        task = threading.current_thread().name.removeprefix("task-")
        due = [loss for loss in left if trains and loss[0] == task and step_of(self) >= loss[1]]
        if due:
            left.remove(due[0])
            if due[0][2]:
                whole(self, fetches, *arguments, **options)
            raise tf.errors.UnavailableError(None, None, "the connection was cut")
        return whole(self, fetches, *arguments, **options)

    def step_of(session: tf.Session) -> int:
        return int(whole(session, session.graph.get_tensor_by_name("global_step:0")))

    whole = tf.Session.run
    monkeypatch.setattr(tf.Session, "run", run)
