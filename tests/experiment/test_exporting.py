"""`python -m tfexp.export`: the SavedModel says of the data's own rows what the run's evaluation says of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import numbers

import tfexp as tf
from tfexp.experiment.cli import settings_of_run
from tfexp.experiment.datasets.dataset import prepare
from tfexp.experiment.datasets.source import Source, Table
from tfexp.export import main


def asked(folder: Path, features: np.ndarray) -> dict[str, np.ndarray]:
    """What the SavedModel says of rows."""
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.load(session, ["serve"], str(folder)).signature_def["serving_default"]
        outputs = {name: info.name for name, info in signature.outputs.items()}
        answers: dict[str, Any] = session.run(outputs, {signature.inputs["features"].name: features})
    return answers


def rows_of(run: Path) -> tuple[Table, np.ndarray, np.ndarray]:
    """The table as it was read, and which of its rows are to train and to test on."""
    source = settings_of_run(run).data
    assert isinstance(source, Source)
    table = source.read()
    numbered = dataclasses.replace(table, features=np.arange(len(table.labels), dtype=float)[:, None], columns=("row",))
    how = {"test_fraction": source.test_fraction, "split_seed": source.split_seed}
    split = prepare(_Given(table=numbered, standardize=False, **how))
    return table, split.train.features[:, 0].astype(int), split.test.features[:, 0].astype(int)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Given(Source):
    table: Table

    def read(self) -> Table:
        return self.table


@pytest.mark.parametrize(
    "words",
    [
        ["model=logreg"],
        ["model=mlp", "data=breast_cancer", "data.standardize=false"],
        ["model=layers", "data=breast_cancer", "model.layers=[batch_norm, {dropout: 0.5}, {dense: 5}, relu]"],
        ["model=ensemble", "model@model.member=mlp", "data=breast_cancer"],
    ],
    ids=["logreg", "raw", "layers", "ensemble"],
)
def test_classes_are_those_of_the_evaluation(words: list[str], cli: Callable, tmp_path: Path) -> None:
    ended = cli(*words, "train.steps=30", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert main(["run", "out"]) == 0
    table, train, test = rows_of(tmp_path / "run")
    said = asked(tmp_path / "out", table.features)
    right = said["class_ids"][:, 0] == table.labels
    for part, rows in (("train", train), ("test", test)):
        assert np.mean(right[rows]) == pytest.approx(numbers(tmp_path / "run")[part]["accuracy"], abs=1e-6)
    np.testing.assert_array_equal(np.argmax(said["probabilities"], 1), said["class_ids"][:, 0])
    np.testing.assert_allclose(said["probabilities"].sum(1), 1, rtol=1e-5)


def test_numbers_are_in_the_unit_of_the_data(cli: Callable, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli("model=linreg", "train.steps=30", "train.keep_best=true", "hydra.run.dir=run").code == 0
    assert main(["run", "out"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Linreg on Diabetes after step 30: out",
        "  features       float64 [rows, 10]: age, sex, bmi, bp, s1, s2, s3, s4, …",
        "  predictions    float32 [rows, 1]",
        "load it with tf.saved_model.load(session, [\"serve\"], 'out')",
    ]
    table, train, test = rows_of(tmp_path / "run")
    errors = asked(tmp_path / "out", table.features)["predictions"][:, 0] - table.labels
    for part, rows in (("train", train), ("test", test)):
        assert np.mean(errors[rows] ** 2) == pytest.approx(numbers(tmp_path / "run")[part]["mse"], rel=1e-5)

    assert main(["run", "best", "--best"]) == 0
    assert capsys.readouterr().out.startswith("Linreg on Diabetes after step 30: best\n")


def test_classes_have_their_names(cli: Callable, tmp_path: Path) -> None:
    lines = ["size,kind", *(f"{size},{'cat' if size < 7 else 'dog'}" for size in range(14))]
    (tmp_path / "pets.csv").write_text("\n".join(lines))
    words = ["data=csv", "data.path=pets.csv", "data.label=kind", "data.class_names=[dog,cat]", "train.batch_size=5"]
    assert cli("model=softmax", *words, "optimizer.learning_rate=1", "train.steps=40", "hydra.run.dir=run").code == 0
    assert main(["run", "out"]) == 0
    said = asked(tmp_path / "out", np.array([[0.0], [13.0]]))
    assert said["classes"].tolist() == [[b"cat"], [b"dog"]]
    assert said["class_ids"].tolist() == [[1], [0]]


def test_what_cannot_be_exported_is_said(cli: Callable, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def said(*words: str) -> str:
        assert main(list(words)) == 1
        return capsys.readouterr().err

    assert said("nowhere", "out") == "tfexp: nowhere is not a run's folder: it has no config.yaml\n"
    cli("model=gan", "data=mixture", "train.steps=1", "train.eval_every=0", "hydra.run.dir=gan")
    assert said("gan", "out") == "tfexp: Gan predicts nothing that could be asked for\n"
    cli("model=linreg", "data=line", "train.steps=1", "hydra.run.dir=run")
    assert said("run", "run").startswith("tfexp: run is there already")
    assert said("run", "out", "--best") == (
        "tfexp: run/checkpoints/best holds no checkpoint: a run keeps its best with train.keep_best=true\n"
    )
    config = tmp_path / "run" / "config.yaml"
    config.write_text(config.read_text().replace("points: 100", "points: 101").replace("points: 200", "points: 201"))
    assert "is not what run was begun with" in said("run", "out")
    assert not (tmp_path / "out").exists()
