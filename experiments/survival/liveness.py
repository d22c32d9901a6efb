"""What it costs a step that tasks look whether those they work for are still there, and say that they are there themselves.

A parameter server and a worker serve in this process, and a client makes steps of the smallest model, where any cost is
largest. Some steps with and some without these checks come in turn; what is measured is the CPU time of the process, which
other programs disturb least. With the checks, each of the two tasks says in each turn that it is there: more often than once
a second, as tasks do.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

import tfexp as tf
from tfexp.distributed import lane_server
from tfexp.distributed.child import Pipes
from tfexp.distributed.hosted import Member

__all__ = ["Pair", "measure"]

Pair = tuple[float, float]
"""Seconds of CPU a step, with and without the checks."""


def measure(rounds: int, steps: int) -> Iterator[Pair]:
    """A pair of `steps` steps each per round; which of the two comes first changes from round to round."""
    with _cluster() as (session, update), open(os.devnull, "wb") as driver:
        members = [Member(job, 0, Pipes(driver)) for job in ("ps", "worker")]
        _cpu(session, update, 10 * steps, members)
        for number in range(rounds):
            found: dict[bool, float] = {}
            for checking in (number % 2 == 0, number % 2 == 1):
                with contextlib.nullcontext() if checking else _no_checks():
                    found[checking] = _cpu(session, update, steps, members if checking else [])
            yield found[True], found[False]


def _cpu(session: tf.Session, update: tf.Operation, steps: int, members: list[Member]) -> float:
    began = time.process_time()
    for member in members:
        member.send("alive")
    for _ in range(steps):
        session.run(update)
    return (time.process_time() - began) / steps


@contextlib.contextmanager
def _cluster() -> Iterator[tuple[tf.Session, tf.Operation]]:
    tasks = tf.test.create_local_cluster(num_workers=1, num_ps=1)
    ((worker,), _) = tasks
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            weight = tf.Variable(1.0)
        with tf.device("/job:worker/task:0"):
            update = tf.train.GradientDescentOptimizer(1e-3).minimize(tf.square(weight - 2.0))
        with tf.Session(worker.target) as session:
            session.run(weight.initializer)
            yield session, update


@contextlib.contextmanager
def _no_checks() -> Iterator[None]:
    """A server does not look whether a request's client has hung up."""
    served = lane_server._Served
    looks = served.abandoned
    served.abandoned = lambda self: False  # type: ignore[method-assign]
    try:
        yield
    finally:
        served.abandoned = looks  # type: ignore[method-assign]
