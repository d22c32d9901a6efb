"""`tf.test.create_local_cluster`: servers of a whole cluster in this process. Source: TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.server import Server

ServersOfJobs = dict[str, list[Server]]


def create_local_cluster(
    num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None, ps_config: Any = None
) -> tuple[list[Server], list[Server]]:
    """(workers, parameter servers), all serving: jobs `worker` and `ps` on free ports of this machine."""

    servers = serve_jobs({"worker": num_workers, "ps": num_ps}, protocol, {"worker": worker_config, "ps": ps_config})
    return servers["worker"], servers["ps"]


def serve_jobs(sizes: Mapping[str, int], protocol: str = "grpc", configs: Mapping[str, Any] | None = None) -> ServersOfJobs:
    """The servers of a cluster with so many tasks of each job, all serving on free ports of this machine."""

    def bound(job: str, count: int) -> list[Server]:
        # Each finds its port by binding it: one that was free a moment ago may be another process's by now.
        anywhere, config = {job: ["localhost:0"] * count}, (configs or {}).get(job)
        return [Server(anywhere, job, index, protocol, config, start=False) for index in range(count)]

    of_jobs = {job: bound(job, count) for job, count in sizes.items()}
    cluster = ClusterSpec({job: [server.address for server in of] for job, of in of_jobs.items()})
    for server in itertools.chain.from_iterable(of_jobs.values()):
        server.complete(cluster)
        server.start()
    return of_jobs
