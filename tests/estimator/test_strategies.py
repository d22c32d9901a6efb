"""Estimators under `tf.distribute`: replicas in one process, and workers with parameter servers."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tfexp as tf
from tests.distribute.replicas import two
from tests.distributed.clusters import free_ports
from tests.estimator.lines import X, Y, line, rows

E = tf.estimator
TWO_CPUS = tf.ConfigProto(device_count={"CPU": 2})


def batches(size: int, seen: list[Any] | None = None) -> Callable[..., Any]:
    def input_fn(input_context: Any = None) -> Any:
        if seen is not None:
            seen.append(input_context)
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(5).batch(size)

    return input_fn


def test_replicas_train_and_evaluate_as_one(tmp_path: Path) -> None:
    seen: list[Any] = []
    alone = line(tmp_path / "alone")
    alone.train(batches(10), steps=3)
    expected = alone.evaluate(batches(10), steps=2)
    settings = {"train_distribute": two(), "eval_distribute": two(), "session_config": TWO_CPUS}
    replicas = line(tmp_path / "replicas", **settings)
    replicas.train(batches(5, seen), steps=3)
    found = replicas.evaluate(batches(5), steps=2)
    # An input function's batches are a replica's, the loss is a mean: two of 5 are one of 10.
    assert found.keys() == expected.keys() and found["global_step"] == 3
    assert found["error"] == pytest.approx(expected["error"]) and found["loss"] == pytest.approx(expected["loss"])
    np.testing.assert_allclose(replicas.get_variable_value("slope"), alone.get_variable_value("slope"), rtol=1e-6)
    assert [context.num_replicas_in_sync for context in seen] == [2]
    assert sorted(replicas.get_variable_names()) == ["global_step", "slope"]
    told = tf.train.summary_iterator(str(next((tmp_path / "replicas").glob("events.*"))))
    losses = [value.simple_value for event in told for value in event.summary.value if value.tag == "loss"]
    assert losses == [pytest.approx(np.mean(np.square(Y)))]


@pytest.mark.parametrize(
    "make", [lambda: tf.distribute.OneDeviceStrategy("/cpu:0"), lambda: tf.distribute.experimental.ParameterServerStrategy()]
)
def test_one_replica_is_as_none(make: Callable[[], Any], tmp_path: Path) -> None:
    alone, other = line(tmp_path / "alone"), line(tmp_path / "other", train_distribute=make(), eval_distribute=make())
    for model in (alone, other):
        model.train(batches(10), steps=2)
    assert other.evaluate(batches(10), steps=1) == alone.evaluate(batches(10), steps=1)


def test_canned_models_have_replicas(tmp_path: Path) -> None:
    x = tf.feature_column.numeric_column("x")
    config = E.RunConfig(model_dir=str(tmp_path), train_distribute=two(), session_config=TWO_CPUS)
    model = E.DNNRegressor([3], [x], config=config, optimizer=tf.train.AdagradOptimizer(0.1))
    model.train(batches(5), steps=2)
    assert np.isfinite(model.evaluate(batches(5), steps=1)["loss"])


def test_input_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"`input_fn` must return a tf\.data\.Dataset"):
        line(tmp_path, train_distribute=two()).train(rows(), steps=1)


class DistributeConfig(NamedTuple):
    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


def test_both_strategies_at_once() -> None:
    train, evaluate = two(), two()
    config = E.RunConfig(experimental_distribute=DistributeConfig(train, evaluate))
    assert (config.train_distribute, config.eval_distribute) == (train, evaluate)
    assert E.RunConfig().replace(train_distribute=train).train_distribute is train
    with pytest.raises(ValueError, match="Either `train_distribute` or `experimental_distribute`"):
        E.RunConfig(train_distribute=train, experimental_distribute=DistributeConfig(train))
    with pytest.raises(ValueError, match="remote_cluster of experimental_distribute must be None"):
        E.RunConfig(experimental_distribute=DistributeConfig(train, remote_cluster={"worker": ["a:1"]}))


def _at_once(parts: list[Any]) -> None:
    """`train_and_evaluate` of these arguments, each in a thread; the first error of them is raised."""
    with ThreadPoolExecutor(len(parts)) as threads:
        for part in [threads.submit(E.train_and_evaluate, *part) for part in parts]:
            part.result(60)


def test_workers_in_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a chief: the first worker is."""
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    parts: list[Any] = []
    for index in range(2):
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}))
        strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
        model = line(tmp_path / "workers", train_distribute=strategy, save_checkpoints_steps=2)
        assert model.config.is_chief == (index == 0)
        parts.append((model, E.TrainSpec(batches(5), max_steps=3), E.EvalSpec(batches(10))))
    _at_once(parts)
    monkeypatch.delenv("TF_CONFIG")
    alone = line(tmp_path / "alone")
    alone.train(batches(5), steps=3)  # both have the same batches
    slopes = [model.get_variable_value("slope") for model in (parts[0][0], alone)]
    np.testing.assert_allclose(*slopes, rtol=1e-6)
    assert parts[1][0].get_variable_value("global_step") == 3
    assert len(list((tmp_path / "workers").glob("events.*"))) == 1


def test_workers_with_parameter_servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cluster = {job: [f"localhost:{port}"] for job, port in zip(("chief", "worker", "ps"), free_ports(3), strict=True)}
    parts, seen = [], []
    for kind in ("chief", "worker"):
        monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": kind, "index": 0}}))
        strategy = tf.distribute.experimental.ParameterServerStrategy()
        model = line(tmp_path, train_distribute=strategy, experimental_max_worker_delay_secs=0)
        # Enough for each: whoever is fast makes all the steps.
        parts.append((model, E.TrainSpec(batches(5, seen), max_steps=6), E.EvalSpec(batches(10))))
    server = tf.train.Server(cluster, job_name="ps", task_index=0)
    try:
        _at_once(parts)
    finally:
        server.stop()
    assert parts[0][0].get_variable_value("global_step") >= 6
    graph = (tmp_path / "graph.pbtxt").read_text()
    assert "/job:ps/task:0" in graph and "/job:chief/task:0" in graph
    assert sorted((c.num_input_pipelines, c.input_pipeline_id) for c in seen) == [(2, 0), (2, 1)]
