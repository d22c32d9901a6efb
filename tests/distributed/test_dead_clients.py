"""What is left of clients and masters that die without a word, and when it goes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import cluster_spec
from tfexp.core import errors
from tfexp.distributed import events as ev
from tfexp.distributed import messages as m


def _elapse(server: tf.train.Server, times: int) -> None:
    for _ in range(times):
        server._task._feed(server._task._master, ev.Elapsed())


def _sessions(server: tf.train.Server) -> int:
    return len(server._task._worker._sessions) - 1  # one is nobody's


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_a_session_that_nobody_uses_is_ended_where_that_is_wanted() -> None:
    spec = cluster_spec(ps=1, worker=1)
    # So long that it is the test that has time elapse.
    ps, worker = (tf.train.Server(spec, job, 0, session_gc_seconds=1e6) for job in ("ps", "worker"))
    try:
        with tf.device("/job:ps"):
            v = tf.Variable(2.0)
        session = tf.Session(worker.target)
        session.run(v.initializer)
        _elapse(worker, 2)
        assert session.run(v) == 2.0  # which is a use
        _elapse(worker, 2)
        assert (_sessions(ps), _sessions(worker)) == (1, 1)
        _elapse(worker, 1)
        with pytest.raises(errors.AbortedError, match=r"Session \w+ is not found"):
            session.run(v)
        assert not worker._task._programs
        with tf.Session(worker.target) as later:
            assert later.run(v) == 2.0
        session.close()
    finally:
        worker.stop()
        ps.stop()


def test_a_session_that_waits_is_in_use() -> None:
    server = tf.train.Server.create_local_server()
    try:
        queue = tf.FIFOQueue(2, tf.float32, shared_name="shared")
        taken, given = queue.dequeue(), queue.enqueue(3.0)
        with tf.Session(server.target) as session, tf.Session(server.target) as other:
            other.run(queue.size())
            outcome: list[float] = []
            thread = threading.Thread(target=lambda: outcome.append(float(session.run(taken))))
            thread.start()
            while not any(s.busy for s in server._task._master._sessions.values()):
                threading.Event().wait(0.01)
            _elapse(server, 5)
            with tf.Session(server.target) as giver:
                giver.run(given)
            thread.join(60)
            assert outcome == [3.0]
            # The other one was not.
            with pytest.raises(errors.AbortedError, match="not found"):
                other.run(queue.size())
    finally:
        server.stop()


def test_time_elapses_by_itself_and_stops_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFEXP_SESSION_GC_SECONDS", "0.02")
    server = tf.train.Server.create_local_server()
    try:
        session = tf.Session(server.target)
        with contextlib.suppress(errors.AbortedError):  # on a busy machine it is over before the step begins
            session.run(tf.constant(1.0))
        ended = threading.Event()
        for _ in range(6000):
            if not server._task._master._sessions:
                break
            ended.wait(0.01)
        assert not server._task._master._sessions
    finally:
        server.stop()
    collectors = [thread for thread in threading.enumerate() if thread.name == "tfexp-session-gc"]
    for thread in collectors:
        thread.join(60)
        assert not thread.is_alive()
    for wrong in ("soon", "-1", "nan"):
        monkeypatch.setenv("TFEXP_SESSION_GC_SECONDS", wrong)
        with pytest.raises(errors.InvalidArgumentError, match=f"TFEXP_SESSION_GC_SECONDS is '{wrong}'"):
            tf.train.Server.create_local_server()


def test_sessions_are_kept_where_nothing_else_is_said() -> None:
    server = tf.train.Server.create_local_server()
    try:
        session = tf.Session(server.target)
        session.run(tf.constant(1.0))
        assert not [thread for thread in threading.enumerate() if thread.name == "tfexp-session-gc" and thread.is_alive()]
        assert _sessions(server) == 1
        session.close()
    finally:
        server.stop()


def test_a_master_that_was_started_anew_leaves_no_sessions_of_its_former_life() -> None:
    spec = cluster_spec(ps=1, worker=2)
    ps, worker, other = (tf.train.Server(spec, job, task) for job, task in (("ps", 0), ("worker", 0), ("worker", 1)))
    try:
        with tf.device("/job:ps"):
            v = tf.Variable(np.ones(3, np.float32))
        with tf.Session(other.target) as neighbour:
            neighbour.run(v.initializer)
            former = tf.Session(worker.target)
            former.run(v)
            also = tf.Session(worker.target)
            also.run(v)
            assert _sessions(ps) == 3
            worker.stop()
            worker = tf.train.Server(spec, "worker", 0)
            with tf.Session(worker.target) as again:
                again.run(v)
                assert _sessions(ps) == 2
                neighbour.run(v)
                former.close()
                also.close()
                # A master that does not say who it is has nobody's sessions ended.
                ps._task.call(m.CreateWorkerSession("nameless", "ps", 0, {}))
                assert _sessions(ps) == 3
    finally:
        for server in (worker, ps, other):
            server.stop()
