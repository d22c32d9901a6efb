"""`tf.train.replica_device_setter`: variables to parameter servers, everything else to the worker. Source: TF 1.15."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tfexp.core.device import DeviceName
from tfexp.core.dtypes import as_dtype
from tfexp.core.shape import TensorShape
from tfexp.distributed.cluster import ClusterSpec

_log = logging.getLogger("tensorflow")

STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
)

Strategy = Callable[[Any], int]


class RoundRobinStrategy:
    """The next task for every op."""

    def __init__(self, num_tasks: int):
        self._num_tasks, self._next_task = num_tasks, 0

    def __call__(self, op: Any) -> int:
        task = self._next_task
        self._next_task = (self._next_task + 1) % self._num_tasks
        return task


class GreedyLoadBalancingStrategy:
    """The task with the least load so far; an op adds `load_fn(op)`. Source: `tf.contrib.training`, TF 1.15."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]):
        self._load_fn = load_fn
        self._loads = [0.0] * num_tasks

    def __call__(self, op: Any) -> int:
        task = min(range(len(self._loads)), key=self._loads.__getitem__)
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> float:
    """The bytes of a variable's value. ValueError for an op of another type or an unknown shape."""
    node_def = op.node_def
    if node_def.op not in STANDARD_PS_OPS:
        raise ValueError(f"byte_size_load_fn only supports variables, not {node_def.op}")
    elements = TensorShape(node_def.attr["shape"].shape).num_elements()
    if elements is None:
        raise ValueError(f"byte_size_load_fn needs a fully defined shape: {op.name}")
    return float(as_dtype(node_def.attr["dtype"].type).size * elements)


class _ReplicaDeviceChooser:
    def __init__(
        self,
        ps_device: str | None,
        worker_device: str | None,
        merge_devices: bool,
        ps_ops: Sequence[str],
        ps_strategy: Strategy,
    ):
        self._merge_devices = merge_devices
        self._ps_device = DeviceName.parse(ps_device or "")
        self._worker_device = DeviceName.parse(worker_device or "")
        self._ps_ops, self._ps_strategy = frozenset(ps_ops), ps_strategy

    def device_function(self, op: Any) -> str:
        """The device of `op`, a node or its NodeDef: what it asks for, completed by its server's or its worker's."""
        if not self._merge_devices and op.device:
            device: str = op.device
            return device
        current = DeviceName.parse(op.device or "")
        op_type = op.op if isinstance(op, NodeDef) else op.type
        if op_type not in self._ps_ops or self._ps_device == DeviceName():
            return str(current.merged_over(self._worker_device))
        chosen = self._ps_device
        if chosen.job is not None and current.job in (None, chosen.job):
            chosen = DeviceName(task=self._ps_strategy(op)).merged_over(chosen)
        return str(current.merged_over(chosen))


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Strategy | None = None,
) -> Callable[[Any], str] | None:
    """A device function for `tf.device`, or None when there are no parameter servers.

    `cluster` (a ClusterSpec, ClusterDef or dict) says how many there are if it is given, else `ps_tasks`. `ps_strategy`
    chooses the task of each op in `ps_ops` (round robin if None). TypeError for a cluster or strategy of another type.
    """
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        servers = jobs.get(DeviceName.parse(ps_device).job or "")
        if not servers:
            return None
        ps_tasks = len(servers)
    if ps_tasks == 0:
        return None
    if not merge_devices:
        _log.warning("DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter")
    strategy = RoundRobinStrategy(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")
    return _ReplicaDeviceChooser(
        ps_device, worker_device, merge_devices, STANDARD_PS_OPS if ps_ops is None else ps_ops, strategy
    ).device_function
