"""Traces of stages whose values arrive bit by bit, because tasks send large ones to each other."""

from __future__ import annotations

import numpy as np

import tfexp as tf
from tests.distributed.clusters import leave_nothing, running


def test_nodes_that_run_as_values_arrive_are_traced() -> None:
    with running(worker=3) as servers, tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [301, 301])
        with tf.device("/job:worker/task:0"):
            small = tf.reduce_sum(x, name="small")
        with tf.device("/job:worker/task:1"):
            large = tf.exp(x, name="large")
        with tf.device("/job:worker/task:2"):  # one comes from the master, the other from the task that has it
            early, late = tf.sin(small, name="early"), tf.reduce_sum(large, name="late")
        metadata = tf.RunMetadata()
        fed = {x: np.zeros([301, 301], np.float32)}
        with tf.Session(servers["worker:0"].target) as session:
            traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            assert session.run([early, late], fed, traced, metadata) == [0, 301 * 301]
        leave_nothing(servers)
    assert {"large", "early", "late"} <= {n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats}


def test_a_task_where_nothing_had_to_run_is_idle_under_its_own_name() -> None:
    with running(worker=2) as servers, tf.Graph().as_default():
        with tf.device("/job:worker/task:1"):
            known = tf.constant(1.0) + 1
        metadata = tf.RunMetadata()
        with tf.Session(servers["worker:0"].target) as session:
            traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            assert session.run(known, options=traced, run_metadata=metadata) == 2
    assert [d.device for d in metadata.step_stats.dev_stats] == ["/job:worker/replica:0/task:1/device:CPU:0"]
