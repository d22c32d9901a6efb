"""`tf.train.replica_device_setter`: who goes where."""

from __future__ import annotations

from typing import Any

import pytest

import tfexp as tf
from tfexp.train.device_setter import GreedyLoadBalancingStrategy, byte_size_load_fn

CLUSTER = {"ps": ["a:1", "b:2"], "worker": ["c:3", "d:4"]}
setter = tf.train.replica_device_setter


def placed(function: Any) -> dict[str, str]:
    """Devices by name: three variables, one with a device of its own, and an op between them."""
    with tf.Graph().as_default() as graph, tf.device(function):
        v = [tf.Variable(tf.zeros([n + 1]), name=f"v{n}") for n in range(3)]
        with tf.device("/cpu:0"):
            tf.Variable(1.0, name="own")
        with tf.device("/job:worker/task:3"):
            tf.Variable(1.0, name="there")
        tf.multiply(v[0], 2.0, name="product")
        with tf.device(None):
            tf.no_op(name="nowhere")
        return {op.name: op.device for op in graph.get_operations() if "/" not in op.name and "zeros" not in op.name}


def test_round_robin() -> None:
    for function in (setter(cluster=CLUSTER), setter(cluster=tf.train.ClusterSpec(CLUSTER)), setter(ps_tasks=2)):
        assert placed(function) == {
            "v0": "/job:ps/task:0",
            "v1": "/job:ps/task:1",
            "v2": "/job:ps/task:0",
            "own": "/job:ps/task:1/device:CPU:0",
            "there": "/job:worker/task:3",
            "product": "/job:worker",
            "nowhere": "",
        }


def test_given_devices() -> None:
    definition = tf.train.ClusterSpec(CLUSTER).as_cluster_def()
    found = placed(setter(cluster=definition, ps_device="/job:ps/cpu:0", worker_device="/job:worker/task:1/gpu:0"))
    assert found["v1"] == "/job:ps/task:1/device:CPU:0"
    assert found["product"] == "/job:worker/task:1/device:GPU:0"


def test_without_merging_an_own_device_is_all_there_is() -> None:
    found = placed(setter(cluster=CLUSTER, merge_devices=False))
    assert (found["own"], found["v0"]) == ("/device:CPU:0", "/job:ps/task:0")


def test_other_ops_and_no_ps_device() -> None:
    found = placed(setter(ps_tasks=3, ps_ops=["Mul"]))
    assert (found["v0"], found["product"]) == ("/job:worker", "/job:ps/task:0")
    assert placed(setter(ps_tasks=3, ps_device=""))["v1"] == "/job:worker"


def test_strategies() -> None:
    by_name = placed(setter(ps_tasks=2, ps_strategy=lambda op: int(op.name == "v0")))
    assert (by_name["v0"], by_name["v1"]) == ("/job:ps/task:1", "/job:ps/task:0")
    greedy = GreedyLoadBalancingStrategy(2, byte_size_load_fn)
    with tf.Graph().as_default(), tf.device(setter(ps_tasks=2, ps_strategy=greedy)):
        devices = [tf.Variable(tf.zeros([n])).device for n in (7, 2, 3, 5)]
        assert devices == [f"/job:ps/task:{task}" for task in (0, 1, 1, 1)]
        with pytest.raises(ValueError, match="only supports variables"):
            byte_size_load_fn(tf.no_op())
        unknown = tf.placeholder(tf.float32)
        with pytest.raises(ValueError, match="fully defined shape"):
            tf.Variable(unknown, validate_shape=False)


def test_no_servers_and_refusals() -> None:
    assert setter() is None
    assert setter(cluster={"worker": ["a:1"]}) is None
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        setter(ps_tasks=2, ps_strategy=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`cluster` must be a dictionary"):
        setter(cluster=3)


def test_node_defs_are_placed_as_nodes_are() -> None:
    chooser = tf.train.replica_device_setter(ps_tasks=2)
    ops = ("VariableV2", "VarHandleOp", "MatMul")
    devices = ["/job:ps/task:0", "/job:ps/task:1", "/job:worker"]
    assert [chooser(tf.NodeDef(op=op)) for op in ops] == devices
