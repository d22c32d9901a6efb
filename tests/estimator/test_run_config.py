"""`tf.estimator.RunConfig` and `TF_CONFIG`: settings, and which task a process is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tfexp as tf
from tfexp.estimator.training import default_device_fn

RunConfig = tf.estimator.RunConfig
CLUSTER = {"chief": ["a:1"], "ps": ["b:1", "b:2"], "worker": ["c:1", "c:2"]}


def config_of(monkeypatch: pytest.MonkeyPatch, content: Any, **settings: Any) -> tf.estimator.RunConfig:
    monkeypatch.setenv("TF_CONFIG", content if isinstance(content, str) else json.dumps(content))
    return RunConfig(**settings)


def task(kind: str, index: Any, cluster: Any = CLUSTER) -> dict[str, Any]:
    return {"cluster": cluster, "task": {"type": kind, "index": index}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, ("worker", 0, 0, True, "", 0, 1, None)),
        (task("chief", 0), ("chief", 0, 0, True, "grpc://a:1", 2, 3, ["/job:ps", "/job:chief"])),
        (task("worker", "1"), ("worker", 1, 2, False, "grpc://c:2", 2, 3, ["/job:ps", "/job:worker/task:1"])),
        (
            task("ps", 1),
            ("ps", 1, 4, False, "grpc://b:2", 2, 3, ["/job:ps", "/job:worker", "/job:chief", "/job:master"]),
        ),
        (task("evaluator", 0), ("evaluator", 0, None, False, "", 0, 0, None)),
        (
            task("chief", 0, {"chief": ["a:1"], "evaluator": ["b:1"]}),
            ("chief", 0, 0, True, "grpc://a:1", 0, 1, ["/job:ps", "/job:chief"]),
        ),
        (task("chief", 0, {"chief": ["a:1"]}), ("chief", 0, 0, True, "", 0, 1, ["/job:ps", "/job:chief"])),
        (
            task("master", 0, {"master": ["a:1"], "worker": ["b:1"]}),
            ("master", 0, 0, True, "grpc://a:1", 0, 2, ["/job:ps", "/job:master"]),
        ),
    ],
)
def test_a_process_is_the_task_that_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, content: Any, expected: Any
) -> None:
    config = config_of(monkeypatch, content)
    filters = None if config.session_config is None else list(config.session_config.device_filters)
    assert expected == (
        config.task_type,
        config.task_id,
        config.global_id_in_cluster,
        config.is_chief,
        config.master,
        config.num_ps_replicas,
        config.num_worker_replicas,
        filters,
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{bad", "must be JSON"),
        ([1], 'must be an object with "cluster" and "task"'),
        ({"cluster": CLUSTER, "task": 3}, '"task" in TF_CONFIG must be an object'),
        ({"cluster": CLUSTER}, "task type must be set"),
        ({"cluster": CLUSTER, "task": {"type": "worker"}}, "task index must be set"),
        (task("other", 0), "other is not a valid task_type in the cluster_spec"),
        (task("worker", 2), "2 is not a valid task_id for task_type worker"),
        (task("worker", -1), "Task index must be non-negative"),
        (task("worker", 0, {"worker": ["a:1"]}), 'must have one "chief" node'),
        (task("worker", 0, {"chief": ["a:1", "a:2"], "worker": ["b:1"]}), 'must have only one "chief" node'),
        (task("chief", 0, {"chief": ["a:1"], "master": ["b:1"]}), "job `chief` is not supported"),
        ({"task": {"type": "evaluator", "index": 0}}, "task type must be WORKER"),
        ({"model_dir": ""}, "model_dir in TF_CONFIG should be non-empty"),
    ],
)
def test_what_is_no_task_is_refused(monkeypatch: pytest.MonkeyPatch, content: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        config_of(monkeypatch, content)


def test_the_environment_may_name_the_folder_and_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"model_dir": "m", "service": {"a": 1}, "session_master": "grpc://x", "eval_session_master": "grpc://y"}
    config = config_of(monkeypatch, content)
    assert (config.model_dir, config.service) == ("m", {"a": 1})
    assert (config.master, config.evaluation_master) == ("grpc://x", "grpc://y")
    with pytest.raises(ValueError, match=r"the model_dir in TF_CONFIG\. model_dir: other"):
        RunConfig("other")
    with pytest.raises(TypeError, match='"service" is set in TF_CONFIG, it must be a dict'):
        config_of(monkeypatch, {"service": 3})


def test_variables_go_to_parameter_servers_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(monkeypatch, task("worker", 1))
    with tf.device(default_device_fn(config)):
        words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)  # a table for each task
        nodes = [tf.Variable(1.0), tf.Variable(1.0), tf.constant(1.0), words.resource_handle, words.initializer]
    assert [node.device for node in nodes] == ["/job:ps/task:0", "/job:ps/task:1", *["/job:worker/task:1"] * 3]
    assert default_device_fn(config_of(monkeypatch, {})) is None

    def everything_here(op: Any) -> str:
        return "/cpu:0"

    assert default_device_fn(config_of(monkeypatch, task("chief", 0), device_fn=everything_here)) is everything_here


def test_checkpoints_are_saved_by_seconds_or_by_steps() -> None:
    assert (RunConfig().save_checkpoints_secs, RunConfig().save_checkpoints_steps) == (600, None)
    steps = RunConfig(save_checkpoints_steps=4)
    assert (steps.save_checkpoints_secs, steps.save_checkpoints_steps) == (None, 4)
    seconds = steps.replace(save_checkpoints_secs=3, model_dir=Path("m"))
    assert (seconds.save_checkpoints_secs, seconds.save_checkpoints_steps, seconds.model_dir) == (3, None, "m")
    assert (steps.save_checkpoints_steps, steps.model_dir) == (4, None)
    with pytest.raises(ValueError, match="cannot be both set"):
        steps.replace(save_checkpoints_secs=3, save_checkpoints_steps=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"save_checkpoints_steps": 1, "save_checkpoints_secs": 1}, "cannot be both set"),
        ({"save_checkpoints_secs": -1}, "save_checkpoints_secs should be >= 0. Given: -1"),
        ({"tf_random_seed": 1.5}, "tf_random_seed must be integer. Given: 1.5"),
        ({"session_config": 3}, "session_config must be instance of ConfigProto"),
        ({"log_step_count_steps": 0}, "log_step_count_steps should be > 0"),
        ({"device_fn": lambda: 1}, 'device_fn must be callable with exactly one argument "op"'),
        ({"protocol": "x"}, "protocol should be grpc or grpc"),
        ({"train_distribute": 1}, r"train_distribute must be a tf\.distribute\.Strategy. Given: 1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunConfig(**settings)
    with pytest.raises(ValueError, match="Replacing other is not supported"):
        RunConfig().replace(other=1)
