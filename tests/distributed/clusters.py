"""Clusters of servers in this process, on loopback, for tests."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping

import tfexp as tf


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at, and that no other process comes upon by chance for as long as this one lives.

    They stay bound: who says that an address may be had twice, as gRPC does, can listen there all the same.
    """
    ports = []
    for _ in range(count):
        reserved = socket.socket()
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        ports.append(reserved.getsockname()[1])
        reserved.detach()
    return ports


def cluster_spec(**jobs: int) -> tf.train.ClusterSpec:
    """A spec with so many tasks of each job."""
    ports = iter(free_ports(sum(jobs.values())))
    return tf.train.ClusterSpec({job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()})


def leave_nothing(servers: Mapping[str, tf.train.Server]) -> None:
    """Nothing is left of steps in the servers. Peers are told of a failed step's end without anybody waiting for it."""

    def left() -> list[object]:
        tasks = [server._task for server in servers.values()]
        return [x for t in tasks for x in (t._worker._steps, t._states, t._nested, t._remote) if x]

    until = time.monotonic() + 10
    while left() and time.monotonic() < until:
        threading.Event().wait(0.01)
    assert not left()


@contextlib.contextmanager
def running(**jobs: int) -> Iterator[dict[str, tf.train.Server]]:
    """The servers of such a cluster by `job:task`, stopped at the end."""
    spec = cluster_spec(**jobs)
    servers: dict[str, tf.train.Server] = {}
    try:
        for job in spec.jobs:
            for task in spec.task_indices(job):
                servers[f"{job}:{task}"] = tf.train.Server(spec, job, task)
        yield servers
    finally:
        for server in servers.values():
            server.stop()
