"""`tensorflow.python.distribute.multi_worker_util`: places of tasks in a cluster. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.cluster_pb2 import ClusterDef

import tfexp as tf
from tfexp.train.worker_context import get_current_worker_context

_TYPES = ("chief", "worker", "evaluator", "ps")


def normalize_cluster_spec(cluster_spec: Any) -> Any:
    """A `tf.train.ClusterSpec` of a dictionary or a ClusterDef; ValueError for anything else."""
    if isinstance(cluster_spec, (dict, ClusterDef)):
        return tf.train.ClusterSpec(cluster_spec)
    if not isinstance(cluster_spec, tf.train.ClusterSpec):
        raise ValueError("`cluster_spec' should be dict or a `tf.train.ClusterSpec` or a `tf.train.ClusterDef` object")
    return cluster_spec


def jobs_of(cluster_spec: Any, task_type: str | None, task_id: int | None) -> dict[str, Any]:
    """The cluster's jobs; ValueError where it has no such task, or several chiefs or evaluators."""
    if cluster_spec is None or task_type is None or task_id is None:
        raise ValueError("None of `cluster_spec`, `task_type`, and `task_id` should be `None`.")
    jobs: dict[str, Any] = normalize_cluster_spec(cluster_spec).as_dict()
    if task_type not in _TYPES:
        raise ValueError(
            f'Unrecognized task_type: {task_type!r}, valid task types are: "chief", "worker", "evaluator" and "ps".'
        )
    if task_type not in jobs:
        raise ValueError(f"`task_type` {task_type!r} not found in cluster_spec.")
    for alone in ("chief", "evaluator"):
        if len(jobs.get(alone, [])) > 1:
            raise ValueError(f"There must be at most one '{alone}' job.")
    if task_id >= len(jobs[task_type]):
        raise ValueError(f"The `task_id` {task_id} exceeds the maximum id of {task_type}.")
    return jobs


def is_chief(cluster_spec: Any = None, task_type: str | None = None, task_id: int | None = None) -> bool:
    """Whether the task is the chief, the one called so or else the first worker. Within a worker's own code, of that one."""
    if has_worker_context():
        return bool(get_current_worker_context().is_chief)
    jobs = jobs_of(cluster_spec, task_type, task_id)
    return task_type == "chief" or ("chief" not in jobs and task_type == "worker" and task_id == 0)


def collective_leader(cluster_spec: Any, task_type: str | None, task_id: int | None) -> str:
    """The device name of the task that leads collective ops; "" for one task alone, and for an evaluator."""
    if not normalize_cluster_spec(cluster_spec).as_dict():
        return ""
    jobs = jobs_of(cluster_spec, task_type, task_id)
    if task_type == "evaluator":
        return ""
    return f"/job:{'chief' if 'chief' in jobs else 'worker'}/replica:0/task:0"


def worker_count(cluster_spec: Any, task_type: str) -> int:
    """How many tasks train, or evaluate. ValueError for a parameter server."""
    jobs = jobs_of(cluster_spec, task_type, 0)
    if task_type not in ("chief", "worker", "evaluator"):
        raise ValueError(f"Unexpected `task_type` {task_type!r}")
    return 1 if task_type == "evaluator" else len(jobs.get("chief", [])) + len(jobs.get("worker", []))


def id_in_cluster(cluster_spec: Any, task_type: str, task_id: int) -> int:
    """The task's number among those that train, the chief first. ValueError for a parameter server."""
    jobs = jobs_of(cluster_spec, task_type, task_id)
    if task_type == "ps":
        raise ValueError("There is no id for task_type 'ps'")
    return task_id + (len(jobs.get("chief", [])) if task_type == "worker" else 0)


def has_worker_context() -> bool:
    return get_current_worker_context() is not None


def should_save_checkpoint() -> bool:
    """Whether the worker, in whose own code this is, saves."""
    return bool(get_current_worker_context().should_checkpoint)


def should_load_checkpoint() -> bool:
    """Whether the worker, in whose own code this is, loads what was saved."""
    return bool(get_current_worker_context().experimental_should_init)
