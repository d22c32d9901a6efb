"""The environment variable `TF_CONFIG`, which tells a process what task of which cluster it is. Source: TF 1.15.

    {"cluster": {"chief": ["host0:2222"], "worker": ["host1:2222"], "ps": ["host2:2222"]},
     "task": {"type": "worker", "index": 0}}

A task of type `evaluator` is none of the cluster's: it reads the checkpoints. Old clusters call the chief `master`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.tf_config import parse_tf_config

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"


@dataclass(frozen=True)
class Task:
    """What a process is: alone, with no cluster, unless said otherwise.

    `number` is unique among all tasks (the chief's is 0), None for an evaluator. `master` is the server that sessions
    connect to, "" for this process alone.
    """

    type: str = WORKER
    index: int = 0
    cluster: ClusterSpec = field(default_factory=lambda: ClusterSpec({}))
    number: int | None = 0
    is_chief: bool = True
    master: str = ""
    evaluation_master: str = ""
    num_ps_replicas: int = 0
    num_worker_replicas: int = 1
    model_dir: str | None = None
    service: Mapping[str, Any] | None = None


def read_task(text: str | None, needs_chief: bool = True) -> Task:
    """What the variable says; nothing says: alone. ValueError for what is no JSON object, or no task of its cluster.

    `needs_chief`: otherwise, in a cluster without one, the first worker is the chief.
    """
    config = parse_tf_config(text)
    cluster = ClusterSpec(config.get("cluster") or {})
    given = config.get("task") or {}
    if not isinstance(given, Mapping):
        raise ValueError(f'"task" in TF_CONFIG must be an object with "type" and "index". Given: {given!r}')
    service = config.get("service")
    if service is not None and not isinstance(service, Mapping):
        raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}')
    model_dir = config.get("model_dir")
    if model_dir == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    common: dict[str, Any] = {"model_dir": model_dir, "service": service}
    if cluster.jobs:
        task = _type_and_index(cluster, given, needs_chief)
        return _task_of(cluster, *task, config.get("session_master"), common)
    kind, index = given.get("type", WORKER), int(given.get("index", 0))
    if kind != WORKER or index != 0:
        raise ValueError(f'If "cluster" is not set in TF_CONFIG, task type must be WORKER and its index 0. Given: {given}')
    return Task(master=config.get("session_master", ""), evaluation_master=config.get("eval_session_master", ""), **common)


def _type_and_index(cluster: ClusterSpec, given: Mapping[str, Any], needs_chief: bool) -> tuple[str, int]:
    chief = MASTER if MASTER in cluster.jobs else CHIEF
    if {CHIEF, MASTER} <= set(cluster.jobs):
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    chiefs = cluster.num_tasks(chief) if chief in cluster.jobs else 0
    if chiefs < 1 and (needs_chief or WORKER not in cluster.jobs):
        raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "chief" node.')
    if chiefs > 1:
        raise ValueError('The "cluster" in TF_CONFIG must have only one "chief" node.')
    for key in ("type", "index"):
        if given.get(key) is None:
            raise ValueError(f'If "cluster" is set in TF_CONFIG, task {key} must be set.')
    index = int(given["index"])
    if index < 0:
        raise ValueError("Task index must be non-negative number.")
    return given["type"], index


def _task_of(cluster: ClusterSpec, kind: str, index: int, master: str | None, common: Mapping[str, Any]) -> Task:
    if kind == EVALUATOR:
        return Task(kind, index, number=None, is_chief=False, num_ps_replicas=0, num_worker_replicas=0, **common)
    whose = f"in the cluster_spec:\n{cluster}\nNote that these values may be coming from the TF_CONFIG environment variable."
    if kind not in cluster.jobs:
        raise ValueError(f"{kind} is not a valid task_type {whose}")
    if index not in cluster.task_indices(kind):
        raise ValueError(f"{index} is not a valid task_id for task_type {kind} {whose}")
    count = {job: cluster.num_tasks(job) for job in cluster.jobs if job != EVALUATOR}
    if master is None:
        is_alone = sum(map(cluster.num_tasks, cluster.jobs)) == 1
        master = "" if is_alone else f"grpc://{cluster.task_address(kind, index)}"
    return Task(
        kind,
        index,
        cluster,
        number=_number(count, kind, index),
        is_chief=kind in (CHIEF, MASTER) or (kind == WORKER and index == 0 and not {CHIEF, MASTER} & set(count)),
        master=master,
        num_ps_replicas=count.get(PS, 0),
        num_worker_replicas=sum(count.get(job, 0) for job in (CHIEF, MASTER, WORKER)),
        **common,
    )


def _number(count: Mapping[str, int], kind: str, index: int) -> int:
    """Counted through the jobs: the chief, workers, other jobs by name, parameter servers."""
    order = {CHIEF: 0, MASTER: 0, WORKER: 1, PS: 3}
    before = [job for job in count if (order.get(job, 2), job) < (order.get(kind, 2), kind)]
    return sum(count[job] for job in before) + index


def default_device_filters(kind: str, index: int) -> tuple[str, ...] | None:
    """Whom a task of a cluster talks to: parameter servers, and itself. None where that is not known."""
    if kind in (CHIEF, MASTER):
        return "/job:ps", f"/job:{kind}"
    if kind == WORKER:
        return "/job:ps", f"/job:worker/task:{index}"
    if kind == PS:
        return "/job:ps", "/job:worker", "/job:chief", "/job:master"
    return None
