"""Whole runs: what they learn, what they say, and what they leave in their folder."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from run_files import numbers, records
from sklearn.metrics import r2_score

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec, prepare
from tfexp.experiment.datasets.line import Line
from tfexp.experiment.history import should_stop
from tfexp.experiment.models.objectives import regression_metrics
from tfexp.experiment.schema import EarlyStop

LINE = Line(standardize=False, test_fraction=0.2, split_seed=0, points=100, slope=2.0, noise=0.3, noise_seed=0)
QUICK = ["data=line", "train.steps=60", "train.eval_every=20", "train.checkpoint_every=25", "train.summary_every=30"]


def test_default_run_learns_real_data_as_well_as_the_normal_equations(cli: Callable, tmp_path: Path) -> None:
    ended = cli("model=linreg", "hydra.run.dir=run", "train.batch_size=null", "optimizer.learning_rate=0.2")
    assert ended.code == 0

    from tfexp.experiment.datasets.bundled import Diabetes

    parts = prepare(Diabetes(standardize=True, test_fraction=0.2, split_seed=0))
    design = np.c_[parts.train.features, np.ones(parts.train.rows)].astype(np.float64)
    solution, *_ = np.linalg.lstsq(design, parts.train.labels.astype(np.float64), rcond=None)
    residual = np.c_[parts.test.features, np.ones(parts.test.rows)] @ solution - parts.test.labels
    rmse = float(np.sqrt(np.mean(np.square(residual)))) * parts.spec.label_scale
    found = numbers(tmp_path / "run")
    assert found["test"]["rmse"] == pytest.approx(rmse, rel=5e-3)
    assert found["test"]["mse"] == pytest.approx(found["test"]["rmse"] ** 2, rel=1e-5)
    variance = float(np.var(parts.test.labels)) * parts.spec.label_scale**2
    assert found["test"]["r2"] == pytest.approx(1 - found["test"]["mse"] / variance, abs=1e-4)


@pytest.mark.parametrize("labels", [[1.0, 2.0, 4.0], [2.0, 2.0, 2.0]])
@pytest.mark.parametrize("error", [0.0, 0.5])
def test_explained_variance_is_scikit_learns_for_equal_labels_too(labels: list[float], error: float) -> None:
    rows = np.array(labels, np.float32)[:, None]
    outputs = rows + np.float32(error) * np.array([[1], [-1], [1]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        metrics = regression_metrics(tf.constant(outputs), tf.constant(rows), Spec(width=1, classes=None))
        assert session.run(metrics["r2"]) == pytest.approx(r2_score(rows, outputs), abs=1e-6)


def test_line_is_found_and_shown(cli: Callable, tmp_path: Path) -> None:
    ended = cli("data=line", "train.batch_size=null", "optimizer.learning_rate=0.2", "hydra.run.dir=run")
    parts = prepare(LINE)
    slope, offset = np.polyfit(parts.train.features[:, 0], parts.train.labels[:, 0], 1)
    shown = {name: float(value) for name, value in re.findall(r"(model/linear/\w+) = \[+([-\d.e]+)\]+", ended.out)}
    assert shown == pytest.approx({"model/linear/weights": slope, "model/linear/bias": offset}, rel=1e-4)


@pytest.mark.parametrize(("model", "least"), [("logreg", 0.95), ("softmax", 0.9), ("mlp", 0.93)])
def test_classifiers_learn_real_data(model: str, least: float, cli: Callable, tmp_path: Path) -> None:
    assert cli(f"model={model}", "train.steps=400", "hydra.run.dir=run").code == 0
    assert numbers(tmp_path / "run")["test"]["accuracy"] > least


def test_folder_holds_the_whole_run(cli: Callable, tmp_path: Path, pictures: None) -> None:
    cli(*QUICK, "hydra.run.dir=run")
    run = tmp_path / "run"
    assert {path.name.split(".out.")[0] for path in run.iterdir()} == {
        "config.yaml", "overrides.yaml", "manifest.json", "metrics.jsonl", "events", "checkpoints", "graph.pbtxt",
        "result.json", "loss.png",
    }  # fmt: skip

    config = yaml.safe_load((run / "config.yaml").read_text())
    assert list(config) == [
        "model", "data", "input", "optimizer", "schedule", "device", "cluster", "replication", "update", "train",
    ]  # fmt: skip
    assert config["train"]["steps"] == 60
    assert yaml.safe_load((run / "overrides.yaml").read_text()) == [*QUICK, "hydra.run.dir=run"]

    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["command"] == f"python -m tfexp {' '.join(QUICK)} hydra.run.dir=run"
    assert manifest["seeds"] == {"data.noise_seed": 0, "data.split_seed": 0, "train.seed": 0}
    assert manifest["versions"]["numpy"] == np.__version__
    assert manifest["data"]["sha256"] == prepare(LINE).digest
    assert manifest["data"]["train_rows"] == 80
    assert manifest["runtime"]["blas"][0]["num_threads"] >= 1
    assert {"cores", "tasks", "denormals"} <= set(manifest["runtime"])
    assert {"git", "environment", "started", "working_directory"} <= set(manifest)

    assert [record["step"] for record in records(run)] == [0, 20, 40, 60]
    assert [record["epoch"] for record in records(run)] == [0, 10, 20, 30]
    assert tf.train.latest_checkpoint(str(run / "checkpoints")).endswith("model.ckpt-60")
    kept = {path.name for path in (run / "checkpoints").glob("*.index")}
    assert kept == {f"model.ckpt-{step}.index" for step in (0, 25, 50, 60)}
    with Image.open(run / "loss.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 300


def test_events_and_graph_read_as_tensorboard_reads_them(cli: Callable, tmp_path: Path) -> None:
    from google.protobuf import text_format
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    cli(*QUICK, "hydra.run.dir=run")
    events = EventAccumulator(str(tmp_path / "run")).Reload()
    tags = events.Tags()
    assert {"train/loss", "test/loss", "test/rmse", "test/r2", "learning_rate"} <= set(tags["scalars"])
    assert [point.step for point in events.Scalars("test/loss")] == [0, 20, 40, 60]
    assert events.Scalars("test/loss")[-1].value == np.float32(records(tmp_path / "run")[-1]["test"]["loss"])
    assert len(tags["histograms"]) == 2
    assert tags["graph"]
    graph = text_format.Parse((tmp_path / "run" / "graph.pbtxt").read_text(), GraphDef())
    names = {node.name for node in graph.node}
    assert {"input/features", "model/linear/weights", "loss/squared_error", "metrics/r2", "global_step"} <= names
    assert {node.device for node in graph.node if node.op == "Placeholder"} == {"/device:CPU:0"}


def test_traces_of_every_so_many_steps(cli: Callable, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    cli(*QUICK, "train.trace_every=25", f"hydra.run.dir={folder}")
    cli(*QUICK, f"hydra.run.dir={tmp_path / 'plain'}")
    kept = sorted(path.name for path in (folder / "traces").iterdir())
    assert kept == ["step-25.json", "step-50.json"]
    events = json.loads((folder / "traces" / "step-50.json").read_text())["traceEvents"]
    assert {"MatMul", "ApplyGradientDescent"} <= {event["name"] for event in events if event["ph"] == "X"}
    assert numbers(folder) == numbers(tmp_path / "plain")
    assert not (tmp_path / "plain" / "traces").exists()


def test_same_configuration_same_numbers_to_the_bit(cli: Callable, tmp_path: Path) -> None:
    words = ["model=mlp", "model.hidden=[13]", "train.steps=40", "train.eval_every=10"]
    cli(*words, "hydra.run.dir=a")
    cli(*words, "hydra.run.dir=b")
    cli(*words, "hydra.run.dir=c", "train.seed=1")
    assert numbers(tmp_path / "a") == numbers(tmp_path / "b")
    assert (tmp_path / "a" / "metrics.jsonl").read_bytes() == (tmp_path / "b" / "metrics.jsonl").read_bytes()
    assert numbers(tmp_path / "a")["variables_sha256"] != numbers(tmp_path / "c")["variables_sha256"]


def test_says_how_it_goes_how_it_ended_and_where_to_look(cli: Callable) -> None:
    ended = cli(*QUICK, "hydra.run.dir=my run")
    lines = ended.out.splitlines()
    assert re.fullmatch(r"Linreg on Line: step 6/60  loss [\d.e+-]+  [\d,]+ steps/s  \d+:\d\d left", lines[0])
    assert lines[9].startswith("Linreg on Line: step 60/60")
    assert any(re.search(r"rmse.* [\d.]+ .* [\d.]+ ", line) for line in lines)
    assert lines[-4].startswith("finished after step 60 (epoch 30), 60 steps in ")
    assert lines[-3].split() == ["folder", "my", "run"]
    assert lines[-1] == "tensorboard --logdir 'my run'"
    assert ended.err == ""


def test_epochs_count_full_batches(cli: Callable, tmp_path: Path) -> None:
    cli("data=line", "train.epochs=7", "train.batch_size=23", "hydra.run.dir=run")
    assert numbers(tmp_path / "run")["step"] == 7 * (80 // 23)
    assert numbers(tmp_path / "run")["epoch"] == 7


def test_divergence_stops_at_its_step_and_keeps_the_last_good_checkpoint(cli: Callable, tmp_path: Path) -> None:
    ended = cli("optimizer.learning_rate=30", "train.checkpoint_every=3", "hydra.run.dir=run", "train.eval_every=0")
    assert ended.code == 1
    found = re.fullmatch(
        r"tfexp: the loss is (?:inf|nan) at step (\d+); the last good checkpoint is "
        r"(run/checkpoints/model\.ckpt-(\d+))\. A lower optimizer\.learning_rate than 30 may help\n",
        ended.err,
    )
    assert found is not None, ended.err
    step, path, saved = int(found[1]), found[2], int(found[3])
    assert 0 < step - saved <= 3
    values = tf.train.load_checkpoint(path)
    assert np.isfinite(values.get_tensor("model/linear/weights")).all()
    assert numbers(tmp_path / "run") == {"status": "diverged", "step": step}


def test_a_variable_that_is_not_finite_is_never_saved(cli: Callable, tmp_path: Path) -> None:
    ended = cli("optimizer.learning_rate=1e38", "train.batch_size=null", "train.steps=1", "hydra.run.dir=run")
    assert ended.code == 1
    assert "inf" in ended.err or "not finite" in ended.err
    assert tf.train.latest_checkpoint("run/checkpoints").endswith("model.ckpt-0")


def test_early_stop_waits_for_a_better_test_loss() -> None:
    def after(*losses: float) -> list[dict]:
        return [{"test": {"loss": loss}} for loss in losses]

    rule = EarlyStop(patience=2, min_delta=0.1)
    assert not should_stop(after(5.0, 4.0, 3.95), rule)
    assert should_stop(after(5.0, 4.0, 3.95, 3.91), rule)
    assert not should_stop(after(5.0, 4.0, 3.95, 3.85), rule)
    assert not should_stop(after(5.0, 5.0, 5.0, 5.0), EarlyStop(patience=None, min_delta=0.0))


def test_early_stop_ends_a_run(cli: Callable, tmp_path: Path) -> None:
    ended = cli(*QUICK, "train.early_stop.patience=2", "train.early_stop.min_delta=100", "hydra.run.dir=run")
    assert numbers(tmp_path / "run")["status"] == "stopped early"
    assert numbers(tmp_path / "run")["step"] == 40
    assert "stopped early after step 40" in ended.out


def test_sweep_runs_each_and_one_bad_run_does_not_sink_it(cli: Callable, tmp_path: Path) -> None:
    ended = cli("-m", *QUICK, "optimizer.learning_rate=0.1,1e30,0.3", "hydra.sweep.dir=sweep")
    assert ended.code == 1
    assert ended.err.startswith("tfexp: 1 of 3 trials failed:\n  1 (optimizer.learning_rate=1e+30): the loss is ")
    statuses = [numbers(tmp_path / "sweep" / f"{job}-linreg")["status"] for job in range(3)]
    assert statuses == ["finished", "diverged", "finished"]
    overrides = yaml.safe_load((tmp_path / "sweep" / "2-linreg" / "overrides.yaml").read_text())
    assert "optimizer.learning_rate=0.3" in overrides


def test_shows_the_configuration_and_the_help(cli: Callable) -> None:
    shown = cli("--cfg", "job", "model=mlp", "train.steps=7")
    assert shown.code == 0
    config = yaml.safe_load(shown.out)
    assert config["optimizer"]["target"].endswith(":Adam")  # the model brings its optimizer and its data
    assert config["data"]["target"].endswith(":Digits")
    assert config["train"]["steps"] == 7
    assert "Defaults Tree" in cli("--info").out, "all of it, where nothing says what"

    shown = cli("--help")
    assert shown.code == 0
    for said in ("model  what is trained", "  » linreg ", "    word2vec "):
        assert said in shown.out
    assert "train.epochs=20" in shown.out


def test_a_terminal_gets_a_bar_with_loss_speed_and_time_left(cli: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    ended = cli(*QUICK, "hydra.run.dir=run")
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", ended.out)
    assert re.search(r"Linreg on Line ━+ 60/60 loss [\d.e+-]+  [\d,]+ steps/s  0:00 left", shown), shown
