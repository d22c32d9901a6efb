"""How long a step takes that was cut into stages: each begins when all that it receives is there, and sends at its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from tfexp.plan.stages import Partition, Stage


def step_seconds(
    partition: Partition,
    client: str,
    seconds: Callable[[str], float],
    size: Callable[[str], int],
    transfer: Callable[[str, str, int], float],
    threads: int,
) -> float:
    """From the request of the client's task to the answer. `seconds`: of a node by name; `size`: bytes of a value by name.

    `transfer(from, to, bytes)`: seconds between tasks. A task has so many `threads`, and runs one stage after another.
    """
    ends: list[float] = []
    free: dict[str, float] = defaultdict(float)
    for number, stage in enumerate(partition.stages):
        arriving: dict[int, int] = defaultdict(int)  # bytes, by the stage that they come from
        arriving.update(dict.fromkeys(stage.after, 0))
        for edge in stage.received:
            arriving[edge.source] += size(edge.tensor)
        start = max(free[stage.task], transfer(client, stage.task, arriving.pop(-1, 0)))
        for source, sent in arriving.items():
            if source < number:
                start = max(start, ends[source] + transfer(partition.stages[source].task, stage.task, sent))
        ends.append(start + _stage_seconds(stage, seconds, threads))
        free[stage.task] = ends[-1]
    answers = [0.0]
    for end, stage in zip(ends, partition.stages, strict=True):
        fetched = sum(size(edge.tensor) for edge in stage.sent if edge.target < 0)
        answers.append(end + transfer(stage.task, client, fetched))
    return max(answers)


def _stage_seconds(stage: Stage, seconds: Callable[[str], float], threads: int) -> float:
    times = [seconds(node.name) for node in stage.graph_def.node]
    return max(sum(times) / threads, max(times, default=0.0))
