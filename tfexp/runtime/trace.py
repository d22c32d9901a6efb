"""What `RunMetadata` tells about a step: when each node ran and what it made, and the graphs before and after planning."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import config_pb2, graph_pb2, step_stats_pb2

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.plan.plan import Plan, Step
from tfexp.plan.segment import SEGMENT

_ALLOCATOR = "cpu"


class Tracer:
    """Collects one record per node while the interpreter runs, in whatever threads.

    `first` is the device that is told as idle where no node ran.
    """

    def __init__(self, first: str) -> None:
        self._first = first
        # perf_counter gives differences; RunMetadata wants the time of day.
        self._offset = time.time() - time.perf_counter()
        self._threads = {threading.get_ident(): 0}  # numbers: the step's own, and the others as they come
        self._by_device: dict[str, list[step_stats_pb2.NodeExecStats]] = {}

    def node(self, step: Step, began: float, ended: float, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        start = int((began + self._offset) * 1e9)
        took = int((ended - began) * 1e9)
        stats = step_stats_pb2.NodeExecStats(
            node_name=step.name,
            all_start_micros=start // 1000,
            all_start_nanos=start,
            scheduled_micros=start // 1000,
            scheduled_nanos=start,
            op_end_rel_micros=took // 1000,
            op_end_rel_nanos=took,
            all_end_rel_micros=took // 1000,
            all_end_rel_nanos=took,
            thread_id=self._threads.setdefault(threading.get_ident(), len(self._threads)),
            timeline_label=_label(step),
        )
        made = 0
        for number, value in enumerate(outputs):
            array = getattr(value, "value", value)
            if isinstance(array, (np.ndarray, np.generic)):
                output = stats.output.add(slot=number)
                description = output.tensor_description
                description.dtype = dtypes.as_dtype(array.dtype).as_datatype_enum
                description.shape.CopyFrom(TensorShape(array.shape).as_proto())
                allocation = description.allocation_description
                allocation.requested_bytes = allocation.allocated_bytes = int(array.nbytes)
                allocation.allocator_name = _ALLOCATOR
                if array is value and not any(_overlap(array, taken) for taken in inputs):
                    made += int(array.nbytes)
        if made:
            # What kernels need besides, for a while, NumPy does not tell.
            stats.memory.add(allocator_name=_ALLOCATOR, total_bytes=made, peak_bytes=made, live_bytes=made)
        self._by_device.setdefault(step.device, []).append(stats)

    def write(self, step_stats: step_stats_pb2.StepStats) -> None:
        """What ran, by device. Where nothing had to run, as the plan has the values already, the first device is idle."""
        for device, nodes in self._by_device.items():
            step_stats.dev_stats.add(device=device).node_stats.extend(nodes)
        if not self._by_device:
            step_stats.dev_stats.add(device=self._first)


def _overlap(array: Any, taken: Any) -> bool:
    """Whether a result may lie in the memory of an input: a view of it, or made in its place."""
    value = getattr(taken, "value", taken)
    return isinstance(array, np.ndarray) and isinstance(value, np.ndarray) and np.may_share_memory(array, value)


def _label(step: Step) -> str:
    text = f"{step.name} = {step.op.name}({', '.join(step.input_names)})"
    # How much was compiled, and what that took.
    return f"{text} [{step.call.function.__name__}]" if step.op is SEGMENT and step.call is not None else text


def record_graphs(run_metadata: config_pb2.RunMetadata, first: Plan, optimised: Plan) -> None:
    """The pruned, placed graph as the one partition, and beside it what the planner made of it."""
    pruned = as_graph_def(first)
    run_metadata.partition_graphs.add().CopyFrom(pruned)
    graphs = run_metadata.function_graphs.add()
    graphs.partition_graphs.add().CopyFrom(pruned)
    graphs.pre_optimization_graph.CopyFrom(pruned)
    graphs.post_optimization_graph.CopyFrom(as_graph_def(optimised))


def as_graph_def(plan: Plan) -> graph_pb2.GraphDef:
    """The steps of a plan as nodes. What the planner folded away is missing; inputs name the values that are read."""
    graph = graph_pb2.GraphDef()
    for step in plan.steps:
        node = graph.node.add()
        if step.origin is not None and step.origin.type == step.op.name:
            step.origin._describe(node)
        else:
            node.name, node.op = step.name, step.op.name
        node.device = step.device
        del node.input[:]
        node.input.extend(name.removesuffix(":0") for name in step.input_names)
        node.input.extend(f"^{name}" for name in step.controls)
    return graph
