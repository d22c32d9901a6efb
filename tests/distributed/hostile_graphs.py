"""Graphs made to hurt: what they claim costs more than any machine has, or has no end. By name, with the node to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tensorboard.compat.proto import graph_pb2, types_pb2

import tfexp as tf

FLOAT, INT64 = types_pb2.DT_FLOAT, types_pb2.DT_INT64
HUGE = 1 << 60
# More bytes than the server may have, though fewer than its machine may.
LARGE = 1 << 31


def _of(build: Callable[[], Any]) -> graph_pb2.GraphDef:
    with tf.Graph().as_default() as graph:
        tf.identity(build(), name="run")
    return graph.as_graph_def()


def _dims(*sizes: int) -> Any:
    """A shape that nobody knows before the step."""
    return tf.placeholder_with_default(np.array(sizes, np.int64), [len(sizes)])


def _claimed(size: int) -> graph_pb2.GraphDef:
    graph = graph_pb2.GraphDef()
    node = graph.node.add(name="run", op="Const")
    node.attr["dtype"].type = FLOAT
    tensor = node.attr["value"].tensor
    tensor.dtype = FLOAT
    tensor.tensor_shape.dim.add(size=size)
    tensor.float_val.append(1.0)
    return graph


def _long_list() -> graph_pb2.GraphDef:
    graph = graph_pb2.GraphDef()
    node = graph.node.add(name="run", op="StatelessIf", input=["run"])
    node.attr["Tin"].list.type.extend([FLOAT] * 1_000_000)
    return graph


def _outputs(count: int) -> graph_pb2.GraphDef:
    graph = _of(lambda: tf.ones([3], name="x"))
    node = graph.node.add(name="many", op="Unpack", input=["x"])
    node.attr["T"].type = FLOAT
    node.attr["num"].i = count
    return graph


def _inputs(count: int) -> graph_pb2.GraphDef:
    graph = _of(lambda: tf.ones([3], name="x"))
    node = graph.node.add(name="sum", op="AddN", input=["x"])
    node.attr["T"].type = FLOAT
    node.attr["N"].i = count
    return graph


def _nested_attr() -> graph_pb2.GraphDef:
    graph = _of(lambda: tf.ones([3], name="x"))
    inner = graph.node.add(name="deep", op="NoOp").attr["_nested"]
    for _ in range(20):
        inner = inner.func.attr["f"]
    inner.i = 1
    return graph


def _wide_cycle() -> graph_pb2.GraphDef:
    graph = graph_pb2.GraphDef()
    for number in range(20_000):
        graph.node.add(name=f"n{number}", op="NoOp", input=[f"^n{(number + 1) % 20_000}"])
    graph.node.add(name="run", op="NoOp")
    return graph


REFUSED: dict[str, Callable[[], graph_pb2.GraphDef]] = {
    "a constant of 2^60 elements": lambda: _claimed(HUGE),
    "a constant larger than memory": lambda: _claimed(LARGE),
    "a fill": lambda: _of(lambda: tf.fill(_dims(HUGE), 1.0)),
    "a fill larger than memory": lambda: _of(lambda: tf.fill(_dims(LARGE), 1.0)),
    "a fill of overflowing size": lambda: _of(lambda: tf.fill(_dims(1 << 32, 1 << 32), 1.0)),
    "a fill of negative size": lambda: _of(lambda: tf.fill(_dims(-3), 1.0)),
    "a static fill": lambda: _of(lambda: tf.fill(tf.constant([HUGE], tf.int64), 1.0)),
    "a broadcast": lambda: _of(lambda: tf.broadcast_to(1.0, _dims(1 << 30, 1 << 30))),
    "a tile": lambda: _of(lambda: tf.tile([1.0, 2.0], _dims(HUGE))),
    "random numbers": lambda: _of(lambda: tf.random.uniform(_dims(HUGE))),
    "normal random numbers": lambda: _of(lambda: tf.random.truncated_normal(_dims(LARGE))),
    "a range": lambda: _of(lambda: tf.range(tf.reduce_prod(_dims(HUGE)))),
    "a one-hot": lambda: _of(lambda: tf.one_hot([1], tf.cast(tf.reduce_prod(_dims(LARGE - 1)), tf.int32))),
    "padding": lambda: _of(lambda: tf.pad([1.0], tf.reshape(_dims(0, HUGE), [1, 2]))),
    "a diagonal": lambda: _of(lambda: tf.diag(tf.ones([1 << 16]))),
    "a scatter": lambda: _of(lambda: tf.scatter_nd(tf.constant([[0]], tf.int64), [1.0], _dims(HUGE))),
    "a segment sum": lambda: _of(lambda: tf.math.unsorted_segment_sum([1.0], [0], tf.reduce_prod(_dims(HUGE)))),
    "a cross product": lambda: _of(lambda: tf.ones([1 << 17, 1]) * tf.ones([1, 1 << 17])),
    "a variable": lambda: _of(lambda: tf.assign(tf.Variable(tf.zeros([LARGE])), tf.zeros([LARGE]))),
    "2^40 outputs": lambda: _outputs(1 << 40),
    "2^60 outputs": lambda: _outputs(HUGE),
    "2^60 inputs": lambda: _inputs(HUGE),
    "a list of a million types": _long_list,
    "a cycle of 20,000 nodes": _wide_cycle,
}


def _chain(length: int) -> graph_pb2.GraphDef:
    graph = _of(lambda: tf.ones([3], name="x"))
    before = "x"
    for number in range(length):
        node = graph.node.add(name=f"n{number}", op="Neg", input=[before])
        node.attr["T"].type = FLOAT
        before = node.name
    run = next(node for node in graph.node if node.name == "run")
    run.input[0] = before
    return graph


# What is only odd, and may well be computed.
ODD: dict[str, Callable[[], graph_pb2.GraphDef]] = {
    "a chain of 1,200 nodes": lambda: _chain(1200),
    "attributes 20 deep": _nested_attr,
    "a constant of no elements in 2^60 rows": lambda: _of(lambda: tf.constant(make_empty())),
}


def make_empty() -> Any:
    """An array of no elements."""
    return np.zeros((1 << 40, 0), np.float32)
