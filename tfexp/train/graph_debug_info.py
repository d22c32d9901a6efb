"""Where the nodes of a graph were made, as a GraphDebugInfo. Source: TF 1.15's files `*.debug`."""

from __future__ import annotations

from collections.abc import Iterable

from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo

from tfexp.graph.operation import Operation


def graph_debug_info(operations: Iterable[Operation]) -> GraphDebugInfo:
    """The files and lines of the calls that made each operation, innermost first, by the operation's name."""
    info = GraphDebugInfo()
    numbers: dict[str, int] = {}
    for op in operations:
        trace = info.traces[op.name]
        for file, line, *_ in reversed(op.traceback):
            trace.file_line_cols.add(file_index=numbers.setdefault(file, len(numbers)), line=line)
    info.files.extend(numbers)
    return info
