"""Chrome traces of a step."""

import dataclasses
import json

import numpy as np

import tfexp as tf
from tfexp.core import workers
from tfexp.runtime.timeline import Timeline


def trace_of(**options):
    """The events of a step on two devices, by phase."""
    metadata = tf.RunMetadata()
    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            x = tf.placeholder(tf.float32, [50, 50], name="x")
            y = tf.matmul(x, x, name="product")
        with tf.device("/gpu:0"):
            z = tf.tanh(y, name="tanh")
        with tf.Session(config=tf.ConfigProto(device_count={"GPU": 1})) as session:
            traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            session.run(z, {x: np.ones((50, 50))}, options=traced, run_metadata=metadata)
    events = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format(**options))["traceEvents"]
    return {phase: [e for e in events if e["ph"] == phase] for phase in "MXstC"}


def test_nodes_are_complete_events_of_their_devices():
    trace = trace_of()
    devices = {e["pid"]: e["args"]["name"] for e in trace["M"]}
    nodes = {e["args"]["name"]: e for e in trace["X"]}
    prefix = "/job:localhost/replica:0/task:0/device:"
    assert devices[nodes["product"]["pid"]] == f"{prefix}CPU:0 Compute"
    assert devices[nodes["tanh"]["pid"]] == f"{prefix}GPU:0 Compute"
    assert nodes["product"]["name"] == "MatMul"
    assert nodes["tanh"]["args"]["input0"] == "product:0"
    assert min(e["ts"] for e in trace["X"]) == 0
    assert all(e["dur"] >= 1 for e in trace["X"])
    assert nodes["tanh"]["ts"] >= nodes["product"]["ts"]


def test_values_flow_from_maker_to_taker():
    trace = trace_of()
    ((start,), (end,)) = trace["s"], trace["t"]
    assert start["name"] == end["name"] == "product"
    assert start["id"] == end["id"]
    assert start["ts"] <= end["ts"]
    assert start["pid"] != end["pid"]
    assert trace_of(show_dataflow=False)["s"] == []


def test_memory_is_counted_and_all_given_back():
    counters = trace_of(show_memory=True)["C"]
    assert max(e["args"]["bytes"] for e in counters) >= 50 * 50 * 4
    assert counters[-1]["args"]["bytes"] == 0
    assert trace_of()["C"] == []


def test_the_most_that_was_alive_at_a_time():
    metadata = tf.RunMetadata()
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.matmul(x, x, transpose_b=True, name="product")
        traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(tf.cumsum(y, name="sums"), {x: np.ones((50, 2))}, options=traced, run_metadata=metadata)
    analysis = Timeline(metadata.step_stats).analyze_step_stats()
    ((allocator, most),) = analysis.allocator_maximums.items()
    assert allocator == "cpu" and most.num_bytes == 2 * 50 * 50 * 4 and most.tensors == {"product", "sums"}
    assert "\n" not in analysis.chrome_trace.format_to_string()


def test_strands_are_shown_on_the_threads_that_ran_them(monkeypatch):
    metadata = tf.RunMetadata()
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [401, 401], name="x")
        branches = [tf.matrix_inverse(x, name="a"), tf.cholesky(x, name="b")]
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2)) as session:
            session._backend.threads = 2
            monkeypatch.setattr(workers, "_team", dataclasses.replace(workers._team, threads=2))
            traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            fed = {x: np.eye(401, dtype=np.float32)}
            plain = session.run(branches, fed)
            assert session.explain(branches, fed).plan.sections
            for value, again in zip(plain, session.run(branches, fed, traced, metadata), strict=True):
                np.testing.assert_array_equal(value, again)
    nodes = {node.node_name: node for device in metadata.step_stats.dev_stats for node in device.node_stats}
    assert {nodes["a"].thread_id, nodes["b"].thread_id} == {0, 1}
    events = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
    lanes = {e["args"]["name"]: e["tid"] for e in events if e["ph"] == "X"}
    assert lanes["a"] != lanes["b"]
