"""A task that was started again elsewhere: who waits for the former one hears of it, new sessions find the new one."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import cluster_spec
from tfexp.core import errors
from tfexp.distributed.hosted import Member


def test_what_waits_for_the_former_process_ends_and_the_new_one_is_found() -> None:
    spec = tf.train.ClusterSpec(cluster_spec(ps=1, worker=1))
    former, worker = (tf.train.Server(spec, job, 0) for job in ("ps", "worker"))
    latter = None
    try:
        with tf.Graph().as_default(), tf.device("/job:ps"):
            variable = tf.Variable(np.float32(2.0))
            queue = tf.FIFOQueue(1, tf.float32, shared_name="empty")
            waiting = queue.dequeue()
            session = tf.Session(worker.target)
            session.run(variable.initializer)
            caught: list[Any] = []

            def wait() -> None:
                try:
                    session.run(waiting)
                except errors.OpError as error:
                    caught.append(error)

            thread = threading.Thread(target=wait)
            thread.start()
            ends = time.monotonic() + 10
            while not former._task._states and time.monotonic() < ends:
                threading.Event().wait(0.01)
            latter = tf.train.Server({"ps": ["localhost:0"], "worker": spec.job_tasks("worker")}, "ps", 0, start=False)
            moved = tf.train.ClusterSpec({"ps": [latter.address], "worker": spec.job_tasks("worker")})
            latter.complete(moved)
            latter.start()
            worker.moved(moved, "ps", 0)
            thread.join(60)
            assert not thread.is_alive()
            assert isinstance(caught[0], errors.UnavailableError)
            assert f"was started again, at {latter.address}" in caught[0].message
            with pytest.raises(errors.AbortedError, match="restarted"):
                session.run(variable)
            session.close()
            with tf.Session(worker.target) as session:
                assert len(session.run(tf.report_uninitialized_variables([variable]))) == 1
                session.run(variable.initializer)
                assert session.run(variable) == 2.0
    finally:
        for server in (former, worker, latter):
            if server is not None:
                server.stop()


def test_a_task_that_comes_up_hears_of_all_that_moved_meanwhile() -> None:
    """Two tasks were started again after it was told the cluster and before it served."""

    class Server:
        def __init__(self) -> None:
            self.moves: list[tuple[Any, str, int]] = []

        def moved(self, cluster: Any, job: str, index: int) -> None:
            self.moves.append((cluster.as_dict(), job, index))

    latest = [{"ps": {"0": "a:1", "1": "b:2"}}, {"ps": {"0": "a:1", "1": "b:3"}}]
    said: list[Any] = [
        {"kind": "cluster", "tasks": {"ps": {"0": "a:0", "1": "b:2"}}},
        {"kind": "moved", "tasks": latest[0], "task": "ps:0"},
        {"kind": "moved", "tasks": latest[1], "task": "ps:1"},
        {"kind": "exit"},
    ]
    member = Member("worker", 0, SimpleNamespace(receive=lambda: said.pop(0)))  # type: ignore[arg-type]
    member.listen()
    server = Server()
    member.server = server  # type: ignore[assignment]
    member.take_over()
    member.take_over()
    assert server.moves == [({"ps": ["a:1", "b:2"]}, "ps", 0), ({"ps": ["a:1", "b:3"]}, "ps", 1)]
    assert member.cluster.as_dict() == {"ps": ["a:1", "b:3"]}
