"""What steps cost when they ran: the times of nodes, the sizes of values, and how long data takes from task to task.

It is read from `StepStats`, the form in which traces come and in which a run's folder keeps them, so that one run's
measurements serve the next. Of several times of one node the least counts: everything else is somebody else's doing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tfexp.core.device import DeviceName

# Until it is measured: the seconds of a request to another task on the way and back, and of each byte.
_REQUEST = 400e-6
_BYTE = 1 / 1e9
# Bytes from which the time of a transfer says something about its speed.
_LARGE = 1 << 18

# A node that read what another one made: the two names, and the bytes.
Edges = Iterable[tuple[str, str, int]]


class Measured:
    """Costs, as they become known step by step."""

    def __init__(self) -> None:
        self._seconds: dict[str, dict[str, float]] = defaultdict(dict)  # by node, by type of device
        self._sizes: dict[str, int] = {}  # by value (`node:0`)
        self._latency: dict[tuple[str, str], float] = {}
        self._per_byte: dict[tuple[str, str], float] = {}

    @property
    def any(self) -> bool:
        """Whether anything is known."""
        return bool(self._seconds)

    def seconds(self, node: str, kind: str) -> float | None:
        """Of a node on a device of this type; on another type's, if only that was seen; None for one that never ran."""
        known = self._seconds.get(node)
        return None if known is None else known.get(kind, min(known.values()))

    def size(self, value: str) -> int | None:
        """The bytes of a value (`node:0`), if it was seen."""
        return self._sizes.get(value)

    def transfer(self, source: str, target: str, size: int) -> float:
        """Seconds from the end of a node on one device to the beginning of one on another that needs its value.

        The mean of both directions where both are known: so clocks that do not agree do no harm.
        """
        a, b = _task(source), _task(target)
        if a == b:
            return 0.0
        latency = _mean((self._latency.get((a, b)), self._latency.get((b, a))), _REQUEST)
        per_byte = _mean((self._per_byte.get((a, b)), self._per_byte.get((b, a))), _BYTE)
        return latency + per_byte * size

    def learn(self, step_stats: Any, edges: Edges = ()) -> None:
        """Take in a step's statistics; `edges` say what to look at for the times between tasks."""
        spans: dict[str, tuple[str, float, float]] = {}
        for device in step_stats.dev_stats:
            kind = DeviceName.parse(device.device).device_type or "CPU"
            for stats in device.node_stats:
                took = (stats.all_end_rel_nanos or 1000 * stats.all_end_rel_micros) / 1e9
                began = (stats.all_start_nanos or 1000 * stats.all_start_micros) / 1e9
                known = self._seconds[stats.node_name]
                known[kind] = min(took, known.get(kind, math.inf))
                spans[stats.node_name] = (device.device, began, began + took)
                for output in stats.output:
                    size = output.tensor_description.allocation_description.requested_bytes
                    self._sizes[f"{stats.node_name}:{output.slot}"] = size
        self._learn_transfers(spans, edges)

    def _learn_transfers(self, spans: Mapping[str, tuple[str, float, float]], edges: Edges) -> None:
        """What a node waited for is the last of the values that it needs; only that one's way was its own."""
        last: dict[str, tuple[float, str, int]] = {}
        for maker, taker, size in edges:
            if maker in spans and taker in spans:
                device, _, ended = spans[maker]
                last[taker] = max(last.get(taker, (-math.inf, "", 0)), (ended, device, size))
        gaps: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
        for taker, (ended, source, size) in last.items():
            pair = _task(source), _task(spans[taker][0])
            if pair[0] != pair[1]:
                gaps[pair].append((size, spans[taker][1] - ended))
        for pair, found in gaps.items():
            small = [gap for size, gap in found if size < _LARGE]
            if small:
                self._latency[pair] = min(*small, self._latency.get(pair, math.inf))
            latency = self._latency.get(pair, _REQUEST)
            rates = [max(0.0, gap - latency) / size for size, gap in found if size >= _LARGE]
            if rates:
                self._per_byte[pair] = min(*rates, self._per_byte.get(pair, math.inf))


def makespan(step_stats: Any) -> float:
    """Seconds from the beginning of a step's first node to the end of its last, by the tasks' clocks."""
    starts, ends = [], []
    for device in step_stats.dev_stats:
        for stats in device.node_stats:
            began = stats.all_start_nanos or 1000 * stats.all_start_micros
            starts.append(began)
            ends.append(began + (stats.all_end_rel_nanos or 1000 * stats.all_end_rel_micros))
    return (max(ends) - min(starts)) / 1e9 if starts else 0.0


def _task(device: str) -> str:
    name = DeviceName.parse(device)
    return f"/job:{name.job}/task:{name.task or 0}"


def _mean(known: Iterable[float | None], otherwise: float) -> float:
    values = [value for value in known if value is not None]
    return max(0.0, math.fsum(values) / len(values)) if values else otherwise
