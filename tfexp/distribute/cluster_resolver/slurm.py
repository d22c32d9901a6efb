"""`SlurmClusterResolver`: the cluster is the nodes of a Slurm step. Source: TF 1.15; `man srun`, its output environment."""

from __future__ import annotations

import itertools
import os
import re

from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver, with_layer
from tfexp.distributed.cluster import ClusterSpec

_NODE = re.compile(r"([^,\[\]]+)((?:\[[^\]]*\][^,\[\]]*)*)")
_RANGE = re.compile(r"\[([^\]]*)\]([^,\[\]]*)")
_REPEATED = re.compile(r"(\d+)(?:\(x(\d+)\))?")


def expand_hostlist(hostlist: str) -> list[str]:
    """The nodes that Slurm's short form names: `n[1,08-10],x` is n1, n08, n09, n10 and x."""
    hosts = []
    for prefix, ranges in _NODE.findall(hostlist):
        choices = [[prefix]]
        for inside, after in _RANGE.findall(ranges):
            choices.append([number + after for part in inside.split(",") for number in _numbers(part)])
        hosts += ["".join(parts) for parts in itertools.product(*choices)]
    return hosts


def _numbers(part: str) -> list[str]:
    first, _, last = part.partition("-")
    return [first] if not last else [str(i).zfill(len(first)) for i in range(int(first), int(last) + 1)]


def expand_tasks_per_node(tasks: str) -> list[int]:
    """How many tasks each node has, of Slurm's short form: `2(x3),1` is 2, 2, 2, 1."""
    return [int(count) for count, times in _REPEATED.findall(tasks) for _ in range(int(times or 1))]


class SlurmClusterResolver(ClusterResolver):
    """The tasks of `jobs` ({job: how many}, in this order) are the tasks of the Slurm step, node by node.

    Ports count from `port_base` on each node. `tasks_per_node`: default, what Slurm says of each node. With `auto_set_gpu`,
    `cluster_spec()` sets CUDA_VISIBLE_DEVICES to this task's `gpus_per_task` of its node's `gpus_per_node` devices.
    RuntimeError outside of a step, and for more tasks than it has.
    """

    def __init__(
        self,
        jobs: dict[str, int],
        port_base: int = 8888,
        gpus_per_node: int = 1,
        gpus_per_task: int = 1,
        tasks_per_node: int | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ):
        self._rank = int(_of_step("SLURM_PROCID"))
        self._jobs, self._port_base = dict(jobs), port_base
        self._gpus_per_node, self._gpus_per_task = gpus_per_node, gpus_per_task
        self._tasks_per_node, self._auto_set_gpu = tasks_per_node, auto_set_gpu
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; from now on `task_type` and `task_id` are known."""
        hosts = expand_hostlist(_of_step("SLURM_STEP_NODELIST"))
        if self._tasks_per_node is None:
            counts = expand_tasks_per_node(_of_step("SLURM_STEP_TASKS_PER_NODE"))
        else:
            counts = [self._tasks_per_node] * len(hosts)
        places = [(host, number) for host, count in zip(hosts, counts, strict=False) for number in range(count)]
        wanted = sum(self._jobs.values())
        if wanted > len(places):
            there = dict(zip(hosts, counts, strict=False))
            raise RuntimeError(f"{self._jobs} are {wanted} tasks, and the Slurm step has {len(places)}: {there}")
        cluster: dict[str, list[str]] = {}
        of_rank: list[tuple[str, int]] = []
        waiting = iter(places)
        for job, count in self._jobs.items():
            cluster[job] = [f"{host}:{self._port_base + number}" for host, number in itertools.islice(waiting, count)]
            of_rank += [(job, index) for index in range(count)]
        if self._rank < len(of_rank):
            self.task_type, self.task_id = of_rank[self._rank]
            if self._auto_set_gpu:
                os.environ["CUDA_VISIBLE_DEVICES"] = self._gpus_of(places[self._rank][1])
        return ClusterSpec(cluster)

    def _gpus_of(self, number: int) -> str:
        """The devices of a node's task of that number, as CUDA reads them."""
        first = number * self._gpus_per_task
        return ",".join(map(str, range(first, min(first + self._gpus_per_task, self._gpus_per_node))))

    def get_task_info(self) -> tuple[str | None, int | None]:
        """(task_type, task_id), known once `cluster_spec()` was asked."""
        return self.task_type, self.task_id

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        cluster = self.cluster_spec()
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            return ""
        return with_layer(cluster.task_address(kind, number), rpc_layer or self.rpc_layer)


def _of_step(variable: str) -> str:
    value = os.environ.get(variable)
    if value is None:
        raise RuntimeError(f"{variable} not found in environment. Not running inside a SLURM step?")
    return value
