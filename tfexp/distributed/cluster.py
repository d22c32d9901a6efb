"""`ClusterSpec`: which jobs there are, and the address of each of their tasks. Source: `tf.train.ClusterSpec`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto import cluster_pb2

LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]", "")


def same_address(address: str, other: str) -> bool:
    """Whether two addresses are one, by whichever name of this machine."""
    (host, _, port), (other_host, _, other_port) = address.rpartition(":"), other.rpartition(":")
    return port == other_port and (host == other_host or (host in LOOPBACK and other_host in LOOPBACK))


class ClusterSpec:
    """Built from a dict `{job: [address, …]}` or `{job: {task: address}}` (sparse), a ClusterDef or another ClusterSpec.

    TypeError when the argument or a part of it has another type.
    """

    def __init__(self, cluster: Any):
        self._jobs: dict[str, dict[int, str]] = {}
        if isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, cluster_pb2.ClusterDef) or type(cluster).__name__ == "ClusterDef":
            self._jobs = {job.name: dict(job.tasks) for job in cluster.job}
        elif isinstance(cluster, Mapping):
            self._jobs = {job: _tasks(job, tasks) for job, tasks in cluster.items()}
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                f"`ClusterDef` protocol buffer, not {cluster!r}"
            )
        for job, tasks in self._jobs.items():
            if not isinstance(job, str):
                raise TypeError(f"Job name {job!r} must be a string.")
            for task, address in tasks.items():
                if not isinstance(address, str):
                    raise TypeError(f"Task address {address!r} of /job:{job}/task:{task} must be a string.")

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        described = ", ".join(f"{job!r}: {self.as_dict()[job]!r}" for job in self.jobs)
        return f"ClusterSpec({{{described}}})"

    @property
    def jobs(self) -> list[str]:
        """The job names, sorted."""
        return sorted(self._jobs)

    def as_dict(self) -> dict[str, Any]:
        """{job: [address, …]}; {job: {task: address}} for a job whose task numbers have gaps."""
        result: dict[str, Any] = {}
        for job, tasks in self._jobs.items():
            dense = sorted(tasks) == list(range(len(tasks)))
            result[job] = [tasks[i] for i in range(len(tasks))] if dense else dict(sorted(tasks.items()))
        return result

    def as_cluster_def(self) -> cluster_pb2.ClusterDef:
        definition = cluster_pb2.ClusterDef()
        for job in self.jobs:
            entry = definition.job.add(name=job)
            for task, address in sorted(self._jobs[job].items()):
                entry.tasks[task] = address
        return definition

    def _job(self, job_name: str) -> dict[int, str]:
        try:
            return self._jobs[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r} (there are {', '.join(self.jobs)})") from None

    def num_tasks(self, job_name: str) -> int:
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task; ValueError if there is no such job or task."""
        try:
            return self._job(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses by task number, None in the gaps."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)] if tasks else []


def _tasks(job: Any, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, Mapping):
        for task in tasks:
            if not isinstance(task, int):
                raise TypeError(f"Task index {task!r} of job {job!r} must be an integer.")
        return dict(tasks)
    raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")


def task_names(cluster: ClusterSpec) -> dict[str, str]:
    """All tasks of a ClusterSpec by name, with their addresses."""
    names: dict[str, str] = {}
    for job in cluster.jobs:
        for index in cluster.task_indices(job):
            names[f"/job:{job}/replica:0/task:{index}"] = cluster.task_address(job, index)
    return names
