"""Every choice of every group in conf/ runs, and conf/ and the schema classes agree on the settings."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from run_files import numbers, records

from tests.distributed.clusters import running
from tfexp.experiment import schema
from tfexp.experiment.choices import conf_dir
from tfexp.records import main as write_records

CSV = "width,height,kind\n" + "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(47))
OWN = """
from dataclasses import dataclass
import numpy as np
import tfexp as tf
from tfexp.experiment.datasets.source import Source, Table
from tfexp.experiment.inputs.input import Batches, Input, feedable
from tfexp.experiment.models.dense import dense
from tfexp.experiment.models.model import Regression
from tfexp.experiment.optimizers import Optimizer
from tfexp.experiment.schedules import Schedule

@dataclass(frozen=True)
class Wide(Regression):
    width: int = 8

    def outputs(self, features, spec):
        return dense(tf.nn.relu(dense(features, self.width, "wide")), 1, "out")

@dataclass(frozen=True)
class Squares(Source):
    rows: int = 41

    def read(self):
        x = np.linspace(-1, 1, self.rows)
        return Table(x[:, None], x**2, ("x",), None, "squares")

@dataclass(frozen=True)
class Backwards(Input):
    reverse: bool = False

    def batches(self, share):
        return Reversed(share, self.reverse)

@dataclass(frozen=True)
class Sign(Optimizer):
    def create(self, learning_rate):
        return SignDescent(learning_rate)

class SignDescent(tf.train.GradientDescentOptimizer):
    def _apply_dense(self, grad, var):
        return super()._apply_dense(tf.sign(grad), var)

@dataclass(frozen=True)
class WarmUp(Schedule):
    steps: int = 20

    def rate(self, start, global_step):
        return start * tf.minimum(1.0, tf.cast(global_step + 1, tf.float32) / self.steps)

class Reversed(Batches):
    def __init__(self, share, reverse):
        self.share, self.made, self.step = share, 0, -1 if reverse else 1
        self.row = tf.placeholder(tf.int64, [share.batch_size])
        train = share.dataset.train
        self.features, self.labels = feedable(
            tf.gather(train.features, self.row), tf.gather(train.labels, self.row), share.spec)

    def start(self, session, begin):
        self.begin = begin

    def next_feeds(self):
        self.made += 1
        return {self.row: self.share.rows(self.share.number(self.begin, self.made - 1))[:: self.step]}
"""

TWO_WORKERS = "cluster=2workers cluster.hosting=process"
RUNS = (
    "model=linreg data=line data.points=61 train.batch_size=16 optimizer=sgd schedule=constant device=cpu "
    "device.intra_op_threads=1",
    "model=logreg data=breast_cancer optimizer=momentum schedule=exponential schedule.decay_steps=10 device=one_thread",
    "model=softmax data=digits input=dataset input.prefetch=2 cluster=local replication=none",
    "model=mlp 'model.hidden=[13,7]' data=mixture data.points=211 input=preload",
    "model=cnn 'model.filters=[3]'",
    "model=layers 'model.layers=[{dense: 13}, relu]'",
    "model=ensemble model.members=2 model.member.hidden=[13]",
    "model=own model.target=own_parts:Wide model.width=11 data=line data.points=61 train.batch_size=16",
    "model=mlp data=csv data.path=flowers.csv data.label=kind data.classes=3 train.batch_size=5 "
    "optimizer.learning_rate=0.01",
    "model=softmax data=records 'data.files=[written]' input=tfrecord",
    "model=mlp data=own data.target=own_parts:Squares data.rows=43 train.batch_size=8",
    "data=diabetes input=feed optimizer=adagrad schedule=piecewise 'schedule.boundaries=[10,70]' device=onednn "
    "device.onednn=false",
    "input=queue input.capacity=3 input.threads=2 optimizer=adadelta optimizer.epsilon=0.001 schedule=polynomial "
    "schedule.decay_steps=90 schedule.cycle=true",
    "input=tfrecord input.shards=3 input.shuffle=50 optimizer=adam optimizer.learning_rate=0.01 schedule=natural_exp "
    "schedule.decay_steps=10 device=gpu device.log_placement=false",
    "input=own input.target=own_parts:Backwards input.reverse=true optimizer=rmsprop optimizer.centered=true "
    "schedule=cosine schedule.decay_steps=90 device=xla device.jit=none",
    "optimizer=ftrl optimizer.l2=0.001 schedule=inverse_time schedule.staircase=true device=numba device.jit=none",
    "optimizer=proximal_sgd optimizer.l1=0.001 schedule=cosine_restarts schedule.first_steps=10",
    "optimizer=proximal_adagrad optimizer.l2=0.001",
    "data=line optimizer=own optimizer.target=own_parts:Sign schedule=own schedule.target=own_parts:WarmUp schedule.steps=7",
    f"{TWO_WORKERS} replication=between_graph update=async",
    "cluster=2ps3workers cluster.hosting=process",
    "cluster=2peers cluster.hosting=process replication=all_reduce",
    "cluster=static 'cluster.ps_hosts=[{0}]' 'cluster.worker_hosts=[{1}]'",
    "replication=in_graph replication.towers=2 update=sync update.spare=0",
    "experiment=digits_cnn 'model.filters=[3]'",
    "experiment=digits_ensemble model.members=2",
    "experiment=digits_lstm model=lstm 'model.units=[11]'",
    "experiment=heaps_gan model=gan 'model.generator=[13]' 'model.discriminator=[17]' data.points=211",
    "experiment=words model=word2vec model.size=7 data=corpus data.sentences=97",
)
"""Which name every choice of every group, with what they need to learn something in a hundred steps."""


def groups() -> dict[str, set[str]]:
    """Those of a run; what is about many runs has tests of its own in `sweeps`."""
    folders = [path for path in conf_dir().iterdir() if path.is_dir() and path.name not in ("hydra", "sweep")]
    return {folder.name: {path.stem for path in folder.glob("*.yaml")} for folder in folders}


def chosen(words: list[str]) -> list[tuple[str, str]]:
    """The groups and choices that the words name."""
    pairs = [word.partition("=")[::2] for word in words]
    return [(key, choice) for key, choice in pairs if "." not in key]


def test_every_choice_is_run() -> None:
    named = {pair for run in RUNS for pair in chosen(shlex.split(run))}
    assert named == {(group, choice) for group, choices in groups().items() for choice in choices}


@pytest.mark.usefixtures("tasks_are_threads")
@pytest.mark.parametrize("run", RUNS, ids=str)
def test_choices_learn(run: str, cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "flowers.csv").write_text(CSV)
    (tmp_path / "own_parts.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "own_parts", raising=False)
    words = shlex.split(run)

    with contextlib.ExitStack() as stack:
        if "data=records" in words:
            assert write_records(["data=digits", "out=written"]) == 0
        if "cluster=static" in words:
            servers = stack.enter_context(running(ps=1, worker=1))
            words = [word.format(servers["ps:0"].address, servers["worker:0"].address) for word in words]
        ended = cli(*words, "train.steps=100", "train.eval_every=20", "hydra.run.dir=run")

    assert ended.code == 0, ended.err
    measure = "energy_distance" if "model=gan" in words else "loss"  # two losses that play against each other need not fall
    losses = [record["train"][measure] for record in records(tmp_path / "run")]
    assert all(math.isfinite(loss) for loss in losses)
    assert losses[-1] < losses[0]
    assert numbers(tmp_path / "run")["step"] == 100
    composed = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    for group, choice in chosen(words):
        target = yaml.safe_load((conf_dir() / group / f"{choice}.yaml").read_text()).get("target", "???")
        if target != "???":
            assert composed[group]["target"] == target
    for word in words:
        key, _, value = word.partition("=")
        if "." in key:
            *sections, name = key.split(".")
            assert functools.reduce(dict.__getitem__, sections, composed)[name] == yaml.safe_load(value)


@pytest.mark.parametrize("group", ["model", "data", "input", "optimizer", "schedule", "replication", "update"])
def test_files_give_the_values_of_exactly_their_classes_settings(group: str) -> None:
    for path in (conf_dir() / group).glob("*.yaml"):
        content = yaml.safe_load(path.read_text())
        for entry in content.pop("defaults", []):
            for key in entry if isinstance(entry, dict) else ():
                if "@" in key and not key.startswith("override "):  # a section of its own within this one
                    content[key.partition("@")[2]] = entry[key]
        target = content.pop("target")
        if target == "???":
            continue
        fields = dataclasses.fields(schema.resolve(target, schema.Section))
        assert set(content) == {field.name for field in fields}, path
        for field in fields:
            if field.default is not dataclasses.MISSING:
                given = content[field.name]
                assert field.default == (tuple(given) if isinstance(given, list) else given), f"{target}: {field.name}"


def test_fixed_sections_have_the_values_of_exactly_their_settings() -> None:
    config = yaml.safe_load((conf_dir() / "config.yaml").read_text())
    train = dataclasses.fields(schema.Train)
    assert set(config["train"]) == {field.name for field in train}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in config["train"].items()}
    assert all(field.default in (dataclasses.MISSING, values[field.name]) for field in train)
    assert set(config["train"]["early_stop"]) == {field.name for field in dataclasses.fields(schema.EarlyStop)}
    device = yaml.safe_load((conf_dir() / "device" / "cpu.yaml").read_text())
    assert set(device) == {field.name for field in dataclasses.fields(schema.Device)}
    for path in (conf_dir() / "device").glob("*.yaml"):
        assert set(yaml.safe_load(path.read_text())) <= {*device, "defaults"}, path
    settings = {field.name: field.metadata["description"] for field in dataclasses.fields(schema.Cluster)}
    local = (conf_dir() / "cluster" / "local.yaml").read_text()
    assert set(yaml.safe_load(local)) == set(settings)
    assert all(settings.values()), "every setting is described"
    for path in (conf_dir() / "cluster").glob("*.yaml"):
        assert set(yaml.safe_load(path.read_text())) <= {*settings, "defaults"}, path


def test_schedules_move_the_learning_rate(cli: Callable, tmp_path: Path) -> None:
    common = ["data=line", "train.steps=30", "train.eval_every=10", "optimizer.learning_rate=0.5"]
    cli(*common, "schedule=exponential", "schedule.decay_steps=10", "hydra.run.dir=exponential")
    cli(
        *common,
        "schedule=piecewise",
        "schedule.boundaries=[10,20]",
        "schedule.factors=[1,0.5,0.1]",
        "hydra.run.dir=piecewise",
    )
    rates = {name: [record["learning_rate"] for record in records(tmp_path / name)] for name in ("exponential", "piecewise")}
    assert rates["exponential"] == pytest.approx([0.5, 0.25, 0.125, 0.0625])
    # TF: the boundary's own step still has the earlier rate
    assert rates["piecewise"] == pytest.approx([0.5, 0.5, 0.25, 0.05])


def test_a_setting_may_follow_another_section(cli: Callable, tmp_path: Path) -> None:
    own = tmp_path / "mine" / "model"
    own.mkdir(parents=True)
    (own / "narrow.yaml").write_text("defaults:\n  - mlp\n  - _self_\nhidden: ['${train.batch_size}', 3]\n")
    words = ["data=line", "train.steps=${train.eval_every}", "train.eval_every=4", "train.batch_size=13"]
    ended = cli("--config-dir", "mine", "model=narrow", *words, "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    kept = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert (kept["train"]["steps"], kept["model"]["hidden"]) == (4, [13, 3])
    assert [record["step"] for record in records(tmp_path / "run")] == [0, 4]
