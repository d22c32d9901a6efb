"""StepStats as a trace for chrome://tracing: a row of boxes per device and thread. Format: Trace Event Format (Chromium).

Source: the files that `tf.train.ProfilerHook` writes, TF 1.15. Times are microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_LABEL = re.compile(r"\S+ = (?P<op>[^(\s]+)\((?P<inputs>.*)\)")


def chrome_trace(step_stats: Any, show_dataflow: bool = True, show_memory: bool = False) -> dict[str, Any]:
    """The trace, ready for JSON. `show_dataflow`: arrows between nodes; `show_memory`: counters of the bytes that live."""
    events: list[dict[str, Any]] = [_process_name(0, "Allocators")]
    made: dict[str, tuple[int, int, int]] = {}  # node -> process, thread, when it ended
    consumed: list[tuple[str, int, int, int]] = []  # node, and where and when it was used
    live: dict[str, list[tuple[int, int]]] = {}  # allocator -> (when, bytes more)
    for number, device in enumerate(step_stats.dev_stats):
        process = number + 1
        events.append(_process_name(process, f"{device.device} Compute"))
        for stats, lane in _lanes(device.node_stats):
            start, took = stats.all_start_micros, max(stats.all_end_rel_micros, 1)
            op, inputs = _parsed(stats)
            arguments = {"name": stats.node_name, "op": op, **{f"input{i}": name for i, name in enumerate(inputs)}}
            events.append(
                {
                    "ph": "X",
                    "cat": "Op",
                    "name": op,
                    "pid": process,
                    "tid": lane,
                    "ts": start,
                    "dur": took,
                    "args": arguments,
                }
            )
            made[stats.node_name] = process, lane, start + took
            consumed += [(name, process, lane, start) for name in inputs]
            for output in stats.output:
                allocation = output.tensor_description.allocation_description
                live.setdefault(allocation.allocator_name, []).append((start, allocation.requested_bytes))
    if show_dataflow:
        events += _arrows(made, consumed)
    if show_memory:
        events += _counters(live)
    return {"traceEvents": events}


def _process_name(process: int, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}}


def _lanes(node_stats: Any) -> Iterator[tuple[Any, int]]:
    """The records by time, each with the first row in which nothing else is running."""
    ends: list[int] = []
    for stats in sorted(node_stats, key=lambda record: record.all_start_micros):
        start = stats.all_start_micros
        lane = next((lane for lane, end in enumerate(ends) if end <= start), len(ends))
        ends[lane : lane + 1] = [start + max(stats.all_end_rel_micros, 1)]
        yield stats, lane


def _parsed(stats: Any) -> tuple[str, list[str]]:
    """The op and the nodes of its inputs, from a label such as `c = Add(a:0, ^b)`."""
    match = _LABEL.match(stats.timeline_label)
    if match is None:
        return stats.node_name, []
    names = [name.strip().removeprefix("^").partition(":")[0] for name in match["inputs"].split(",")]
    return match["op"], [name for name in names if name]


def _arrows(made: dict[str, tuple[int, int, int]], consumed: list[tuple[str, int, int, int]]) -> Iterator[dict[str, Any]]:
    for number, (name, process, lane, start) in enumerate(consumed):
        if name not in made:
            continue
        from_process, from_lane, end = made[name]
        common = {"cat": "DataFlow", "name": name, "id": number}
        yield {"ph": "s", **common, "pid": from_process, "tid": from_lane, "ts": end}
        yield {"ph": "t", **common, "pid": process, "tid": lane, "ts": max(start, end)}


def _counters(live: dict[str, list[tuple[int, int]]]) -> Iterator[dict[str, Any]]:
    """The bytes of all outputs so far. When a value dies is not recorded, so it counts to the end of the step."""
    for allocator, changes in live.items():
        total = 0
        for when, size in sorted(changes):
            total += size
            arguments = {allocator: total}
            yield {"ph": "C", "cat": "Memory", "name": allocator, "pid": 0, "tid": 0, "ts": when, "args": arguments}
