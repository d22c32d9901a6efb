"""A step's times as a Chrome trace, which chrome://tracing and Perfetto open. Source: `tensorflow.python.client.timeline`.

Format: the Trace Event Format's complete events (`ph: X`, times in microseconds), one process for each device, flow events
(`s`, `t`) from the node that makes a value to those that take it, and counters (`C`) of the bytes that are alive.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tensorboard.compat.proto import step_stats_pb2

Event = dict[str, Any]

# What the tracer writes: `name = Type(input, ^control)`.
_LABEL = re.compile(r"(?P<name>.*?) = (?P<type>[^(]*)\((?P<inputs>.*)\)", re.DOTALL)


class Timeline:
    """`Timeline(run_metadata.step_stats).generate_chrome_trace_format()` is the text of a trace file."""

    def __init__(self, step_stats: step_stats_pb2.StepStats, graph: Any = None):
        """`graph` is accepted; the statistics say enough."""
        self._devices = [(device.device, list(device.node_stats)) for device in step_stats.dev_stats]
        every = [node.all_start_micros for _, nodes in self._devices for node in nodes]
        self._start = min(every, default=0)

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON. `show_dataflow`: arrows along the values; `show_memory`: bytes alive, one counter a device."""
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
            if show_memory:
                events.extend(self._memory(process, nodes))
        if show_dataflow:
            events.extend(_flows(makers, takers))
        return json.dumps({"traceEvents": events}, indent=4)

    def _memory(self, process: int, nodes: list[Any]) -> list[Event]:
        """Bytes made so far and not yet taken for the last time."""
        last_use: dict[str, int] = {}
        for node in nodes:
            for text in _parts(node)[2]:
                last_use[_node_of(text)] = _ended(node)
        changes: list[tuple[int, int]] = []
        for node in nodes:
            made = sum(o.tensor_description.allocation_description.requested_bytes for o in node.output)
            changes += [(_ended(node), made), (last_use.get(node.node_name, _ended(node)), -made)]
        alive, counters = 0, []
        for when, change in sorted(changes, key=lambda c: (c[0], -c[1])):  # what is made is there before it goes
            alive += change
            counters.append(_event("bytes alive", "C", process, 0, when // 1000 - self._start, args={"bytes": alive}))
        return counters


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
