"""What stands out in traced steps: a few checkers, each with reports. `tf.profiler.advise`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.formats.protos.profiler import AdviceProto
from tfexp.profiler import views
from tfexp.profiler.display import shown_list, shown_tree
from tfexp.profiler.measures import Measures
from tfexp.profiler.nodes import Nodes
from tfexp.profiler.options import Options, ProfileOptionBuilder
from tfexp.profiler.report import as_time

# Of what took less, nothing is said.
_LEAST_MICROS = 100
_MOST_EXPENSIVE_TYPES = 3


def advise(nodes: Nodes, checkers: Mapping[str, Any] | None) -> Any:
    """Ask the checkers (all for None), print what they report, and return it as an AdviceProto.

    InvalidArgumentError for a checker that is none.
    """
    chosen = list(CHECKERS) if checkers is None else list(checkers)
    for name in chosen:
        if name not in CHECKERS:
            raise InvalidArgumentError(None, None, f"{name!r} is no checker of a profile: these are {', '.join(CHECKERS)}.")
    advice = AdviceProto()
    for name in chosen:
        reports = list(CHECKERS[name](nodes)) if nodes.steps else []
        advice.checkers[name].reports.extend(reports)
        sys.stdout.write("\n".join(["", f"{name}:", *reports]) + "\n")
    return advice


def _by_time() -> ProfileOptionBuilder:
    return ProfileOptionBuilder().order_by("micros").with_max_depth(10000)


def _spent(measures: Measures) -> str:
    cpu, accelerator = as_time(measures.cpu_exec_micros), as_time(measures.accelerator_exec_micros)
    return f"cpu: {cpu}, accelerator: {accelerator}, total: {as_time(measures.exec_micros)}"


def _expensive_operations(nodes: Nodes) -> Iterable[str]:
    """Which op types took longest; which scopes; which line of the program."""
    options = Options.of(_by_time().build())
    types = shown_list(views.by_type(nodes, options), options)
    whole = types.total.exec_micros
    if not whole:
        return
    yield "\n".join(
        f"top {rank} operation type: {row.name}, {_spent(row.own)} ({100 * row.own.exec_micros / whole:.2f}%)"
        for rank, row in enumerate(types.children[:_MOST_EXPENSIVE_TYPES], start=1)
        if row.own.exec_micros
    )
    options = Options.of(_by_time().with_min_execution_time(_LEAST_MICROS).build())
    scopes = shown_tree(views.by_scope(nodes, options), options).children
    yield "\n".join(f"top {rank} graph node: {row.name}, {_spent(row.total)}" for rank, row in enumerate(scopes, start=1))
    lines = shown_tree(views.by_line(nodes, options), options).children
    yield "\n".join(f"{row.name}, {_spent(row.total)}" for row in lines[:1])


def _slow_layout(nodes: Nodes) -> Iterable[str]:
    """Convolutions and the like whose channels come last, on a GPU."""
    options = Options.of(_by_time().with_accounted_types([".*gpu.*"]).build())
    if any(node.channels_last for node in views.accounted(nodes, options)):
        yield "Found operation using NHWC data_format on GPU. Maybe NCHW is faster."


def _utilization(nodes: Nodes) -> Iterable[str]:
    """Which part of the time between their first op and their last accelerators were busy."""
    for device, share in sorted(nodes.busy().items()):
        yield f"device: {device} utilization: {share:.2f}"


CHECKERS: dict[str, Callable[[Nodes], Iterable[str]]] = {
    "ExpensiveOperationChecker": _expensive_operations,
    "OperationChecker": _slow_layout,
    "AcceleratorUtilizationChecker": _utilization,
}
