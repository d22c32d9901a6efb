"""`tf.test.create_local_cluster`: servers of a whole cluster in this process. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.server import Server


def create_local_cluster(
    num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None, ps_config: Any = None
) -> tuple[list[Server], list[Server]]:
    """(workers, parameter servers), all serving: jobs `worker` and `ps` on free ports of this machine."""

    def bound(job: str, count: int, config: Any) -> list[Server]:
        # Each finds its port by binding it: one that was free a moment ago may be another process's by now.
        anywhere = {job: ["localhost:0"] * count}
        return [Server(anywhere, job, index, protocol, config, start=False) for index in range(count)]

    workers, servers = bound("worker", num_workers, worker_config), bound("ps", num_ps, ps_config)
    of_jobs = {"worker": workers, "ps": servers}
    cluster = ClusterSpec({job: [server.address for server in of] for job, of in of_jobs.items()})
    for server in (*workers, *servers):
        server.complete(cluster)
        server.start()
    return workers, servers
