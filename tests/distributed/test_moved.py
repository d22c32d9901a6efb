"""A task that was started again elsewhere: who waits for the former one hears of it, new sessions find the new one."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import cluster_spec
from tfexp.core import errors


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
            thread.join(10)
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
