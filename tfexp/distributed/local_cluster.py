"""`tf.test.create_local_cluster`: servers of a whole cluster in this process. Source: TF 1.15."""

from __future__ import annotations

import socket
from typing import Any

from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.server import Server


def pick_unused_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port


def create_local_cluster(
    num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None, ps_config: Any = None
) -> tuple[list[Server], list[Server]]:
    """(workers, parameter servers), all serving: jobs `worker` and `ps` on ports of this machine that were free."""
    ports = [pick_unused_port() for _ in range(num_workers + num_ps)]
    addresses = [f"localhost:{port}" for port in ports]
    cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})
    workers = [
        Server(cluster, job_name="worker", task_index=i, protocol=protocol, config=worker_config) for i in range(num_workers)
    ]
    servers = [Server(cluster, job_name="ps", task_index=i, protocol=protocol, config=ps_config) for i in range(num_ps)]
    return workers, servers
