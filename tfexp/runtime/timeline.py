"""A step's times as a Chrome trace, which chrome://tracing and Perfetto open. Source: `tensorflow.python.client.timeline`.

Format: the Trace Event Format's complete events (`ph: X`, times in microseconds), one process for each device, flow events
(`s`, `t`) from the node that makes a value to those that take it, and counters (`C`) of the bytes that are alive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tensorboard.compat.proto import step_stats_pb2

Event = dict[str, Any]

# What the tracer writes: `name = Type(input, ^control)`.
_LABEL = re.compile(r"(?P<name>.*?) = (?P<type>[^(]*)\((?P<inputs>.*)\)", re.DOTALL)


class AllocationMaximum(NamedTuple):
    """When most bytes were alive, how many, and of which nodes."""

    timestamp: int
    num_bytes: int
    tensors: frozenset[str]


class ChromeTrace:
    """The events of a trace."""

    def __init__(self, events: list[Event]):
        self._events = events

    def format_to_string(self, pretty: bool = False) -> str:
        """The trace as JSON; `pretty`: a line for each part."""
        trace = {"traceEvents": self._events}
        return json.dumps(trace, indent=4) if pretty else json.dumps(trace, separators=(",", ":"))


class StepStatsAnalysis(NamedTuple):
    """A trace, and the most that was alive at a time, by allocators."""

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class Timeline:
    """`Timeline(run_metadata.step_stats).generate_chrome_trace_format()` is the text of a trace file."""

    def __init__(self, step_stats: step_stats_pb2.StepStats, graph: Any = None):
        """`graph` is accepted; the statistics say enough."""
        self._devices = [(device.device, list(device.node_stats)) for device in step_stats.dev_stats]
        every = [node.all_start_micros for _, nodes in self._devices for node in nodes]
        self._start = min(every, default=0)

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON. `show_dataflow`: arrows along the values; `show_memory`: bytes alive, one counter a device."""
        return self.analyze_step_stats(show_dataflow, show_memory).chrome_trace.format_to_string(pretty=True)

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True) -> StepStatsAnalysis:
        """The trace, and what took most memory."""
        maximums: dict[str, AllocationMaximum] = {}
        events: list[Event] = []
        makers: dict[str, tuple[int, int, int]] = {}  # node -> (process, thread, when it ended)
        takers: list[tuple[str, int, int, int]] = []  # (maker's name, process, thread, when the taker began)
        for process, (device, nodes) in enumerate(self._devices):
            events.append(_event("process_name", "M", process, args={"name": f"{device} Compute"}))
            for thread, node in _lanes(nodes):
                began = node.all_start_micros - self._start
                took = max(1, node.all_end_rel_micros)
                name, kind, inputs = _parts(node)
                args = {"name": name, "op": kind, **{f"input{i}": text for i, text in enumerate(inputs)}}
                events.append(_event(kind, "X", process, thread, began, dur=took, cat="Op", args=args))
                makers[name] = (process, thread, began + took)
                takers.extend((_node_of(text), process, thread, began) for text in inputs)
            allocator = _allocator(nodes)
            for when, alive in _memory(nodes):
                total = sum(alive.values())
                if total > (maximums[allocator].num_bytes if allocator in maximums else 0):
                    maximums[allocator] = AllocationMaximum(when // 1000, total, frozenset(alive))
                if show_memory:
                    events.append(_event("bytes alive", "C", process, 0, when // 1000 - self._start, args={"bytes": total}))
        if show_dataflow:
            events.extend(_flows(makers, takers))
        return StepStatsAnalysis(ChromeTrace(events), maximums)


def _memory(nodes: list[Any]) -> Iterator[tuple[int, dict[str, int]]]:
    """(when, in nanoseconds; bytes by nodes that were made so far and not yet taken for the last time)."""
    last_use: dict[str, int] = {}
    for node in nodes:
        for text in _parts(node)[2]:
            last_use[_node_of(text)] = _ended(node)
    changes: list[tuple[int, int, str]] = []
    for node in nodes:
        made = sum(o.tensor_description.allocation_description.requested_bytes for o in node.output)
        changes += [
            (_ended(node), made, node.node_name),
            (last_use.get(node.node_name, _ended(node)), -made, node.node_name),
        ]
    alive: dict[str, int] = {}
    for when, change, name in sorted(changes, key=lambda c: (c[0], -c[1])):  # what is made is there before it goes
        alive[name] = alive.get(name, 0) + change
        if not alive[name]:
            del alive[name]
        yield when, alive


def _allocator(nodes: list[Any]) -> str:
    """Who gave the memory of a device's nodes."""
    names = (output.tensor_description.allocation_description.allocator_name for node in nodes for output in node.output)
    return next((name for name in names if name), "cpu")


def _ended(node: Any) -> int:
    """When it did, in nanoseconds."""
    return int(node.all_start_nanos + node.all_end_rel_nanos)


def _event(name: str, phase: str, process: int, thread: int = 0, when: int | None = None, **more: Any) -> Event:
    event: Event = {"name": name, "ph": phase, "pid": process, "tid": thread, **more}
    if when is not None:
        event["ts"] = when
    return event


def _lanes(nodes: list[Any]) -> list[tuple[int, Any]]:
    """Each node with the number of a lane, in which nothing else runs at its time.

    There is one for each thread, and more for a thread that ran others while a node of its waited.
    """
    free_at: list[tuple[int, int]] = []  # thread, and when the lane's last node ended
    placed = []
    for node in sorted(nodes, key=lambda n: (n.all_start_micros, n.all_start_nanos)):
        thread, began = node.thread_id, node.all_start_micros
        free = (i for i, (owner, ended) in enumerate(free_at) if owner == thread and ended <= began)
        lane = next(free, len(free_at))
        if lane == len(free_at):
            free_at.append((thread, 0))
        free_at[lane] = thread, began + max(1, node.all_end_rel_micros)
        placed.append((lane, node))
    return placed


def _parts(node: Any) -> tuple[str, str, list[str]]:
    """Name, type and inputs of a node; the type is `unknown` where the label does not tell."""
    match = _LABEL.fullmatch(node.timeline_label)
    if match is None:
        return node.node_name, "unknown", []
    inputs = [text.strip() for text in match["inputs"].split(",") if text.strip()]
    return match["name"], match["type"], inputs


def _node_of(text: str) -> str:
    return text.removeprefix("^").partition(":")[0]


def _flows(makers: dict[str, tuple[int, int, int]], takers: list[tuple[str, int, int, int]]) -> list[Event]:
    events = []
    number = 0
    for maker, process, thread, began in takers:
        if maker in makers:
            from_process, from_thread, ended = makers[maker]
            common: Event = {"cat": "DataFlow", "id": number}
            events.append(_event(maker, "s", from_process, from_thread, min(ended, began), **common))
            events.append(_event(maker, "t", process, thread, began, **common))
            number += 1
    return events
