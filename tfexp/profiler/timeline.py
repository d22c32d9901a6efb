"""Profiles as Chrome traces: rows side by side below the row that they are part of, or a step as it ran."""

from __future__ import annotations

import json
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.profiler.nodes import Nodes
from tfexp.profiler.views import Row
from tfexp.runtime.timeline import Timeline


def scope_trace(root: Row) -> str:
    """A bar for each row that took time, as long as its total; its children are below it, one after another.

    The trace has a process for each depth. It is no record of when things ran.
    """
    events: list[dict[str, Any]] = []
    levels = 0  # processes that are named
    pending = [(root, 0, 0)]
    while pending:
        row, depth, began = pending.pop()
        if depth == levels:
            levels += 1
            name = {"name": f"Scope:{depth}"}
            events.append({"name": "process_name", "ph": "M", "pid": depth, "args": name})
        events.append(
            {
                "name": row.name,
                "ph": "X",
                "cat": "Op",
                "pid": depth,
                "tid": 0,
                "ts": began,
                "dur": row.total.exec_micros,
                "args": {"name": row.name, "op": row.name},
            }
        )
        began += row.own.exec_micros
        for child in row.children:
            if child.total.exec_micros:
                pending.append((child, depth + 1, began))
                began += child.total.exec_micros
    return json.dumps({"traceEvents": events})


def step_trace(nodes: Nodes, step: int) -> tuple[int, str]:
    """The step (for -1 the last that was added) and its nodes' times, as `runtime.timeline` tells them."""
    if not nodes.steps:
        raise InvalidArgumentError(None, None, "A timeline of a graph needs a traced step: run_meta, or add_step.")
    chosen = max(nodes.steps) if step < 0 else step
    return chosen, Timeline(nodes.time_lines[chosen]).generate_chrome_trace_format(show_memory=True)
