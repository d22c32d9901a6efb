"""The dynamic placer of a session in this process: what it says of its steps, and what makes it move anything there."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.device_memory import machine_memory
from tfexp.runtime.placement import estimates

TRACED = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


@pytest.fixture(autouse=True)
def _own_graph():
    with tf.Graph().as_default():
        yield


def two_devices(**options) -> tf.ConfigProto:
    return tf.ConfigProto(device_count={"CPU": 2}, **options)


def test_a_traced_step_tells_what_was_expected_of_it():
    x = tf.placeholder(tf.float32, [None, 301], name="x")
    y = tf.matmul(tf.exp(x), x, transpose_b=True, name="y")
    fed = {x: np.ones([211, 301], np.float32)}
    metadata = tf.RunMetadata()
    with tf.Session(config=two_devices(placement_period=1)) as session:
        session.run(y, fed, TRACED, metadata)
    found = estimates(metadata)
    assert 0 < found["estimated"] <= found["without_moves"] < 1
    costs = {node.name: node.compute_cost for node in metadata.cost_graph.node}
    assert costs["y"] > 100  # microseconds
    with tf.Session(config=two_devices()) as session:
        session.run(y, fed, TRACED, metadata)
    assert estimates(metadata) == {}


def test_the_first_step_is_measured_and_told_of(caplog):
    x = tf.placeholder(tf.float32, [31, 7])
    y = tf.reduce_sum(tf.exp(x))
    with tf.Session(config=two_devices(placement_period=1)) as session, caplog.at_level(logging.INFO, logger="tensorflow"):
        for _ in range(3):
            assert session.run(y, {x: np.zeros([31, 7], np.float32)}) == 31 * 7
        assert session._backend.placer.measured.seconds(y.op.name, "CPU") > 0
    (told,) = [r.getMessage() for r in caplog.records if r.getMessage().startswith("dynamic placement")]
    assert told.startswith("dynamic placement: 0 nodes moved; estimated: ")
    assert "; it took " in told


def test_devices_that_share_threads_bring_nothing_but_memory(capfd):
    x = tf.placeholder(tf.float32, [1 << 20], name="x")
    y = tf.add(tf.exp(x, name="e"), tf.sin(x, name="s"), name="y")
    fed = {x: np.zeros(1 << 20, np.float32)}

    def devices(**options) -> dict[str, str]:
        capfd.readouterr()
        with tf.Session(config=tf.ConfigProto(placement_period=1, log_device_placement=True, **options)) as session:
            np.testing.assert_array_equal(session.run(y, fed), np.ones(1 << 20))
        lines = [line.split(": ") for line in capfd.readouterr().err.splitlines() if ": (" in line]
        return {name: device.rpartition("/device:")[2] for name, _, device in lines}

    assert set(devices(device_count={"CPU": 2}).values()) == {"CPU:0"}
    little = tf.GPUOptions(per_process_gpu_memory_fraction=9e6 / machine_memory())
    assert set(devices(device_count={"GPU": 2}, gpu_options=tf.GPUOptions()).values()) == {"GPU:0"}
    assert len(set(devices(device_count={"GPU": 2}, gpu_options=little).values())) > 1
