"""What it costs a step that tasks look whether those they work for are still there, and say that they are there themselves.

A parameter server and a worker serve in this process, and a client makes steps of the smallest model, where any cost is
largest. Rounds with and without these checks come in turn; what is measured is the CPU time of the process, which other
programs disturb least.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator

import tfexp as tf
from tfexp.distributed import lane_server
from tfexp.distributed.hosted import Member
from tfexp.distributed.hosting import Message

__all__ = ["Pair", "measure"]

Pair = tuple[float, float]
"""Seconds of CPU a step, with and without the checks."""


def measure(rounds: int, steps: int) -> Iterator[Pair]:
    """A pair of `steps` steps each per round; which of the two comes first changes from round to round. A round should last
    for more than a second, which is how often tasks say that they are there."""
    with _cluster() as (session, update):
        for _ in range(2):
            _cpu(session, update, steps)
        for number in range(rounds):
            found: dict[bool, float] = {}
            for checking in (number % 2 == 0, number % 2 == 1):
                with _checks() if checking else _no_checks():
                    found[checking] = _cpu(session, update, steps)
            yield found[True], found[False]


def _cpu(session: tf.Session, update: tf.Operation, steps: int) -> float:
    began = time.process_time()
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


class _Link:
    """A task's way to a driver that only ever tells it to exit."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self._sending = os.open(os.devnull, os.O_WRONLY)

    def send(self, message: Message) -> None:
        os.write(self._sending, json.dumps(message).encode() + b"\n")

    def receive(self) -> Message:
        self.over.wait()
        return {"kind": "exit"}

    def abandon(self) -> None:
        self.over.set()

    def close(self) -> None:
        os.close(self._sending)


@contextlib.contextmanager
def _checks() -> Iterator[None]:
    """As tasks do by themselves; and both say every second that they are there."""
    links = [_Link(), _Link()]
    members = [Member(job, 0, link) for job, link in zip(("ps", "worker"), links, strict=True)]
    threads = [
        threading.Thread(target=work, daemon=True) for member in members for work in (member.say_alive, member.listen)
    ]
    for thread in threads:
        thread.start()
    yield
    for link in links:
        link.over.set()
    for thread in threads:
        thread.join()
    for link in links:
        link.close()


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
