"""A step's statistics as a trace that chrome://tracing draws. Source: `tensorflow.python.client.timeline`, TF 1.15."""

from __future__ import annotations

import json
import re
from typing import Any

from tensorboard.compat.proto import step_stats_pb2

# What a node's label looks like: `name = Op(input, input)`.
_LABEL = re.compile(r"(?P<name>.*?) = (?P<op>\w+)\((?P<inputs>.*)\)$")


class Timeline:
    """`Timeline(run_metadata.step_stats).generate_chrome_trace_format()` is the text of a trace file.

    `graph` is not needed, as labels name each node's inputs.
    """

    def __init__(self, step_stats: step_stats_pb2.StepStats, graph: Any = None):
        self._step_stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """JSON: a process for each device, nodes that overlap on separate lines, and arrows from producers to consumers.

        show_memory: with a counter of the bytes that nodes made. op_time: `"schedule"` counts a node's whole time, `"gpu"`
        and `"all"` mean the same here.
        """
        if op_time not in ("schedule", "gpu", "all"):
            raise ValueError(f"op_time must be 'schedule', 'gpu' or 'all', got {op_time!r}")
        events: list[dict[str, Any]] = []
        for pid, device in enumerate(self._step_stats.dev_stats):
            events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": f"{device.device} Compute"}})
            nodes = sorted(device.node_stats, key=lambda node: node.all_start_micros)
            events += _nodes(nodes, pid, show_dataflow)
            if show_memory:
                events += _memory(nodes, pid)
        return json.dumps({"traceEvents": events}, indent=4)


def _nodes(nodes: list[Any], pid: int, show_dataflow: bool) -> list[dict[str, Any]]:
    """One event for each node, on the first line that is free when it begins, and the arrows between them."""
    events: list[dict[str, Any]] = []
    free_at: list[int] = []
    made: dict[str, dict[str, Any]] = {}
    for node in nodes:
        began, took = node.all_start_micros, max(node.all_end_rel_micros, 1)
        tid = next((line for line, end in enumerate(free_at) if end <= began), len(free_at))
        free_at[tid : tid + 1] = [began + took]
        label = _LABEL.match(node.timeline_label)
        inputs = [name for name in label["inputs"].split(", ") if name] if label else []
        op = label["op"] if label else node.timeline_label or node.node_name
        arguments = {"name": node.node_name, "op": op, **{f"input{i}": name for i, name in enumerate(inputs)}}
        event = {"ph": "X", "cat": "Op", "name": op, "pid": pid, "tid": tid, "ts": began, "dur": took, "args": arguments}
        events.append(event)
        for name in inputs if show_dataflow else ():
            source = made.get(name.lstrip("^").partition(":")[0])
            if source is not None:
                arrow = {"cat": "DataFlow", "name": name, "id": len(events), "pid": pid}
                events.append({**arrow, "ph": "s", "tid": source["tid"], "ts": source["ts"] + source["dur"]})
                events.append({**arrow, "ph": "t", "tid": tid, "ts": began})
        made[node.node_name] = event
    return events


def _memory(nodes: list[Any], pid: int) -> list[dict[str, Any]]:
    """How many bytes nodes have made so far."""
    events, total = [], 0
    for node in nodes:
        total += sum(output.tensor_description.allocation_description.requested_bytes for output in node.output)
        at = node.all_start_micros + node.all_end_rel_micros
        events.append({"ph": "C", "cat": "Memory", "name": "bytes made", "pid": pid, "ts": at, "args": {"bytes": total}})
    return events
