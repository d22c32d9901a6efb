"""The tasks of a cluster that train. Source: TF 1.15, `multi_worker_util`."""

from __future__ import annotations

from tfexp.distributed.cluster import ClusterSpec

WORKER_JOBS = ("chief", "master", "worker")


def worker_tasks(cluster: ClusterSpec) -> list[tuple[str, int]]:
    """(job, number) of each, in the order of their ranks."""
    return [(job, number) for job in WORKER_JOBS if job in cluster.jobs for number in cluster.task_indices(job)]
