"""Every model of the zoo trains on a cluster, in each way; what it computes there is what one process computes.

The tasks are threads of this process.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from run_files import numbers
from test_replication_modes import CLUSTER, TOGETHER, assert_same

ZOO = {
    "cnn": ["model.filters=[3]", "model.dense=7", "model.dropout=0.1"],
    "lstm": ["model.units=[5]", "model.steps=2"],
    "layers": ["model.layers=[{dense: 11}, batch_norm, relu, {dropout: 0.2}]"],
    "ensemble": ["model.members=2", "model.member.hidden=[7]"],
    "word2vec": ["data.sentences=97", "model.size=5"],
    "gan": ["data.points=97", "model.generator=[7]", "model.discriminator=[11]"],
}
SHORT = ["train.steps=12", "train.eval_every=0", "train.summary_every=0"]


pytestmark = pytest.mark.usefixtures("tasks_are_threads")


@pytest.mark.parametrize("model", ["lstm", "gan"])  # the others do so in step, below, or in test_bandwidth
def test_workers_share_its_variables(model: str, cli: Callable, tmp_path: Path) -> None:
    common = [f"model={model}", *ZOO[model], *SHORT]
    ended = cli(*common, *CLUSTER, "hydra.run.dir=two")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "two")["step"] == 12


@pytest.mark.parametrize(
    ("model", "way"),
    [
        *[("layers", "between_graph"), ("cnn", "between_graph"), ("layers", "towers"), ("word2vec", "towers")],
        *[("layers", "all_reduce"), ("gan", "all_reduce"), ("word2vec", "all_reduce")],
    ],
)
def test_it_takes_synchronous_steps(model: str, way: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(f"model={model}", *ZOO[model], *SHORT, *TOGETHER[way], "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert numbers(tmp_path / "run")["step"] == 12


@pytest.mark.parametrize(("model", "way"), [("ensemble", "between_graph"), ("ensemble", "all_reduce")])
def test_together_workers_do_what_one_process_does(model: str, way: str, cli: Callable, tmp_path: Path) -> None:
    common = [f"model={model}", *ZOO[model], *SHORT, "optimizer=momentum"]
    assert cli(*common, "hydra.run.dir=one").code == 0
    ended = cli(*common, *TOGETHER[way], "hydra.run.dir=two")
    assert ended.code == 0, ended.err
    assert_same(tmp_path / "one", tmp_path / "two")
