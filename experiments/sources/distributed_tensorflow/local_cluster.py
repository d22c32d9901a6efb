"""A cluster of servers in this process, for the programs beside this file."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import tfexp as tf


@contextlib.contextmanager
def cluster(**jobs: int) -> Iterator[dict[str, str]]:
    """Servers for so many tasks of each job, at ports that nobody listens at: `ps/0` -> its target. Stopped at the end."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(sum(jobs.values()))]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = iter([one.getsockname()[1] for one in sockets])
    spec = tf.train.ClusterSpec({job: [f"127.0.0.1:{next(ports)}" for _ in range(tasks)] for job, tasks in jobs.items()})
    servers = {f"{job}/{task}": tf.train.Server(spec, job, task) for job, tasks in jobs.items() for task in range(tasks)}
    try:
        yield {name: server.target for name, server in servers.items()}
    finally:
        for server in servers.values():
            server.stop()
