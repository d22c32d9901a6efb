"""The dynamic placer of a master: nodes move between tasks while a session runs, and results stay the same."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from tensorboard.compat.proto import step_stats_pb2

import tfexp as tf
from tests.distributed.clusters import leave_nothing, running
from tfexp.runtime.cpu import cores
from tfexp.runtime.placement import with_step_stats

BRANCHES = 2 * cores() + 2  # more than the threads of one task


def build() -> tuple[tf.Tensor, tf.Tensor, tf.Variable]:
    x = tf.placeholder(tf.float32, [7, 5], name="x")
    v = tf.Variable(tf.fill([7, 5], 0.5), name="v")
    total = tf.add_n([tf.sin(x * float(i), name=f"branch_{i}") for i in range(BRANCHES)], name="total")
    with tf.control_dependencies([tf.assign_add(v, total, name="update")]):
        return x, tf.identity(total, name="out"), v


def known_costs(ms: float) -> step_stats_pb2.StepStats:
    found = step_stats_pb2.StepStats()
    device = found.dev_stats.add(device="/job:worker/replica:0/task:0/device:CPU:0")
    for i in range(BRANCHES):
        device.node_stats.add(node_name=f"branch_{i}", all_start_nanos=10**9, all_end_rel_nanos=int(ms * 1e6))
    return found


def devices_of_branches(session: tf.Session, out: tf.Tensor, fed: dict[tf.Tensor, np.ndarray]) -> set[str]:
    metadata = tf.RunMetadata()
    session.run(out, fed, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    return {d.device for d in metadata.step_stats.dev_stats for n in d.node_stats if n.node_name.startswith("branch_")}


def test_known_costs_spread_a_step_over_tasks_and_measured_ones_bring_it_home(caplog: pytest.LogCaptureFixture) -> None:
    fed_value = np.linspace(-1, 1, 35, dtype=np.float32).reshape(7, 5)
    expected = sum(np.sin(fed_value * np.float32(i)) for i in range(BRANCHES))
    with running(worker=2) as servers, tf.Graph().as_default(), caplog.at_level(logging.INFO, logger="tensorflow"):
        x, out, v = build()
        config = with_step_stats(tf.ConfigProto(placement_period=2), known_costs(50.0))
        with tf.Session(servers["worker:0"].target, config=config) as session:
            session.run(tf.variables_initializer([v]))
            assert len(devices_of_branches(session, out, {x: fed_value})) == 2
            for step in range(2, 40):
                np.testing.assert_allclose(session.run(out, {x: fed_value}), expected, rtol=1e-5, atol=1e-5)
                np.testing.assert_allclose(session.run(v), 0.5 + step * expected, rtol=1e-4, atol=1e-4)
            # microseconds they take in truth, which is not worth a request
            assert len(devices_of_branches(session, out, {x: fed_value})) == 1
        leave_nothing(servers)
    told = [record.getMessage() for record in caplog.records if "it took" in record.getMessage()][-1]
    assert told.startswith("dynamic placement: 0 nodes moved; estimated: ")


def test_without_a_period_nothing_moves() -> None:
    with running(worker=2) as servers, tf.Graph().as_default():
        x, out, v = build()
        config = with_step_stats(tf.ConfigProto(), known_costs(50.0))
        with tf.Session(servers["worker:0"].target, config=config) as session:
            session.run(tf.variables_initializer([v]))
            assert len(devices_of_branches(session, out, {x: np.zeros([7, 5], np.float32)})) == 1


def test_costs_that_are_none_are_told() -> None:
    config = with_step_stats(tf.ConfigProto(placement_period=1), known_costs(1.0))
    config.graph_options.rewrite_options.custom_optimizers[0].parameter_map["step_stats"].s = b"\xff\xff"
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match="step_stats are no StepStats"):
        tf.Session(config=config)
