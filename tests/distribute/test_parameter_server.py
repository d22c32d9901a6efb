"""Strategies whose variables lie once: on parameter servers, on one device; and those with one replica."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distribute.replicas import DEVICES, initialized, number, two
from tfexp.runtime.eager import eager_mode

experimental = tf.distribute.experimental
CLUSTER = {"worker": ["a:1", "b:1"], "ps": ["c:1", "d:1"]}


def _resolver(task: str = "worker", index: int = 1, cluster: Any = CLUSTER) -> Any:
    spec = tf.train.ClusterSpec(cluster)
    return tf.distribute.cluster_resolver.SimpleClusterResolver(spec, task_type=task, task_id=index)


def test_variables_go_to_the_servers_in_turn() -> None:
    strategy = experimental.ParameterServerStrategy(_resolver())
    extended = strategy.extended
    assert (extended.worker_devices, strategy.num_replicas_in_sync) == (("/job:worker/replica:0/task:1/device:CPU:0",), 1)
    assert extended.parameter_devices == ("/job:ps/task:0", "/job:ps/task:1")
    with strategy.scope():
        v, w = tf.get_variable("v", [2]), tf.get_variable("w", [2])
        parts = tf.get_variable("parts", [4], partitioner=tf.fixed_size_partitioner(2))
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer()
        loss = lambda: tf.reduce_sum(v * w)  # noqa: E731
        train = strategy.experimental_run_v2(lambda: optimizer.minimize(loss(), global_step=step))
        outside = tf.constant(1.0)
    assert [x.device for x in (v, w, *parts, step)] == [f"/job:ps/task:{i % 2}" for i in range(5)]
    assert optimizer.get_slot(w, "m").device == w.device
    assert outside.device == "/job:worker/task:1"
    updates = [op for op in tf.get_default_graph().get_operations() if op.type == "ResourceApplyAdam"]
    assert [op.device for op in updates] == [v.device, w.device] and train.device == step.device


def test_which_worker_does_what() -> None:
    def told(*task: Any) -> tuple[bool, ...]:
        extended = experimental.ParameterServerStrategy(_resolver(*task)).extended
        return extended.experimental_should_init, extended.should_checkpoint, extended.should_save_summary

    assert told("worker", 0) == (True, True, True) and told("worker", 1) == (False, False, False)
    with_chief = {**CLUSTER, "chief": ["e:1"]}
    assert told("chief", 0, with_chief)[0] and not told("worker", 0, with_chief)[0]
    strategy = experimental.ParameterServerStrategy(_resolver("worker", 1, with_chief))
    assert strategy.extended.experimental_between_graph
    assert list(strategy.update_config_proto(tf.ConfigProto()).device_filters) == ["/job:worker/task:1", "/job:ps"]
    seen: list[Any] = []
    with strategy.scope():
        strategy.make_input_fn_iterator(lambda context: seen.append(context) or tf.data.Dataset.range(3))
    assert (seen[0].num_input_pipelines, seen[0].input_pipeline_id) == (3, 2)


def test_the_cluster_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": 0}}))
    assert experimental.ParameterServerStrategy().extended.worker_devices == ("/job:worker/replica:0/task:0/device:CPU:0",)
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}))
    with pytest.raises(ValueError, match=r"needs to have `ps` jobs. There are: worker"):
        experimental.ParameterServerStrategy()
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER}))
    with pytest.raises(ValueError, match=r"must know which task .* task_type is None"):
        experimental.ParameterServerStrategy()


def _one_step(strategy: Any) -> tuple[Any, Any]:
    """The variable and its momentum after a step with each replica's loss."""
    with strategy.scope():
        w = tf.get_variable("w", initializer=np.float32([1.0, 2.0]))
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        train = strategy.experimental_run_v2(lambda: optimizer.minimize(tf.reduce_sum(tf.square(w)) * number()))
        count = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
        counted = strategy.experimental_run_v2(lambda: tf.group(count.assign_add(number())))
    with initialized() as session:
        session.run([strategy.group(train), strategy.group(counted)])
        return session.run([w, optimizer.get_slot(w, "momentum")]), session.run(count)


@pytest.mark.parametrize(
    ("strategy", "replicas"),
    [
        (lambda: experimental.CentralStorageStrategy(list(DEVICES), "/cpu:0"), 2),
        (lambda: experimental.CentralStorageStrategy(), 1),
        (lambda: experimental.ParameterServerStrategy(), 1),
        (lambda: experimental.MultiWorkerMirroredStrategy(), 1),
        (lambda: tf.distribute.OneDeviceStrategy("/cpu:1"), 1),
        (lambda: tf.distribute.get_strategy(), 1),
    ],
    ids=["central", "central of one", "servers of none", "multi-worker of one", "one device", "default"],
)
def test_a_step_of_each_strategy(strategy: Any, replicas: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    (w, momentum), count = _one_step(strategy())
    whole = sum(range(1, replicas + 1))
    np.testing.assert_allclose(momentum, whole * np.float32([2.0, 4.0]))
    np.testing.assert_allclose(w, np.float32([1.0, 2.0]) - 0.1 * momentum, rtol=1e-6)
    assert count == whole


def test_central_storage_has_each_variable_once() -> None:
    strategy = experimental.CentralStorageStrategy(list(DEVICES), "/cpu:1")
    with strategy.scope():
        v = tf.get_variable("v", [2])
    assert len(strategy.experimental_local_results(v)) == 1 and v.device.endswith("CPU:1")
    assert [op.name for op in tf.get_default_graph().get_operations() if op.type == "VarHandleOp"] == ["v"]
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32>" and tf.global_variables() == [v]


def test_one_device_is_where_everything_is() -> None:
    with tf.distribute.OneDeviceStrategy("/cpu:1").scope() as strategy:
        v = tf.get_variable("v", [2])
        made = strategy.experimental_run_v2(lambda: v + 1.0)
    assert {v.device, made.device} == {"/replica:0/task:0/device:CPU:1"} == set(strategy.extended.worker_devices)
    assert strategy.extended.variable_created_in_scope(v)


def test_what_tfexp_does_not_have_says_so() -> None:
    with pytest.raises(NotImplementedError, match="TPUStrategy needs TPUs"):
        experimental.TPUStrategy()


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.distribute.get_strategy(),
        lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
        lambda: tf.distribute.MirroredStrategy(),
        lambda: experimental.CentralStorageStrategy(),
    ],
)
def test_eager_execution_has_one_device(make: Any) -> None:
    with eager_mode():
        strategy = make()
        with strategy.scope():
            v, optimizer = tf.Variable(1.0), tf.train.MomentumOptimizer(0.1, 0.9)

        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = v * v
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])
            return loss

        losses = [strategy.reduce("SUM", strategy.experimental_run_v2(step)).numpy() for _ in range(2)]
        np.testing.assert_allclose([*losses, v.numpy()], [1.0, 0.64, 0.46], rtol=1e-6)
        with two().scope(), pytest.raises(RuntimeError, match="variables have no copies on several devices"):
            tf.Variable(1.0)
