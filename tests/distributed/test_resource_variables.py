"""Resource variables on servers: their handles never travel, what is read of them does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import leave_nothing, running

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=2, worker=2) as servers:
        yield servers


@pytest.fixture(autouse=True)
def _graph(servers: dict[str, tf.train.Server]) -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    tf.Session.reset(servers["worker:0"].target)
    leave_nothing(servers)


def _model(device: Any) -> tuple[Any, Any, list[Any]]:
    tf.set_random_seed(7)
    with tf.device(device), tf.variable_scope("model", use_resource=True):
        table = tf.get_variable("table", [7, 3])
        w = tf.get_variable("w", [3, 2])
        looked = tf.nn.embedding_lookup(table, [1, 5, 1])
        loss = tf.reduce_sum(tf.tanh(tf.matmul(looked, w))) + tf.reduce_mean(table)
        step = tf.Variable(0, name="step", trainable=False)
        train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    return train, loss, [table, w, step]


def test_parameter_servers_train_to_the_same_numbers(servers: dict[str, tf.train.Server], tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as local:
        train, loss, variables = _model(None)
        local.run(tf.global_variables_initializer())
        expected = [local.run([loss, train])[0] for _ in range(4)]
        values = local.run(variables)
    train, loss, variables = _model(tf.train.replica_device_setter(ps_tasks=2, worker_device=WORKER))
    assert {v.device for v in variables} == {"/job:ps/task:0", "/job:ps/task:1"}
    saver = tf.train.Saver(sharded=True)
    with tf.Session(servers["worker:0"].target) as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose([session.run([loss, train])[0] for _ in range(4)], expected, rtol=1e-5)
        for one, other in zip(values, session.run(variables), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)
        path = saver.save(session, str(tmp_path / "model"))
    # Another worker has the same variables.
    with tf.Session(servers["worker:1"].target) as session:
        assert session.run(tf.report_uninitialized_variables()).size == 0
        assert session.run(variables[2]) == 4
        session.run(train)
        saver.restore(session, path)
        np.testing.assert_allclose(session.run(variables[0]), values[0], rtol=1e-4, atol=1e-6)


def test_what_was_read_before_an_update_elsewhere_stays(servers: dict[str, tf.train.Server]) -> None:
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], use_resource=True)
        read = v.read_value()
    with tf.device(WORKER):
        doubled = read * 2.0
    with tf.device(PS), tf.control_dependencies([doubled]):
        changed = v.assign_add([10.0, 10.0])
        with tf.control_dependencies([changed]):
            late = read + 0.0
    with tf.Session(servers["worker:0"].target) as session:
        session.run(v.initializer)
        for n in range(2):
            for value in session.run([read, late]):
                np.testing.assert_array_equal(value, [1.0 + 10 * n, 2.0 + 10 * n])
        np.testing.assert_array_equal(session.run(v), [21.0, 22.0])


def test_conditionals_and_loops(servers: dict[str, tf.train.Server]) -> None:
    yes = tf.placeholder(tf.bool, [])
    with tf.device(PS):
        v = tf.Variable([1.0, 2.0], use_resource=True)
    with tf.device(WORKER):
        chosen = tf.cond(yes, lambda: v * 2.0, lambda: v.assign_add([1.0, 1.0]).value())
        looped = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x + v), [0, tf.zeros([2])])[1]
    with tf.Session(servers["worker:0"].target) as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(chosen, {yes: True}), [2.0, 4.0])
        np.testing.assert_array_equal(session.run(chosen, {yes: False}), [2.0, 3.0])
        np.testing.assert_array_equal(session.run(looped), [6.0, 9.0])


def test_uninitialized_variables_are_named(servers: dict[str, tf.train.Server]) -> None:
    with tf.device(PS):
        v = tf.Variable([1.0], use_resource=True, name="nowhere")
    with tf.Session(servers["worker:0"].target) as session:
        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"nowhere"]
        with pytest.raises(tf.errors.FailedPreconditionError, match="resource variable nowhere"):
            session.run(v + 1.0)
