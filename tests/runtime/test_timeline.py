"""The Chrome trace of a step."""

import json

import pytest

import tfexp as tf
from tfexp.runtime.timeline import Timeline


def test_a_traced_step_becomes_events_and_arrows():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3, 5], name="x")
        y = tf.reduce_sum(tf.matmul(x, x, transpose_b=True, name="product"), name="total")
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(y, {x: [[1.0] * 5] * 3}, options=options, run_metadata=metadata)
    trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))["traceEvents"]
    ran = {event["args"]["name"]: event for event in trace if event["ph"] == "X"}
    assert ran["product"]["name"] == "MatMul" and ran["total"]["args"]["input0"].startswith("product")
    assert ran["product"]["ts"] <= ran["total"]["ts"] and ran["product"]["dur"] >= 1
    assert {event["ph"] for event in trace} == {"M", "X", "s", "t", "C"}
    with pytest.raises(ValueError, match="op_time must be"):
        Timeline(metadata.step_stats).generate_chrome_trace_format(op_time="never")
