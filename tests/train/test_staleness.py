"""Gradients that come late are counted to the update, and damped or dropped, on one device and across tasks."""

import threading

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import running
from tfexp.train.staleness import LONGEST, StaleGradients

RATE = 0.5
PATIENT = tf.ConfigProto(operation_timeout_in_ms=20_000)
OPTIMIZERS = {
    "sgd": tf.train.GradientDescentOptimizer,
    "momentum": lambda rate: tf.train.MomentumOptimizer(rate, 0.9),
    "adam": tf.train.AdamOptimizer,
    "adagrad": tf.train.AdagradOptimizer,
    "rmsprop": tf.train.RMSPropOptimizer,
    "ftrl": tf.train.FtrlOptimizer,
    "adadelta": tf.train.AdadeltaOptimizer,
    "proximal_sgd": tf.train.ProximalGradientDescentOptimizer,
    "proximal_adagrad": tf.train.ProximalAdagradOptimizer,
}


class Slow:
    """A replica whose gradient (ones for `w` [3], and for two rows of `table`) waits on its way until `go` is run."""

    def __init__(self, optimizer=tf.train.GradientDescentOptimizer, replica=1, setter=None, **remedy):
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device(setter):
            step = tf.train.get_or_create_global_step()
            weights = tf.get_variable("w", [3], initializer=tf.zeros_initializer())
            table = tf.get_variable("table", [5, 2], initializer=tf.zeros_initializer())
            stale = StaleGradients(step, 2, **remedy)
            reading = stale.reading()
            gate = tf.FIFOQueue(9, tf.float32, [()])
            self.go = gate.enqueue(1.0)
            # nobody knows that the gradient is being made until the step has been read
            with tf.control_dependencies([reading]):
                begun = tf.FIFOQueue(9, tf.bool, [()])
                tell = begun.enqueue(True)
            self.begun = begun.dequeue()
            with tf.control_dependencies([tell]):
                self.factor = tf.placeholder_with_default(gate.dequeue(), [])
            loss = self.factor * (tf.reduce_sum(weights) + tf.reduce_sum(tf.gather(table, [1, 3])))
            self.optimizer = optimizer(stale.rate(tf.constant(RATE)))
            self.gradients = self.optimizer.compute_gradients(loss)
            self.train = stale.apply(self.optimizer, self.gradients, replica, reading)
            self.variables, self.tally, self.step = [weights, table], stale.tally, step
            self.initialize = [tf.global_variables_initializer(), stale.tally.initializer]

    def late_by(self, updates, session):
        """Make one gradient, `updates` others of this replica's coming first; what its step gave."""
        found = []
        thread = threading.Thread(target=lambda: found.append(session.run(self.train)), daemon=True)
        thread.start()
        session.run(self.begun)
        for _ in range(updates):
            session.run(self.train, {self.factor: 1.0})
        session.run(self.go)
        thread.join(30)
        return int(found[0])


def test_counts_the_updates_between_reading_and_applying():
    slow = Slow()
    with tf.Session(config=PATIENT, graph=slow.graph) as session:
        session.run(slow.initialize)
        assert slow.late_by(3, session) == 4
        assert slow.late_by(0, session) == 5
        tally = session.run(slow.tally)
    expected = np.zeros([2, LONGEST + 2], np.int64)
    expected[1, [0, 3, -1]] = [4, 1, 3]
    np.testing.assert_array_equal(tally, expected)


def test_what_is_later_than_the_longest_counts_as_that_and_adds_up():
    slow = Slow(replica=0)
    with tf.Session(config=PATIENT, graph=slow.graph) as session:
        session.run(slow.initialize)
        slow.late_by(LONGEST + 2, session)
        tally = session.run(slow.tally)
    assert (tally[0, LONGEST], tally[0, -1]) == (1, LONGEST + 2)


@pytest.mark.parametrize("setter", [None, "2ps"])
def test_damps_the_rate_by_the_staleness(setter):
    with cluster(setter) as (target, place):
        slow = Slow(setter=place, damping=1.0)
        with tf.Session(target, config=PATIENT, graph=slow.graph) as session:
            session.run(slow.initialize)
            slow.late_by(3, session)
            weights, table = session.run(slow.variables)
    whole = -RATE * (1 + 1 + 1 + 1 / 4)
    np.testing.assert_allclose(weights, [whole] * 3, rtol=1e-6)
    np.testing.assert_allclose(table[[1, 3]], np.full([2, 2], whole), rtol=1e-6)
    assert not table[[0, 2, 4]].any()


@pytest.mark.parametrize("setter", [None, "1ps", "2ps"])
def test_drops_what_is_too_late_and_makes_no_step(setter):
    with cluster(setter) as (target, place):
        slow = Slow(setter=place, drop_above=1)
        with tf.Session(target, config=PATIENT, graph=slow.graph) as session:
            session.run(slow.initialize)
            assert slow.late_by(2, session) == 2, "dropped"
            assert slow.late_by(1, session) == 4, "late, but not too late"
            weights, table = session.run(slow.variables)
            tally = session.run(slow.tally)
    np.testing.assert_allclose(weights, [-4 * RATE] * 3)
    np.testing.assert_allclose(table[[1, 3]], np.full([2, 2], -4 * RATE))
    assert [*np.flatnonzero(tally[1])] == [0, 1, 2, LONGEST + 1]
    assert tally[1, :3].tolist() == [3, 1, 1]


@pytest.mark.parametrize(("servers", "remedy"), [(1, {}), (2, {}), (1, {"damping": 1.0}), (1, {"drop_above": 1})])
def test_costs_no_request(servers, remedy):
    def requests(train):
        metadata = tf.RunMetadata()
        session.run(train, {slow.factor: 1.0}, tf.RunOptions(output_partition_graphs=True), metadata)
        return len(metadata.partition_graphs)

    with cluster(f"{servers}ps") as (target, place):
        slow = Slow(setter=place, **remedy)
        with slow.graph.as_default(), tf.device(place):
            plain = tf.train.GradientDescentOptimizer(RATE).apply_gradients(slow.gradients, slow.step)
        with tf.Session(target, config=PATIENT, graph=slow.graph) as session:
            session.run(slow.initialize)
            assert requests(slow.train) == requests(plain)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_any_optimizer_takes_the_damped_rate(optimizer):
    """What is not late is what the optimizer alone makes of it."""
    slow = Slow(OPTIMIZERS[optimizer], damping=0.5, drop_above=9)
    plain = Slow(OPTIMIZERS[optimizer])
    values = []
    for one in (slow, plain):
        with tf.Session(config=PATIENT, graph=one.graph) as session:
            session.run(one.initialize)
            for _ in range(2):
                session.run(one.train, {one.factor: 1.0})
            values.append(session.run(one.variables))
    for ours, expected in zip(*values, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


class cluster:  # noqa: N801 -- reads as a word of the test
    """(target, device function) of a worker with its parameter servers, or of this process."""

    def __init__(self, kind):
        self._servers = None if kind is None else running(ps=int(kind[0]), worker=1)

    def __enter__(self):
        if self._servers is None:
            return "", None
        servers = self._servers.__enter__()
        tasks = sum(name.startswith("ps") for name in servers)
        return servers["worker:0"].target, tf.train.replica_device_setter(tasks, worker_device="/job:worker/task:0")

    def __exit__(self, *error):
        if self._servers is not None:
            self._servers.__exit__(*error)
